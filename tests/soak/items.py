"""What filters on a server must hold: exact multisets of the acknowledged items, for every kind of the module.

A command without a reply may have been executed or not. So a model has the least that must be there: an addition
without a reply adds nothing, a removal without one counts as done. A window counts both, since each may have pushed an
item out.
"""

import collections

from server import ReplyError
from worker import most_false_positives

ITEMS_OF_WINDOW = 1500
# The words of BF.RESERVE after rate and capacity. No filter of one kind takes more items than it is made for, except
# those that grow.
KINDS = {
    "plain": ("NONSCALING", "LAYOUT", "native"),
    "keyed": ("NONSCALING", "LAYOUT", "native", "KEYED"),
    "scalable": ("EXPANSION", 2, "LAYOUT", "native"),
    "redisbloom": ("EXPANSION", 2, "LAYOUT", "redisbloom"),
    "counting": ("COUNTING", "COUNTERBITS", 8),
    "window": ("WINDOW", ITEMS_OF_WINDOW, "ITEMS"),
    "hours": ("WINDOW", 360_000, "SECONDS"),
    "cuckoo": (),
}
# Each slice of a window of time has room for its share of the capacity, and a round ends within one slice.
SLICES = 9
CAPACITY = {"scalable": 300, "redisbloom": 300, "window": ITEMS_OF_WINDOW, "cuckoo": 4000}


class Items:
    def __init__(self, run, key, kind):
        self.run, self.key, self.kind = run, key, kind
        self.prefix = "CF" if kind == "cuckoo" else "BF"
        self.rate = run.random.choice(("0.01", "0.001", "0.00001")) if kind != "cuckoo" else "0.03"
        self.capacity = CAPACITY.get(kind, 20_000)
        self.least = collections.Counter()
        self.order = []
        self.made = 0

    def reserve(self):
        if self.kind == "cuckoo":
            return ["CF.RESERVE", self.key, self.capacity]
        capacity = self.capacity * (SLICES if self.kind == "hours" else 1)
        return ["BF.RESERVE", self.key, self.rate, capacity, *KINDS[self.kind]]

    @property
    def counts(self):
        return self.kind in ("counting", "cuckoo")

    def there(self):
        if self.kind == "window":
            return list(dict.fromkeys(item for item in self.order[-ITEMS_OF_WINDOW:] if item is not None))
        return [item for item, times in self.least.items() if times > 0]

    # ---- commands: (words, what a reply means) -------------------------------------------------

    def command(self):
        """The words of a random change, and the items that it adds or removes."""
        draw, there = self.run.random, self.there()
        if self.counts and there and (draw.random() < 0.4 or len(there) > self.capacity // 2):
            items = draw.sample(there, min(len(there), draw.choice((1, 30, 300))))
            if self.kind == "cuckoo":
                return "remove", ["CF.DEL", self.key, items[0]], items[:1]
            return "remove", ["BF.MDEL", self.key, *items], items
        items = []
        for _ in range(draw.choice((1, 1, 20, 300))):
            if there and draw.random() < 0.2:
                items.append(draw.choice(there))
            elif self.kind in CAPACITY or self.made < self.capacity:
                self.made += 1
                items.append(f"{self.key}:{self.made}")
        if not items:
            items = [draw.choice(there)] if there else [f"{self.key}:1"]
        if self.kind == "cuckoo":
            items = list(dict.fromkeys(items))
            return "add", ["CF.INSERT", self.key, "ITEMS", *items], items
        return "add", ["BF.MADD", self.key, *items], items

    def done(self, what, items, reply):
        """Applies the reply, which must fit the items that were there."""
        for item, said in zip(items, reply if isinstance(reply, list) else [reply], strict=True):
            self.run.count("comparisons")
            known = self.least[item] > 0 if self.kind != "window" else None
            if isinstance(said, ReplyError) or said == -1:
                self.run.expect(self.kind in ("plain", "keyed", "cuckoo") and what == "add", f"{what} {item}: {said}")
            elif what == "remove":
                self.run.expect(said == 1, f"{self.key}: {item} was there, and DEL said {said}")
                self.least[item] -= 1
            else:
                self.run.expect(not (known and said == 1 and self.kind != "cuckoo"),
                                f"{self.key} ({self.kind}): {item} was there, and ADD says it is new")
                self.least[item] += 1
                self.order.append(item)

    def undone(self, what, items):
        """Called if no reply came."""
        if what == "remove":
            self.least.subtract(items)
        else:
            self.order += [None] * len(items)

    def cleared(self):
        self.least.clear()
        self.order.clear()

    # ---- comparing -----------------------------------------------------------------------------

    def check(self, server):
        there = self.there()
        for start in range(0, len(there), 5000):
            part = there[start:start + 5000]
            found = server.ask(f"{self.prefix}.MEXISTS", self.key, *part)
            self.run.count("comparisons", len(part))
            missing = [item for item, yes in zip(part, found, strict=True) if not yes]
            self.run.expect(not missing, lambda: f"{self.key} ({self.kind}) lost {len(missing)}: {missing[:5]}")
        if self.counts:
            for item in self.run.random.sample(there, min(len(there), 20)):
                said = server.ask(f"{self.prefix}.COUNT", self.key, item)
                self.run.expect(said is None or said >= self.least[item],
                                f"{self.key}: {item} is there {self.least[item]} times, COUNT says {said}")
        if self.kind != "cuckoo":
            found = sum(server.ask("BF.MEXISTS", self.key, *(f"absent {i}" for i in range(2000))))
            self.run.expect(found < most_false_positives(2000, float(self.rate)),
                            f"{self.key} ({self.kind}): {found} of 2000 absent items are found at {self.rate}")
