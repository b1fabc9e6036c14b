"""Filters in files and on servers: the same bits as the tool's, many readers, errors with a code."""

import ctypes
import os
import pathlib
import pickle
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import numpy

import bloomery
import server
from bloomery import BloomFilter, Error, WindowFilter

TOOL = os.environ["BLOOMERY_TOOL"]
MODULE = os.environ["BLOOMERY_MODULE"]
KINDS = {"plain": {}, "counting": {}, "scalable": {}, "window": {"window": 3600, "window_unit": "seconds"}}
FLAGS = {"plain": [], "counting": ["--kind", "counting"], "scalable": ["--kind", "scalable"], "window": ["--window", "1h"]}


def tool(*words, lines=""):
    return subprocess.run([TOOL, *words], input=lines, capture_output=True, text=True, check=False)


class Files(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.path = self.scratch / "f.bloom"

    def code(self, call, *words, **more):
        with self.assertRaises(Error) as caught:
            call(*words, **more)
        self.assertTrue(str(caught.exception))
        return caught.exception.code

    @unittest.skipUnless(TOOL, "there is no tool")
    def test_are_the_tools_too(self):
        for kind, words in KINDS.items():
            path = self.scratch / f"{kind}.bloom"
            with bloomery.open(path, "x", 1000, 0.001, kind=kind, **words) as f:
                self.assertEqual(f.insert_many(["one", b"two"]), 2)
            self.assertEqual(tool("check", path, lines="one\ntwo\nthree\n").stdout, "one\ntwo\n")
            by_tool = self.scratch / f"{kind}.tool"
            tool("create", by_tool, "-n", "1000", "-p", "0.001", *FLAGS[kind])
            tool("add", by_tool, lines="one\n\u00e9\n")
            f = bloomery.open(by_tool)
            self.assertEqual(f.stats().kind, kind)
            self.assertIs(type(f), type(bloomery.open(path)))
            self.assertEqual([key in f for key in ("one", "\u00e9", "two")], [True, True, False])

    def test_open_in_every_mode(self):
        self.assertEqual(self.code(bloomery.open, self.path), "missing")
        self.assertEqual(self.code(bloomery.open, self.path, "w"), "missing")
        with bloomery.open(str(self.path), "a", 1000, 0.01) as f:
            f.add("one")
            self.assertEqual(self.code(bloomery.open, self.path, "w"), "locked")
        with bloomery.open(self.path, "a", 1000, 0.01, durability="process") as f:
            self.assertFalse(f.add("one"))
            f.sync()
        self.assertEqual(self.code(bloomery.open, self.path, "a", 2000, 0.01), "mismatch")
        self.assertEqual(self.code(bloomery.open, self.path, "x", 1000, 0.01), "exists")
        reader = bloomery.open(self.path)
        self.assertEqual(self.code(reader.add, "two"), "read_only")
        self.assertFalse(reader.reload())
        with bloomery.open(self.path, "n", 500, 0.01) as f:
            self.assertNotIn("one", f)
        self.assertTrue(reader.reload())
        self.assertNotIn("one", reader)
        with self.assertRaises(ValueError):
            bloomery.open(self.path, "rw")
        with bloomery.open(self.path, "w") as f:
            self.assertEqual(self.code(f.clear), "wrong_kind")

    def test_rebuild(self):
        for kind, words in {**KINDS, "frozen": {"capacity": None}}.items():
            path = self.scratch / f"{kind}.bloom"
            words = {"capacity": 1000, "fpr": 0.001, "kind": kind, **words}
            with bloomery.rebuild(path, **words) as f:  # there is no old one
                f.insert_many(["one", "two"])
                self.assertFalse(path.exists())
            reader = bloomery.open(path)
            self.assertEqual([key in reader for key in ("one", "two", "three")], [True, True, False])
            for _ in range(2):
                with self.assertRaises(ZeroDivisionError), bloomery.rebuild(path, **words) as f:
                    f.update(1 // (5 - i) for i in range(10))
                with self.assertRaisesRegex(Error, "given up"):
                    f.add("late")
            bloomery.rebuild(path, **words).insert_many(["three"])  # never closed
            self.assertFalse(reader.reload())
            f = bloomery.rebuild(path, **words, hash="siphash", seed=7, clock=False)
            f.insert_many(["three"])
            with self.assertRaisesRegex(TypeError, "not pickled before close"):
                pickle.dumps(f)
            self.assertFalse(reader.reload())
            with self.assertRaises(ZeroDivisionError), f:
                f.close()
                1 // 0
            self.assertIn("three", f)  # nothing is given up after close()
            self.assertTrue(reader.reload())
            self.assertEqual([key in reader for key in ("one", "two", "three")], [False, False, True])
            self.assertEqual(os.listdir(self.scratch), [path.name])
            path.unlink()
        with self.assertRaisesRegex(TypeError, "durability"):
            bloomery.rebuild(self.path, 1000, 0.001, durability="none")
        self.assertEqual(self.code(bloomery.rebuild, "redis+module://127.0.0.1:1?key=k", 100, 0.01), "wrong_kind")

    def test_writers_share_a_file(self):
        with bloomery.open(self.path, "a", 1000, 0.001, shared=True) as one:
            with bloomery.open(self.path, "w", shared=True) as two:
                self.assertTrue(two.add("a"))
                self.assertIn("a", one)
                self.assertEqual(self.code(bloomery.open, self.path, "w"), "locked")
            self.assertTrue(one.add("b"))
        with bloomery.open(self.path, "w") as alone:
            self.assertIn("b", alone)
            self.assertEqual(alone.stats().inserted, 2)
            self.assertEqual(self.code(bloomery.open, self.path, "w", shared=True), "locked")

    def test_save_and_share(self):
        f = BloomFilter(1000, 0.01)
        f.update(range(500))
        f.save(self.path)
        self.assertEqual(list(self.scratch.iterdir()), [self.path])
        reader = bloomery.open(self.path)
        self.assertEqual(reader, f)
        self.assertEqual(bloomery.from_bytes(self.path.read_bytes()), f)
        again = pickle.loads(pickle.dumps(reader))
        self.assertEqual(again.name, str(self.path))
        f.add("more")
        f.save(self.path)
        self.assertTrue(reader.reload())
        self.assertIn("more", reader)
        self.assertEqual(reader | f, f)
        os.chmod(self.path, 0o640)
        link = self.scratch / "link"
        link.symlink_to(self.path)
        f.save(link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)
        with bloomery.open(self.path, "w") as writer:
            self.assertEqual(self.code(f.save, self.path), "locked")
            writer.add("kept")
        self.assertIn("kept", bloomery.open(self.path))
        self.assertEqual(len(list(self.scratch.iterdir())), 2)
        child = os.fork()
        if child == 0:
            os._exit(0 if 7 in reader else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_pickle_has_the_path_and_the_clock_of_its_filter(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.scratch)
        f = bloomery.open("f.bloom", "x", 1000, 0.01)
        with bloomery.open("w.bloom", "x", 1000, 0.01, kind="window", window=100, clock=False) as window:
            window.advance(1000)
            window.add("a")
        reader = bloomery.open("w.bloom", clock=False)
        os.chdir(before)
        self.assertEqual(pickle.loads(pickle.dumps(f)).name, str(self.scratch / "f.bloom"))
        self.assertIn("a", pickle.loads(pickle.dumps(reader)))
        f.close()

    def test_say_what_is_wrong(self):
        (self.scratch / "text").write_text("some text " * 1000)
        self.assertEqual(self.code(bloomery.open, self.scratch / "text"), "not_a_filter")
        self.assertEqual(self.code(BloomFilter(10, 0.1).save, self.scratch / "text"), "not_a_filter")
        self.assertIn(self.code(bloomery.open, self.scratch), ("not_a_filter", "io"))
        BloomFilter(1000, 0.01).save(self.path)
        damaged = bytearray(self.path.read_bytes())
        damaged[8200] ^= 1
        self.assertEqual(self.code(bloomery.from_bytes, damaged), "corrupt")
        self.assertEqual(self.code(bloomery.from_bytes, b""), "not_a_filter")
        self.assertIn(self.code(bloomery.from_bytes, damaged[:9000]), ("corrupt", "not_a_filter"))
        for path in ("a\0b", "\ud800"):
            with self.assertRaises((ValueError, Error)):
                bloomery.open(path)
        with self.assertRaises(TypeError):
            bloomery.open(7)
        with self.assertRaises(TypeError):
            bloomery.from_bytes("text")
        code = "unavailable" if os.environ["BLOOMERY_HAS_REDIS"] == "1" else "invalid_argument"
        self.assertEqual(self.code(bloomery.open, "redis://127.0.0.1:1?key=k"), code)

    def test_a_closed_filter_still_answers(self):
        f = bloomery.open(self.path, "x", 1000, 0.01)
        f.add("key")
        f.close()
        f.close()
        self.assertIn("key", f)
        self.assertIn(self.code(f.add, "more"), ("read_only", "poisoned", "invalid_argument"))

    def test_closed_windows_go_on_forgetting(self):
        windows = [WindowFilter(1, 1000, 0.001, slices=1),
                   bloomery.open(self.path, "x", 1000, 0.001, kind="window", window=1, slices=1)]
        for f in windows:
            f.add("key")
            f.close()
        time.sleep(3.1)
        for f in windows:
            self.assertEqual(len(f), 0)  # before a look-up, which would pass the time as well
            self.assertNotIn("key", f)

    def test_a_forked_writer_refuses(self):
        f = bloomery.open(self.path, "x", 1000, 0.01)
        child = os.fork()
        if child == 0:
            try:
                f.add("child")
            except Error as error:
                os._exit(0 if error.code == "inherited" else 1)
            os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        f.add("parent")
        f.close()


@unittest.skipUnless(os.environ["BLOOMERY_HAS_REDIS"] == "1", "there is no Redis client")
class Servers(unittest.TestCase):
    def setUp(self):
        path = server.start(self)
        self.address = f"redis+unix://{path}?key=seen"
        self.modules = f"redis+module+unix://{path}?key="

    def test_clients_share_a_filter(self):
        with bloomery.open(self.address, "a", 10_000, 0.001) as one, bloomery.open(self.address, "w") as two:
            self.assertIs(type(one), BloomFilter)
            self.assertEqual(one.insert_many(["a", b"b", 3]), 3)
            self.assertEqual(two.contains_many(["a", "b", 3, "c"], out := bytearray(4)), 3)
            self.assertEqual(out, b"\1\1\1\0")
            self.assertIs(two.add("a"), False)
            self.assertNotIn("d", two)
            self.assertAlmostEqual(len(two), 3, delta=1)
            with self.assertRaisesRegex(TypeError, "password"):
                pickle.dumps(one)
            for call in (one.clear, one.copy, one.reload, lambda: bytes(one)):
                with self.assertRaises(Error) as caught:
                    call()
                self.assertEqual(caught.exception.code, "wrong_kind")
        one.close()
        for call in (lambda: one.add("e"), lambda: "a" in one, lambda: one.contains_many(["a"]), lambda: len(one)):
            with self.assertRaisesRegex(Error, "is closed") as caught:
                call()
            self.assertEqual(caught.exception.code, "read_only")
        self.assertIn("is closed", repr(one))

    def test_threads_take_turns_at_a_connection(self):
        """Also their look-ups, which go side by side in memory and in files."""
        with bloomery.open(self.address, "x", 10_000, 1e-6) as f:
            f.insert_many(f"{thread}-{i}" for thread in range(4) for i in range(500))
            failures = []

            def look_up(thread):
                try:
                    for i in range(500):
                        if f"{thread}-{i}" not in f or f"none {thread}-{i}" in f or not f.stats().fill:
                            failures.append(f"{thread}-{i}")
                    if f.contains_many(f"{thread}-{i}" for i in range(500)) != 500:
                        failures.append(thread)
                except Error as error:
                    failures.append(error)

            threads = [threading.Thread(target=look_up, args=(thread,)) for thread in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])

    def test_an_interrupt_ends_a_call_for_an_array(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        with bloomery.open(self.address, "x", 10_000, 0.001) as f:
            f.add(2)
            keys = numpy.arange(1_000_000)  # takes some seconds; the signal comes in the first
            out = numpy.full(keys.size, 2, "uint8")
            with self.assertRaises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                f.contains_many(keys, out)
            self.assertEqual(out[-1], 2, "the call went on to its end")
            # Its parts have the answers of one.
            self.assertEqual(f.insert_many(keys[-10:]), 10)
            self.assertEqual(f.contains_many(keys, out), out.sum())
            self.assertEqual(out[-11:].tolist(), [0] + [1] * 10)
            self.assertEqual(out[:4].tolist(), [0, 0, 1, 0])

    def test_the_name_lives_as_long_as_the_handle_of_c(self):
        c = ctypes.CDLL(f"{os.environ['BLOOMERY_C']}/libbloomery.so.0")
        for call in (c.bloomery_open, c.bloomery_name):
            call.restype = ctypes.c_void_p
        bloomery.open(self.address, "x", 10_000, 0.001).close()
        f = ctypes.c_void_p(c.bloomery_open(self.address.encode(), 1, None, None))
        name = c.bloomery_name(f)
        self.assertEqual(ctypes.string_at(name).decode(), self.address)
        self.assertEqual(c.bloomery_close(f, None), 0)
        self.assertEqual(c.bloomery_name(f), name)
        c.bloomery_free(f)

    def test_generations_rotate(self):
        with bloomery.open(self.address, "x", 10_000, 0.001, rotating=True) as f:
            f.add("old")
            self.assertIs(bloomery.rotate(self.address), True)
            self.assertIn("old", f)
            f.add("new")
            self.assertIs(bloomery.rotate(self.address), True)
            self.assertEqual(["old" in f, "new" in f], [False, True])
        for location, code in ((self.address + "2", "missing"), (__file__, "wrong_kind")):
            with self.assertRaises(Error) as caught:
                bloomery.rotate(location)
            self.assertEqual(caught.exception.code, code)

    def test_a_list_is_rebuilt_in_one_step(self):
        bloomery.open(self.address, "x", 100, 0.001).close()
        reader = bloomery.open(self.address)
        for keys in (["one", "two"], ["three"]):
            with bloomery.rebuild(self.address, 1000, 0.001) as built:
                built.insert_many(keys)
                self.assertFalse(any(key in reader for key in keys))
            reader = bloomery.open(self.address)
            self.assertEqual(reader.contains_many(["one", "two", "three"]), len(keys))
        with self.assertRaises(ZeroDivisionError), bloomery.rebuild(self.address, 1000, 0.001) as built:
            built.update(1 // (5 - i) for i in range(10))
        self.assertIn("three", bloomery.open(self.address))

    def test_a_string_does_not_count_inserts(self):
        with bloomery.open(self.address, "x", 10_000, 0.001) as f:
            f.add("key")
            self.assertIsNone(f.stats().inserted)
            self.assertAlmostEqual(f.stats().estimated_items, 1, delta=0.1)

    @unittest.skipUnless(MODULE, "there is no module")
    def test_says_what_a_module_does_not_tell(self):
        for kind in ("plain", "scalable", "counting", "window"):
            more = {"window": 3600} if kind == "window" else {}
            f = bloomery.open(self.modules + kind, "x", 1000, 0.01, kind=kind, **more)
            f.insert_many([f"key {i}" for i in range(900)])
            told = f.stats()
            self.assertAlmostEqual(told.inserted, 900, delta=20)
            self.assertEqual((told.kind, told.fpr, told.hashes, told.layout), (kind, 0.01, None, None))
            if kind in ("plain", "scalable"):
                self.assertAlmostEqual(len(f), 900, delta=20)
                self.assertGreater(told.current_fpr, 0)
                self.assertRegex(repr(f), "now about (8|9)[0-9]{2} keys at 0.0")
            else:
                self.assertEqual((told.fill, told.estimated_items, told.current_fpr), (None, None, None))
                self.assertRegex(repr(f), r"1,000 keys at 0.01, [0-9,]+ bytes>")
                with self.assertRaisesRegex(TypeError, "does not tell how many keys"):
                    len(f)
            self.assertTrue(f)

    def test_a_forked_handle_refuses(self):
        f = bloomery.open(self.address, "a", 10_000, 0.001)
        child = os.fork()
        if child == 0:
            codes = set()
            for call in (lambda: f.add("child"), lambda: "key" in f, lambda: f.contains_many(["a"]), f.close):
                try:
                    call()
                    codes.add("nothing")
                except Error as error:
                    codes.add(error.code)
            del f  # leaves the connection to the parent
            own = bloomery.open(self.address, "w")
            os._exit(0 if codes == {"inherited"} and own.add("of the child") else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(f.add("of the parent"))
        self.assertTrue("of the child" in f and "child" not in f)
        f.close()


if __name__ == "__main__":
    unittest.main()
