"""What a filter file must hold: exact sets, and a second file with the same operations without a failure.

For a plain filter only the acknowledged keys are known; an interrupted writer may have left any others. Every other
kind holds the first operations of an interrupted run, in order: `reconcile` finds their number, which must not be below
the acknowledged number, and does the same to the second file. Then both files have the same bits.
"""

import collections
import shutil

from worker import most_false_positives

HEADER = 8192  # bytes of a file before its bits (docs/format.md)
CAPACITY = {"plain": 60_000, "counting": 20_000, "scalable": 500, "window": 4000}
RATES = ("1%", "0.1%", "1e-5")
WINDOW = 4000


def number_of(rate):
    return float(rate[:-1]) / 100 if rate.endswith("%") else float(rate)


class Model:
    """A file, its kind, and what must be in it."""

    def __init__(self, tool, path, reference, kind, rate):
        self.tool, self.path, self.reference, self.kind, self.rate = tool, path, reference, kind, rate
        flags = {"plain": [], "counting": ["--kind", "counting", "--counter-bits", 8 if rate == "1%" else 4],
                 "scalable": ["--kind", "scalable"], "window": ["--window", f"{WINDOW} lines"]}[kind]
        # Plain filters sometimes become full: then nothing is compared with the rate.
        flags += ["-n", CAPACITY[kind], "-p", rate, "--seed", tool.run.random.randrange(2**32)]
        tool.do("create", "-q", self.path, *flags)
        tool.do("create", "-q", self.reference, *flags)
        self.keys = collections.Counter()
        self.order = []  # of a window: everything that was added
        self.sent = set()  # all keys that may be in it

    def apply(self, verb, lines):
        if verb == "remove":
            self.keys.subtract(lines)
        else:
            self.keys.update(lines)
            self.order += lines

    def reconcile(self, verb, lines, acknowledged, done=None):
        """Call it after a run with these lines; `done`: how many of them are in the file, if that is known."""
        self.sent.update(lines)
        if self.kind == "plain":
            self.apply(verb, lines[:acknowledged if done is None else done])
            return
        self.tool.do("add", "-q", self.path, lines=[])  # repairs what a kill left
        if done is None:
            done = self.how_many(verb, lines)
        self.tool.run.expect(acknowledged <= done <= len(lines),
                             f"{self.path}: {done} lines are in it, {acknowledged} of {len(lines)} were acknowledged")
        self.tool.do(verb, "-q", self.reference, lines=lines[:done], codes=(0, 1))
        self.apply(verb, lines[:done])

    def how_many(self, verb, lines):
        """The greatest number of lines that makes the reference equal to the file, found by binary search.

        It must be the greatest, since the last acknowledged lines may have changed nothing: the filter had them.
        """
        if self.kind == "window":  # every line counts
            return self.tool.info(self.path)["inserted"] - self.tool.info(self.reference)["inserted"]
        low, high, probe = 0, len(lines), self.reference.with_name("probe")
        here = self.progress(verb, self.path)
        while low < high:
            middle = (low + high + 1) // 2
            shutil.copy(self.reference, probe)
            self.tool.do(verb, "-q", probe, lines=lines[:middle], codes=(0, 1))
            if self.progress(verb, probe) <= here:
                low = middle
            else:
                high = middle - 1
        return low

    def progress(self, verb, path):
        """A number that rises with every line that changes the filter: in a scalable filter, with every new line."""
        info = self.tool.info(path)
        if self.kind == "scalable":
            return info["inserted"]
        bits = path.read_bytes()[HEADER:HEADER + info["bytes"]]
        counters = (lambda byte: byte) if info["counter_bits"] == 8 else (lambda byte: (byte & 15) + (byte >> 4))
        total = sum(counters(byte) * times for byte, times in collections.Counter(bits).items())
        return -total if verb == "remove" else total

    def expected(self):
        if self.kind == "window":
            return list(dict.fromkeys(self.order[-WINDOW:]))
        return [key for key, times in self.keys.items() if times > 0]

    def check(self, path=None):
        """Checks that no key is missing, also during writes."""
        path = path or self.path
        missing = self.tool.absent(path, self.expected())
        self.tool.run.expect(not missing, lambda: f"{path} ({self.kind}) lost {len(missing)} keys: {missing[:5]}")

    def compare(self):
        """Checks that hold only while no writer runs."""
        self.check()
        said = self.tool.do("verify", self.path)
        if self.kind != "plain":
            self.tool.run.expect("whole" in said, f"verify: {said}")
            info, reference = self.tool.info(self.path), self.tool.info(self.reference)
            bits, bits_of_reference = (path.read_bytes()[HEADER:HEADER + info["bytes"]] for path in (self.path, self.reference))
            self.tool.run.expect(bits == bits_of_reference, f"{self.path}: other bits than those of a run without a kill")
            for name in ("inserted", "bytes", "fill"):
                self.tool.run.expect(info[name] == reference[name], f"{self.path}: {name} {info[name]} and {reference[name]}")
        lookups = 5000
        if self.kind in ("scalable", "window") or len(self.sent) <= CAPACITY[self.kind]:
            found = self.tool.found(self.path, [f"absent {i}" for i in range(lookups)])
            most = most_false_positives(lookups, number_of(self.rate))
            self.tool.run.expect(found < most, f"{self.path}: {found} of {lookups} absent keys found at {self.rate}")

    def empty(self):
        """For a counting filter: after every key is removed, no counter is left except saturated ones."""
        if self.tool.info(self.path)["saturated_counters"]:
            return
        self.tool.do("remove", "-q", self.path, lines=list(self.keys.elements()), codes=(0, 1))
        info = self.tool.info(self.path)
        self.tool.run.expect(info["fill"] == 0, f"{self.path}: not empty: {info}")

    def saved(self):
        """For a backup: what the file contains now."""
        return self.keys.copy(), list(self.order), set(self.sent)

    def restored(self, saved):
        self.keys, self.order, self.sent = saved[0].copy(), list(saved[1]), set(saved[2])
