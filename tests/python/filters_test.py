"""Filters of every kind as Python's sets behave."""

import contextlib
import copy
import doctest
import inspect
import math
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time
import unittest
import weakref

import bloomery
from bloomery import BloomFilter, CountingFilter, Error, FrozenFilter, ScalableFilter, WindowFilter


def of_every_kind():
    return [BloomFilter(1000, 0.001), CountingFilter(1000, 0.001), ScalableFilter(1000, 0.001),
            WindowFilter(3600, 1000, 0.001)]


class EveryKind(unittest.TestCase):
    def test_says_what_is_new(self):
        for f in of_every_kind():
            self.assertIs(f.add("key"), True)
            self.assertIn("key", f)
            self.assertNotIn("other", f)
            f.update(["a", "b"], (str(i) for i in range(10)))
            self.assertTrue(all(key in f for key in ["a", "b", "0", "9"]))
            self.assertAlmostEqual(len(f), 13, delta=1)
            self.assertTrue(f)

    def test_is_copied_pickled_and_encoded(self):
        for f in of_every_kind():
            f.update(range(500))
            for same in (f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)),
                         bloomery.from_bytes(bytes(f))):
                self.assertIs(type(same), type(f))
                self.assertEqual(same, f)
                self.assertEqual(same.contains_many(range(500)), 500)
                same.add("more")
                self.assertNotEqual(same, f)
                self.assertNotIn("more", f)
            f.clear()
            self.assertEqual(f.contains_many(range(500)), 0)
            with self.assertRaises(TypeError):
                hash(f)

    def test_says_what_its_calls_take(self):
        f = BloomFilter(10, 0.1)
        for name, of_it, of_class in (("add", "(key, /)", "(self, key, /)"), ("close", "()", "(self, /)"),
                                      ("insert_many", "(keys, out=None)", "(self, /, keys, out=None)")):
            self.assertEqual(str(inspect.signature(getattr(f, name))), of_it)
            self.assertEqual(str(inspect.signature(getattr(BloomFilter, name))), of_class)

    def test_knows_itself(self):
        for f, kind in zip(of_every_kind(), ["plain", "counting", "scalable", "window"]):
            f.update(range(100))
            stats = f.stats(exact=True)
            self.assertEqual((stats.kind, stats.capacity, stats.fpr), (kind, 1000, 0.001))
            self.assertAlmostEqual(stats.estimated_items, 100, delta=10)
            self.assertFalse(stats.over_capacity)
            self.assertIn("1,000 keys at 0.001", repr(f))
        full = BloomFilter(bits=512, hashes=1)
        full.update(range(5000))
        self.assertTrue(full.stats().over_capacity)
        self.assertIn("BloomFilter", repr(full))
        self.assertGreater(len(full), 1000)

    def test_has_weak_references(self):
        filters = of_every_kind() + [FrozenFilter(["key"], 0.01)]
        ended = []
        weak = [weakref.ref(f, ended.append) for f in filters]
        self.assertTrue(all(reference() is f for reference, f in zip(weak, filters)))
        del filters[:]
        self.assertEqual([reference() for reference in weak], [None] * 5)
        self.assertCountEqual(ended, weak)

    def test_says_what_it_cannot(self):
        plain, counting, scalable, window = of_every_kind()
        for f in (scalable, window):
            with self.assertRaises(TypeError):
                f | f
        for f in (plain, scalable, window):
            self.assertFalse(hasattr(f, "remove"))
        with self.assertRaises(Error) as caught:
            plain |= BloomFilter(2000, 0.001)
        self.assertEqual(caught.exception.code, "mismatch")
        with self.assertRaises(Error) as caught:
            plain |= counting
        self.assertEqual(caught.exception.code, "wrong_kind")
        with self.assertRaisesRegex(TypeError, r"update\(\) adds keys"):
            plain |= {"a"}
        with self.assertRaises(TypeError):
            bloomery.Filter()
        self.assertFalse(plain == {"a"})

    def test_is_not_derived_from(self):
        for base in (BloomFilter, CountingFilter, ScalableFilter, WindowFilter, FrozenFilter):
            with self.assertRaisesRegex(TypeError, "attribute"):
                type("Mine", (base,), {})

    def test_doctests(self):
        for module, least in ((bloomery, 8), (bloomery._plans, 1)):
            done = doctest.testmod(module)
            self.assertEqual(done.failed, 0)
            self.assertGreaterEqual(done.attempted, least)
        for document, least in (("docs/python.md", 11), ("README.md", 3), ("README.zh-CN.md", 3)):
            with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
                done = doctest.testfile(os.path.join(os.environ["BLOOMERY_SOURCE"], document), module_relative=False,
                                        encoding="utf-8")
            self.assertEqual((document, done.failed, done.attempted >= least), (document, 0, True))


class Kinds(unittest.TestCase):
    def test_plain_filters_join(self):
        a, b = BloomFilter(1000, 1e-6), BloomFilter(1000, 1e-6)
        a.update(range(0, 300))
        b.update(range(200, 500))
        self.assertEqual((a | b).contains_many(range(500)), 500)
        self.assertEqual((a & b).contains_many(range(200, 300)), 100)
        self.assertEqual((a & b).contains_many(range(200)), 0)
        self.assertNotIn(400, a)
        a &= b
        self.assertNotIn(100, a)
        a |= b
        a |= a
        self.assertEqual(a.contains_many(range(200, 500)), 300)

    def test_counting_filters_remove(self):
        f = CountingFilter(1000, 0.001, counter_bits=8)
        f.update(["a", "b"])
        self.assertIs(f.remove("a"), True)
        self.assertIs(f.remove("a"), False)
        self.assertEqual(f.remove_many(["b"]), 1)
        self.assertNotIn("b", f)
        self.assertEqual(f.stats().counter_bits, 8)

    def test_scalable_filters_grow(self):
        f = ScalableFilter(1000, 0.01, growth=2)
        f.update(range(20_000))
        self.assertEqual(f.contains_many(range(20_000)), 20_000)
        self.assertLess(f.contains_many(range(20_000, 120_000)), 1_500)
        self.assertGreater(f.stats().sub_filters, 3)

    def test_window_filters_forget_by_the_clock(self):
        f = WindowFilter(1, 1000, 0.001, slices=1)
        f.add("key")
        self.assertIn("key", f)
        time.sleep(3.1)
        self.assertNotIn("key", f)

    def test_a_clock_before_1970_forgets_nothing(self):
        tool = os.environ["BLOOMERY_TOOL"]
        with tempfile.TemporaryDirectory() as scratch:
            clock, library = f"{scratch}/clock", f"{scratch}/clock.so"
            source = os.path.join(os.environ["BLOOMERY_SOURCE"], "tests/soak/clock.c")
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
            preloaded = f"{os.environ.get('LD_PRELOAD', '')} {library}".strip()

            def at(now, *command, lines=""):
                pathlib.Path(clock).write_bytes(now.to_bytes(8, "little", signed=True))
                environment = os.environ | {"LD_PRELOAD": preloaded, "SOAK_CLOCK": clock}
                return subprocess.run(command, env=environment, input=lines, capture_output=True, text=True).stdout

            said = at(1_000_000, sys.executable, "-c", """if True:
                import bloomery, os, pathlib
                f = bloomery.WindowFilter(100, 1000, 0.001)
                f.add("old")
                pathlib.Path(os.environ["SOAK_CLOCK"]).write_bytes((-5).to_bytes(8, "little", signed=True))
                f.add("new")
                print("old" in f, "new" in f)""")
            self.assertEqual(said, "True True\n")
            if not tool:
                return
            path = f"{scratch}/w.bloom"
            at(1_000_000, tool, "create", "-q", path, "--window", "100s", "-n", "1000", "-p", "0.001")
            at(1_000_000, tool, "add", "-q", path, lines="old\n")
            at(-5, tool, "add", "-q", path, lines="new\n")
            self.assertEqual(at(1_000_000, tool, "check", path, lines="old\nnew\n"), "old\nnew\n")

    def test_window_filters_forget_by_the_time_they_are_told(self):
        f = WindowFilter(60, 1000, 0.001)
        f.advance(1_000_000)
        f.add("key")
        f.advance(1_000_050)
        self.assertIn("key", f)
        f.advance(1_000_100)
        self.assertNotIn("key", f)
        for same in (f.copy(), copy.deepcopy(f), pickle.loads(pickle.dumps(f)), bloomery.from_bytes(bytes(f), clock=False)):
            same.add("again")
            same.advance(1_000_110)
            self.assertIn("again", same)
        f = WindowFilter(100, fpr=0.001, window_unit="insertions")
        f.add("key")
        f.update(range(300))
        self.assertNotIn("key", f)


class Frozen(unittest.TestCase):
    def test_has_the_keys_that_it_was_built_from(self):
        keys = [f"key{i}" for i in range(20_000)]
        frozen = FrozenFilter(keys + keys, 0.001)
        self.assertTrue(all(key in frozen for key in keys))
        self.assertEqual(len(frozen), len(keys))
        self.assertEqual(frozen.contains_many(keys), len(keys))
        self.assertLess(frozen.contains_many(f"other{i}" for i in range(100_000)), 200)
        self.assertEqual(frozen, FrozenFilter(reversed(keys), 0.001))
        self.assertNotEqual(frozen, FrozenFilter(keys[1:], 0.001))
        self.assertIsNone(frozen.stats().layout)
        for again in (frozen.copy(), pickle.loads(pickle.dumps(frozen)), bloomery.from_bytes(bytes(frozen))):
            self.assertIsInstance(again, FrozenFilter)
            self.assertEqual(again, frozen)
        with self.assertRaisesRegex(Error, "rebuild"):
            frozen.add("one more")
        self.assertEqual(len(FrozenFilter([], 0.01)), 0)
        with self.assertRaises(Error):
            FrozenFilter(keys, 0.9)

    def test_is_built_in_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "spam.bloom")
            with bloomery.open(path, "x", fpr=0.001, kind="frozen") as frozen:
                frozen.update(range(10_000))
                self.assertFalse(os.path.exists(path))
            with bloomery.open(path) as reader:
                self.assertIsInstance(reader, FrozenFilter)
                self.assertEqual(reader.contains_many(range(10_000)), 10_000)
                self.assertEqual(reader.stats().kind, "frozen")
            with self.assertRaisesRegex(Error, "rebuild"):
                bloomery.open(path, "w")
            # Part of a list does not replace the list.
            for mode, name in (("n", path), ("x", path + "2")):
                with self.assertRaises(ZeroDivisionError), bloomery.open(name, mode, fpr=0.01, kind="frozen") as frozen:
                    frozen.update(1 // (5 - i) for i in range(10))
                for call in (lambda: frozen.add("late"), lambda: "late" in frozen, frozen.sync, frozen.copy, lambda: frozen.name,
                             lambda: frozen == frozen, lambda: bytes(frozen), lambda: pickle.dumps(frozen)):
                    with self.assertRaisesRegex(Error, "given up"):
                        call()
                self.assertIn("given up", repr(frozen))
                with frozen:
                    frozen.close()
            self.assertEqual(len(bloomery.open(path)), 10_000)
            self.assertEqual(os.listdir(folder), ["spam.bloom"])
            again = bloomery.open(path, "n", fpr=0.01, kind="frozen", delta=9)
            with self.assertRaises(ZeroDivisionError), again as frozen:
                frozen.close()
                1 // 0
            with self.assertRaises(ZeroDivisionError), bloomery.open(path, "w") as frozen:
                frozen.add("in the delta")
                1 // 0
            self.assertIn("in the delta", bloomery.open(path))


class Plans(unittest.TestCase):
    def test_are_those_of_the_library(self):
        plan = bloomery.plan(1_000_000, 0.01)
        self.assertEqual((plan.kind, plan.capacity, plan.layout), ("plain", 1_000_000, "blocked"))
        self.assertTrue(9 < plan.bits_per_key < 10)
        self.assertEqual(bloomery.plan(1000, 0.01, kind="window", window=70, window_unit="seconds").kind, "window")
        self.assertAlmostEqual(bloomery.predicted_fpr(1_000_000, 1_000_000, 0.01), 0.01, delta=0.0005)

    def test_refuse_numbers_that_no_filter_has(self):
        for words in ({"capacity": 0}, {"capacity": -1}, {"capacity": 2**64}, {"fpr": 0}, {"kind": "quick"},
                      {"layout": "wide"}, {"hash": "md5"}, {"seed": -1}, {"seed": 2**64}):
            with self.assertRaises(ValueError, msg=words):
                BloomFilter(**{"capacity": 1000, "fpr": 0.01, **words}) if "kind" not in words else bloomery.plan(
                    1000, 0.01, **words)
        for capacity, fpr in ((1000, 2), (1000, -1), (1000, math.nan), (None, 0.1), (10**13, 1e-9)):
            with self.assertRaises(Error) as caught:
                BloomFilter(capacity, fpr)
            self.assertIn(caught.exception.code, ("invalid_argument", "too_large"))
        with self.assertRaises(TypeError):
            BloomFilter("many", 0.1)

    def test_seeds_change_the_bits(self):
        plain, seeded = BloomFilter(1000, 0.01), BloomFilter(1000, 0.01, seed=7)
        secret = BloomFilter(1000, 0.01, hash="siphash", seed=2**127)
        for f in (plain, seeded, secret):
            f.add("key")
            self.assertIn("key", f)
        self.assertNotEqual(plain, seeded)
        with self.assertRaises(Error):
            plain |= seeded
        # Empty ones have the same bits, and still nothing is said of the same keys.
        for f in (plain, seeded, secret):
            f.clear()
        self.assertEqual(plain, BloomFilter(1000, 0.01))
        self.assertNotEqual(plain, seeded)
        self.assertNotEqual(secret, BloomFilter(1000, 0.01, hash="siphash", seed=2**126))


if __name__ == "__main__":
    unittest.main()
