#!/usr/bin/env python3
"""What a key costs in Python, beside a set and an empty method: medians over repetitions that take turns.

usage: python_bench.py [KEYS]     (PYTHONPATH names the package: build/release/python)
"""

import statistics
import sys
import time

import numpy

import bloomery


class Nothing:
    __slots__ = ()

    def add(self, key):
        pass


def loop(call, keys):
    for key in keys:
        call(key)


def main(count=1_000_000):
    texts = [f"http://example.org/{i}" for i in range(count)]
    numbers = numpy.arange(count, dtype="u8")
    prints = numpy.random.default_rng(1).integers(0, 256, (count, 16), "u1")
    seen, plain = set(), bloomery.BloomFilter(count, 0.01)
    cases = {
        "an empty method in Python": lambda: loop(Nothing().add, texts),
        "set.add": lambda: loop(seen.add, texts),
        "key in set": lambda: loop(seen.__contains__, texts),
        "add": lambda: loop(plain.add, texts),
        "in": lambda: loop(plain.__contains__, texts),
        "contains_many, list": lambda: plain.contains_many(texts),
        "insert_many, numpy u8": lambda: plain.insert_many(numbers),
        "contains_many, numpy u8": lambda: plain.contains_many(numbers),
        "contains_many, rows of 16 bytes": lambda: plain.contains_many(prints),
    }
    times = {name: [] for name in cases}
    for _ in range(7):
        for name, work in cases.items():
            begin = time.process_time()
            work()
            times[name].append((time.process_time() - begin) / count * 1e9)
    for name, samples in times.items():
        print(f"{name:34}{statistics.median(samples):8.1f} ns")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
