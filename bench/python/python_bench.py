#!/usr/bin/env python3
"""The cost per key in Python, beside an empty method in C, a set, the C interface, and pybloomfiltermmap3 if Python
finds it: medians over repetitions that take turns.

usage: python_bench.py BUILD [KEYS]     BUILD: a release build with the package, such as build/release
"""

import collections
import ctypes
import importlib
import statistics
import sys
import time

import numpy


def loop(call, keys):
    collections.deque(map(call, keys), maxlen=0)


def bulk_in_c(build, filter, keys, verb):
    """All keys through the C interface, in a copy of the filter."""
    library = ctypes.CDLL(f"{build}/c/libbloomery.so.0")
    library.bloomery_decode.restype = ctypes.c_void_p
    encoded = bytes(filter)
    handle = ctypes.c_void_p(library.bloomery_decode(encoded, ctypes.c_size_t(len(encoded)), None))
    call = getattr(library, f"bloomery_{verb}_u64s")
    call.restype = ctypes.c_int64
    return lambda: call(handle, ctypes.c_void_p(keys.ctypes.data), ctypes.c_size_t(len(keys)), None, None)


def main(build, count=1_000_000):
    sys.path.insert(0, f"{build}/python")
    bloomery = importlib.import_module("bloomery")
    texts = [f"http://example.org/{i}" for i in range(count)]
    numbers = numpy.arange(count, dtype="u8")
    prints = numpy.random.default_rng(1).integers(0, 256, (count, 16), "u1")
    seen = set()
    plain, numbered = bloomery.BloomFilter(count, 0.01), bloomery.BloomFilter(count, 0.01)
    numbered.insert_many(numbers)
    cases = {
        "an empty method in C": lambda: loop(collections.deque(maxlen=0).append, texts),
        "set.add": lambda: loop(seen.add, texts),
        "key in set": lambda: loop(seen.__contains__, texts),
        "add": lambda: loop(plain.add, texts),
        "in": lambda: loop(plain.__contains__, texts),
        "contains_many, list": lambda: plain.contains_many(texts),
        "insert_many, numpy u8": lambda: numbered.insert_many(numbers),
        "contains_many, numpy u8": lambda: numbered.contains_many(numbers),
        "insert_many in C": bulk_in_c(build, numbered, numbers, "insert"),
        "contains_many in C": bulk_in_c(build, numbered, numbers, "contains"),
        "contains_many, rows of 16 bytes": lambda: plain.contains_many(prints),
    }
    try:
        peer = importlib.import_module("pybloomfilter").BloomFilter(count, 0.01)
        cases["add, pybloomfiltermmap3"] = lambda: loop(peer.add, texts)
        cases["in, pybloomfiltermmap3"] = lambda: loop(peer.__contains__, texts)
        cases["update of a list, pybloomfiltermmap3"] = lambda: peer.update(texts)
    except ImportError:
        pass
    times = {name: [] for name in cases}
    for _ in range(7):
        for name, work in cases.items():
            begin = time.process_time()
            work()
            times[name].append((time.process_time() - begin) / count * 1e9)
    medians = {name: statistics.median(samples) for name, samples in times.items()}
    for name, median in medians.items():
        print(f"{name:38}{median:8.1f} ns")
    for name in "add", "in":
        print(f"{name} above an empty method: {medians[name] - medians['an empty method in C']:.0f} ns (goal: at most 60)")
    for name in "insert_many", "contains_many":
        # The ratio is taken in each round, so that another job on the machine slows both.
        ratios = map(lambda one, other: one / other, times[f"{name}, numpy u8"], times[f"{name} in C"])
        print(f"{name} of numpy: {statistics.median(ratios):.2f} times C (goal: at most 1.2 times C++)")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
