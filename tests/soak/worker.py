"""What a scenario gets: a folder, a random source, the programs to test, and a place for its findings.

A scenario is a module with `play(run)`, one round, and, if it cannot run everywhere, `missing(run)`, which says
why not. A round begins with an empty folder and takes all its decisions from `run.random`, whose seed depends on the
run, the scenario and the round: so one round can be repeated without those before it.
"""

import itertools
import json
import math
import pathlib
import random
import shutil
import time
import traceback

COUNTS = ("rounds", "operations", "kills", "comparisons", "skipped")


class Finding(Exception):
    """A promise was not kept."""


class Run:
    def __init__(self, scenario, number, options, counts, deadline):
        self.random = random.Random(f"{options.seed}/{scenario}/{number}")
        self.folder = pathlib.Path(options.folder) / f"{scenario}-{number}"
        self.options = options
        self.number = number
        self.counts = counts
        self.deadline = deadline
        self.steps = None

    def __enter__(self):
        self.folder.mkdir(parents=True)
        self.steps = open(self.folder / "steps", "w")
        return self

    def __exit__(self, kind, *_):
        self.steps.close()
        if kind is None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def turns(self, most):
        """The numbers of so many turns, from 0, as long as there is time."""
        return itertools.takewhile(lambda _: time.monotonic() < self.deadline, range(most))

    def step(self, *words):
        """Records a step before it is done, so that the last line of the file is the step that failed."""
        self.steps.write(f"{time.time():.3f} {' '.join(str(word) for word in words)[:300]}\n")
        self.steps.flush()

    def count(self, what, number=1):
        self.counts[COUNTS.index(what)] += number

    def expect(self, is_so, what):
        self.count("comparisons")
        if not is_so:
            raise Finding(what() if callable(what) else what)

    def chance(self, probability):
        return self.random.random() < probability


def most_false_positives(lookups, rate, alarm=1e-15):
    """The smallest number that so many look-ups of absent keys reach with a probability below `alarm`.

    Chernoff: P(X >= k) <= exp(-n D(k/n, p)). A million comparisons with 1e-15 each fail by chance once in 1e9 runs. The
    rate of a filter's own bits differs from the stated one, since keys fall at random: the fill of the smallest filters
    here (1,000 keys) by at most 1 % in one standard deviation, so the rate, its eighth power or so, by 8 %. Twice the
    stated rate is twelve of these away, and counts as the stated rate.
    """
    rate = min(2 * rate, 0.9)
    bound = max(1, math.ceil(lookups * rate))
    while bound < lookups:
        share = bound / lookups
        distance = share * math.log(share / rate) + (1 - share) * math.log((1 - share) / (1 - rate))
        if lookups * distance > -math.log(alarm):
            break
        bound += 1
    return bound


def work(name, scenario, options, counts, deadline, findings):
    """Plays rounds until the time is up or something is found."""
    number = options.round
    while time.monotonic() < deadline and not findings.is_set():
        run = Run(name, number, options, counts, deadline)
        try:
            with run:
                scenario.play(run)
        except Exception as error:  # an unexpected exception is a finding too
            report = {"scenario": name, "seed": options.seed, "round": number, "folder": str(run.folder),
                      "found": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
            (run.folder / "finding.json").write_text(json.dumps(report, indent=1))
            findings.set()
            return
        run.count("rounds")
        number += 1
