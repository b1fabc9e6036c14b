"""Filters in shards: what the tool has acknowledged is found, and what was never added is not, at the stated rate."""

import re

from models import RATES, number_of
from tool import Tool
from worker import most_false_positives

CAPACITY = 40_000
LOOKUPS = 2000


class Spread:
    """A filter in shards, and the keys that the tool has acknowledged."""

    def __init__(self, run, nodes, name, kind):
        draw = run.random
        self.run, self.nodes, self.name, self.tool = run, nodes, name, Tool(run)
        self.scheme = {"strings": "redis+cluster", "module": "redis+module+cluster"}[kind]
        self.rate = draw.choice(RATES)
        self.keys, self.made = {}, 0
        if kind == "strings":  # they are not filled beyond what they are made for; those of a module grow
            flags = ["-n", CAPACITY, "--layout", draw.choice(("blocked", "blocked2", "standard")),
                     "--seed", draw.randrange(2**32)]
        else:
            flags = ["-n", draw.choice((10_000, CAPACITY))]
        shards = draw.choice(("", "", "&shards=1", "&shards=3", "&shards=13"))
        self.tool.do("create", "-q", self.address() + shards, *flags, "-p", self.rate)

    def address(self):
        """That of any node will do."""
        return f"{self.scheme}://127.0.0.1:{self.run.random.choice(self.nodes.servers).port}?key={self.name}"

    def lines(self):
        size = self.run.random.choice((1, 20, 300, 3000))
        first, self.made = self.made, min(self.made + size, CAPACITY)
        old = self.run.random.choices(list(self.keys), k=1 + size // 10) if self.keys else []
        return [f"{self.name}:{i}" for i in range(first, self.made)] + old

    def attempt(self, verb, *words, lines, allowed):
        """What the tool printed, and whether it was done."""
        code, out, said = self.tool.attempt(verb, *words, self.address(), lines=lines)
        if code in (0, 1):
            return out, True
        self.run.step(verb, self.name, said.strip())
        self.run.expect(code == 2 and allowed(said), f"{verb} {self.name} returned {code}: {said.strip()}")
        return (out if verb == "check" else said), False

    def add(self, lines, allowed):
        said, done = self.attempt("add", lines=lines, allowed=allowed)
        if not done:  # the error says how many of the first lines are safe
            first = re.search(r"the first ([\d,]+) lines were added", said)
            lines = lines[:int(first[1].replace(",", ""))] if first else []
        self.keys.update(dict.fromkeys(lines))
        return done

    def check(self, keys, allowed):
        self.run.count("comparisons", len(keys))
        out, done = self.attempt("check", "-v", lines=keys, allowed=allowed)
        lost = out.split("\n")[:-1]
        self.run.expect(not lost, lambda: f"{self.name} lost {len(lost)} of {len(keys)} keys: {lost[:5]}")
        return done

    def compare(self, allowed):
        """The stated rate is that of all shards together, and grown filters stay below it.

        With the fewest keys, 10,000 in 13 shards, the fill of one shard deviates by 1.2 % in one standard deviation,
        its rate, the eighth power or so, by 9 %, and the mean of 13 by 3 %: less than most_false_positives() makes
        room for, so its bound holds, with one failure by chance in 1e15 comparisons. A run of a day has less than a
        million.
        """
        absent = [f"absent {self.made} {i}" for i in range(LOOKUPS)]
        out, done = self.attempt("check", "-c", lines=absent, allowed=allowed)
        most = most_false_positives(LOOKUPS, number_of(self.rate))
        self.run.expect(not done or int(out) < most, lambda: f"{self.name}: {out.strip()} of {LOOKUPS} absent keys are "
                        f"found at {self.rate}")
        return done
