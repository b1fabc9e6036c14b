"""Threads that share a filter: none loses a key of another, and long calls let others run."""

import itertools
import os
import signal
import tempfile
import threading
import time
import unittest

import numpy

import bloomery
from bloomery import BloomFilter, CountingFilter, Error, ScalableFilter

THREADS, KEYS = 4, 20_000


def in_threads(work):
    failures = []

    def guarded(i):
        try:
            work(i)
        except BaseException as failure:  # noqa: B902
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class Threads(unittest.TestCase):
    def test_writers_and_readers_meet(self):
        for make in (BloomFilter, CountingFilter, ScalableFilter):
            f = make(THREADS * KEYS, 0.001)

            def work(i):
                own = numpy.arange(i * KEYS, (i + 1) * KEYS)
                for part in range(0, KEYS, 500):
                    f.insert_many(own[part:part + 500])
                    f.update(int(key) for key in own[part:part + 10])
                    f.add(f"{i}-{part}")
                    if f.contains_many(own[:part + 500]) != part + 500 or f"{i}-{part}" not in f:
                        raise AssertionError("a key is lost")

            in_threads(work)
            self.assertEqual(f.contains_many(numpy.arange(THREADS * KEYS)), THREADS * KEYS)

    def test_calls_of_one_sort_let_one_of_the_other_in(self):
        f, keys = BloomFilter(10_000_000, 1e-6), numpy.arange(2_000_000)
        for many, one in ((f.contains_many, f.insert_many), (f.insert_many, f.contains_many)):
            begun, done = threading.Barrier(4), threading.Event()

            def repeat(many=many, begun=begun, done=done):
                begun.wait()
                while not done.is_set():
                    many(keys)

            def call(one=one, begun=begun, done=done):
                begun.wait()
                for i in range(3):
                    one([f"new {i}"])
                done.set()

            threads = [threading.Thread(target=work) for work in (repeat, repeat, repeat, call)]
            for thread in threads:
                thread.start()
            came = done.wait(60)
            done.set()
            for thread in threads:
                thread.join()
            self.assertTrue(came, f"{one.__name__} never has its turn")

    def test_joins_do_not_wait_for_each_other(self):
        a, b = BloomFilter(1000, 0.01), BloomFilter(1000, 0.01)
        a.add("a")
        b.add("b")

        def work(i):
            left, right = (a, b) if i % 2 else (b, a)
            for _ in range(500):
                left |= right

        in_threads(work)
        self.assertTrue("a" in b and "b" in a)

    def test_a_filter_that_is_given_up_has_its_name_or_none(self):
        with tempfile.TemporaryDirectory(prefix="a-name-with-memory-of-its-own") as folder:
            path, keys = os.path.join(folder, "f"), numpy.arange(1_000_000)
            for _ in range(5):
                f = bloomery.open(path, "x", fpr=0.01, kind="frozen")
                f.insert_many(keys)
                names, said = set(), set()

                def work(i, f=f, names=names, said=said):
                    try:
                        while True:
                            names.add(f.name if i else f._drop())
                            "a" in f
                    except Error as error:
                        said.add(str(error))

                in_threads(work)
                self.assertEqual(said, {"the filter was given up, because the block that builds it failed"})
                self.assertLessEqual(names, {path, None})

    def test_a_child_waits_for_no_thread_of_its_parent(self):
        f = BloomFilter(50_000_000, 1e-6)
        f.add("before")
        numbers, begun = numpy.arange(20_000_000), threading.Event()
        for work, expected in ((f.contains_many, "found"), (f.insert_many, "inherited")):
            begun.clear()

            def call(work=work):
                begun.set()
                work(numbers)

            thread = threading.Thread(target=call)
            thread.start()
            begun.wait()
            time.sleep(0.02)
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                try:
                    told = "found" if "before" in f and f.contains_many(["before"]) == 1 else "lost"
                except Error as error:
                    told = error.code
                os._exit(0 if told == expected else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0, expected)
            thread.join()
            self.assertIn("before", f)

    def test_what_a_key_runs_may_give_the_filter_up_or_fork(self):
        class Key:
            def __init__(self, work):
                self.work = work

            def __index__(self):
                self.work()
                return 7

        with tempfile.TemporaryDirectory() as folder:
            f = bloomery.rebuild(os.path.join(folder, "f"), 1000, 0.01)
            with self.assertRaisesRegex(Error, "given up"):
                f.add(Key(f._drop))
        f, begun, children = BloomFilter(50_000_000, 1e-6), threading.Event(), []
        numbers = numpy.arange(20_000_000)

        def insert():
            begun.set()
            f.insert_many(numbers)

        def fork():
            thread.start()
            begun.wait()
            time.sleep(0.02)
            children.append(os.fork())
            if children[0] == 0:
                signal.alarm(20)

        thread = threading.Thread(target=insert)
        try:
            f.add(Key(fork))
            told = "found" if 7 in f else "lost"
        except Error as error:
            told = error.code
        if children[0] == 0:
            os._exit(0 if told == "inherited" else 1)
        self.assertEqual(os.waitpid(children[0], 0)[1], 0)
        self.assertEqual(told, "found")
        thread.join()

    def test_a_long_call_gives_the_gil_away(self):
        f = BloomFilter(50_000_000, 1e-6)
        keys = numpy.arange(20_000_000)
        begun, done = threading.Event(), threading.Event()

        def insert():
            begun.set()
            f.insert_many(keys)
            done.set()

        thread = threading.Thread(target=insert)
        thread.start()
        begun.wait()
        turns = 0
        while not done.is_set():
            turns += 1
            time.sleep(0)  # for the thread to begin the call
        thread.join()
        # With the GIL kept there are only those turns that come before the call.
        self.assertGreater(turns, 100)

    def test_an_interrupt_ends_a_long_call(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        f = BloomFilter(1000, 0.01)
        for call in (f.insert_many, f.contains_many):
            keys = itertools.repeat("a", 100_000_000)  # runs no Python code, which would notice the signal
            with self.assertRaises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                call(keys)
            self.assertGreater(keys.__length_hint__(), 0, "the call went on to its end")


if __name__ == "__main__":
    unittest.main()
