"""Whatever is wrong with what is given: an exception that says so, and never a crash. One table of all of it."""

import os
import pathlib
import tempfile
import unittest

import numpy

import bloomery
from bloomery import BloomFilter, CountingFilter, Error, FrozenFilter, ScalableFilter, WindowFilter


class Weird:
    def __len__(self):
        return -1

    def __iter__(self):
        raise RuntimeError("this range breaks")


class BadInput(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.whole = bytes(BloomFilter(100, 0.01))

    def file(self, name, data):
        path = self.scratch / name
        path.write_bytes(data)
        return path

    def refuses(self, cases, *kinds):
        for name, call in cases.items():
            with self.subTest(name):
                with self.assertRaises(kinds) as caught:
                    call()
                self.assertTrue(str(caught.exception), "it says nothing")

    def test_keys(self):
        f = BloomFilter(100, 0.01)
        self.refuses({
            "none": lambda: f.add(None), "float": lambda: f.add(1.5), "list": lambda: f.add([]),
            "an object": lambda: f.add(object()), "in": lambda: object() in f, "many": lambda: f.insert_many([b"a", 1.5]),
            "no range": lambda: f.insert_many(7), "no keyword": lambda: f.add(key="a"), "two": lambda: f.add("a", "b"),
        }, TypeError)
        self.refuses({
            "too large an integer": lambda: f.add(2**64), "too small a one": lambda: f.add(-2**63 - 1),
            "half of a surrogate pair": lambda: f.add("\ud800"),
        }, TypeError, ValueError)
        self.refuses({"a range that breaks": lambda: f.insert_many(Weird())}, RuntimeError, ValueError)
        self.assertEqual(len(f), 0, "something was added")

    def test_answers(self):
        f = BloomFilter(100, 0.01)
        self.refuses({
            "no buffer": lambda: f.contains_many(["a"], out=[]), "read only": lambda: f.contains_many(["a"], out=b"x"),
            "of integers": lambda: f.contains_many(["a"], out=memoryview(bytearray(8)).cast("q")),
        }, TypeError, BufferError)
        self.refuses({"too short": lambda: f.contains_many(["a", "b"], out=bytearray(1))}, ValueError, Error)

    def test_numbers(self):
        huge = 2**70
        self.refuses({
            "no fpr": lambda: BloomFilter(100), "no capacity": lambda: BloomFilter(fpr=0.1),
            "0 keys": lambda: BloomFilter(0, 0.1), "-1 keys": lambda: BloomFilter(-1, 0.1), "2^70 keys": lambda: BloomFilter(huge, 0.1),
            "10^13 keys": lambda: BloomFilter(10**13, 1e-9), "fpr 0": lambda: BloomFilter(100, 0), "fpr 1": lambda: BloomFilter(100, 1),
            "fpr nan": lambda: BloomFilter(100, float("nan")), "fpr -1": lambda: BloomFilter(100, -1.0),
            "2^70 bits": lambda: BloomFilter(100, bits=huge), "2^70 hashes": lambda: BloomFilter(100, 0.1, hashes=huge),
            "a seed of 65 bits": lambda: BloomFilter(100, 0.1, seed=2**64), "a negative seed": lambda: BloomFilter(100, 0.1, seed=-1),
            "a layout": lambda: BloomFilter(100, 0.1, layout="round"), "a hash": lambda: BloomFilter(100, 0.1, hash="md5"),
            "counters of 5 bits": lambda: CountingFilter(100, 0.1, counter_bits=5), "growth": lambda: ScalableFilter(100, 0.1, growth=huge),
            "no window": lambda: WindowFilter(0, 100, 0.1), "a unit": lambda: WindowFilter(10, 100, 0.1, window_unit="weeks"),
            "slices": lambda: WindowFilter(3600, 100, 0.1, slices=65), "frozen at 90 %": lambda: FrozenFilter(["a"], 0.9),
            "a plan": lambda: bloomery.plan(capacity=0, fpr=0.1), "a mode": lambda: bloomery.open("x", "rw"),
            "a durability": lambda: bloomery.open(self.scratch / "x", "x", 10, 0.1, durability="much"),
            "a server's durability": lambda: bloomery.open("redis://127.0.0.1:1?key=k", "a", 10, 0.1, durability="sync"),
        }, ValueError, OverflowError, TypeError, Error)
        self.refuses({"words": lambda: BloomFilter("many", 0.1), "a word": lambda: BloomFilter(100, "few"),
                      "a layout": lambda: BloomFilter(100, 0.1, layout=[])}, TypeError, ValueError)
        for number in (1e6, "1000", [], float("nan")):
            with self.assertRaisesRegex(TypeError, "capacity is an integer"):
                BloomFilter(number, 0.1)
            with self.assertRaisesRegex(TypeError, "seed is an integer"):
                BloomFilter(100, 0.1, seed=number)
        with self.assertRaisesRegex(TypeError, "fpr is a number, as 0.01, and not '0.01'"):
            BloomFilter(100, "0.01")
        for made in (bloomery.plan, lambda **more: bloomery.open(self.scratch / "x", "x", **more)):
            with self.assertRaisesRegex(TypeError, "no option 'windw'"):
                made(capacity=100, fpr=0.01, windw=60)
        self.assertEqual(BloomFilter(100, numpy.float32(0.5)), BloomFilter(100, 0.5))
        # What is opened is compared.
        path = self.scratch / "there.bloom"
        bloomery.open(path, "x", 100, 0.1).close()
        for number in ({"capacity": 200}, {"fpr": 0.2}, {"kind": "counting"}, {"window": 60, "window_unit": "seconds"},
                       {"hash": "siphash"}, {"seed": 1}):
            for mode in "rwa":
                with self.subTest(mode, **number), self.assertRaises(bloomery.Error) as refused:
                    bloomery.open(path, mode, **number)
                self.assertEqual(refused.exception.code, "mismatch")
        for mode in "rwa":
            bloomery.open(path, mode, 100, 0.1, kind="plain", hash="xxh3", seed=0).close()
        self.assertEqual(BloomFilter(numpy.int64(100), 0.1, bits=None, seed=numpy.uint8(0)), BloomFilter(100, 0.1))
        self.refuses({"a time": lambda: WindowFilter(60, 100, 0.1).advance(-1), "2^70": lambda: WindowFilter(60, 100, 0.1).advance(huge)},
                     ValueError)

    def test_addresses_in_a_wrong_place_show_no_password(self):
        address = "redis://user:hid den@h"
        for name, call in {
            "mode": lambda: bloomery.open("x", address), "kind": lambda: bloomery.plan(100, 0.1, kind=address),
            "layout": lambda: BloomFilter(100, 0.1, layout=address),
            "hash": lambda: BloomFilter(100, 0.1, hash=address),
            "durability": lambda: bloomery.open("x", "x", 10, 0.1, durability=address),
            "capacity": lambda: BloomFilter(address, 0.1), "fpr": lambda: BloomFilter(100, address),
            "seed": lambda: BloomFilter(100, 0.1, seed=address), "list": lambda: BloomFilter([address, address], 0.1),
            "bytes": lambda: BloomFilter(address.encode(), 0.1),
            "no option": lambda: bloomery.plan(100, 0.1, **{address: 1}),
            "php_hashes": lambda: bloomery.rotate("x", php_hashes=[address]),
            "a hash of PHP": lambda: bloomery.open("x", php_hashes="redis://user:hidden@h"),
        }.items():
            with self.subTest(name):
                with self.assertRaises((TypeError, ValueError, Error)) as caught:
                    call()
                self.assertIn("redis://***@h", str(caught.exception))
                self.assertNotRegex(str(caught.exception), "user|hid|den")
        with self.assertRaisesRegex(Error, r"^redis:\*\*\*@h\?key=k: "):
            bloomery.open("redis:/user:hidden@h?key=k")
        for word, shown in {"user:hidden@h": "'user:***@h'", "h:1": "'h:1'", "a@h": "'a@h'",
                            "é\ud800:x@ü": "'é\\ud800:***@ü'"}.items():
            with self.assertRaises(ValueError) as caught:
                bloomery.open("x", word)
            self.assertTrue(str(caught.exception).endswith(f"and not {shown}"), str(caught.exception))

    def test_closed(self):
        path = self.scratch / "f.bloom"
        f = bloomery.open(path, "x", 100, 0.1)
        f.close()
        f.close()
        self.refuses({"add": lambda: f.add("a"), "many": lambda: f.insert_many(["a"]), "sync": f.sync}, Error)

    def test_bytes(self):
        newer = bytearray(self.whole)
        newer[8], newer[4096:8192] = 9, bytes(4096)
        self.refuses({
            "none": lambda: bloomery.from_bytes(b""), "text": lambda: bloomery.from_bytes(b"text" * 5000),
            "cut": lambda: bloomery.from_bytes(self.whole[:-1]), "half": lambda: bloomery.from_bytes(self.whole[:5000]),
            "damaged": lambda: bloomery.from_bytes(self.whole[:8200] + b"\xff" * 8 + self.whole[8208:]),
            "newer": lambda: bloomery.from_bytes(newer), "newer, a file": lambda: bloomery.open(self.file("newer", newer)),
        }, Error)
        with self.assertRaises(Error) as caught:
            bloomery.from_bytes(newer)
        self.assertEqual(caught.exception.code, "newer_format")
        self.refuses({"a string": lambda: bloomery.from_bytes("text"), "nothing": lambda: bloomery.from_bytes(None)}, TypeError)

    def test_places(self):
        text = self.file("text", b"text\n" * 5000)
        self.refuses({
            "missing": lambda: bloomery.open(self.scratch / "none"), "a directory": lambda: bloomery.open(self.scratch),
            "text": lambda: bloomery.open(text), "empty": lambda: bloomery.open(self.file("empty", b"")),
            "cut": lambda: bloomery.open(self.file("cut", self.whole[:5000])),
            "no such directory": lambda: bloomery.open(self.scratch / "none/f", "x", 10, 0.1),
            "text is not replaced": lambda: bloomery.open(text, "n", 10, 0.1),
            "save over text": lambda: BloomFilter(9, 0.1).save(text),
            "a scheme": lambda: bloomery.open("http://example.org/f"), "no key": lambda: bloomery.open("redis://127.0.0.1"),
            "no server": lambda: bloomery.open("redis+unix:///none.sock?key=k"),
            "a device": lambda: bloomery.open("/dev/null"),
        }, Error, OSError)
        self.refuses({"NUL": lambda: bloomery.open("a\0b"), "NUL to save": lambda: BloomFilter(9, 0.1).save("a\0b"),
                      "no path": lambda: bloomery.open("")}, ValueError, Error)
        self.refuses({"a number": lambda: bloomery.open(7), "nothing": lambda: bloomery.open(None)}, TypeError)
        self.assertEqual(text.read_bytes(), b"text\n" * 5000)
        if os.geteuid() != 0:
            secret = self.file("secret", self.whole)
            secret.chmod(0)
            self.refuses({"no permission": lambda: bloomery.open(secret)}, Error, OSError)

    def test_what_a_kind_cannot(self):
        plain, counting, window = BloomFilter(100, 0.1), CountingFilter(100, 0.1), WindowFilter(3600, 100, 0.1)
        self.refuses({
            "another plan": lambda: plain | BloomFilter(200, 0.1), "another seed": lambda: plain | BloomFilter(100, 0.1, seed=1),
            "another kind": lambda: plain | counting, "& of another": lambda: plain & counting,
            "a frozen one": lambda: plain | FrozenFilter(["a"], 0.1), "add to frozen": lambda: FrozenFilter(["a"], 0.1).add("b"),
        }, Error)
        self.refuses({"| of windows": lambda: window | window, "| of a set": lambda: plain | {1}, "no remove": lambda: plain.remove("a")},
                     TypeError, Error, AttributeError)


if __name__ == "__main__":
    unittest.main()
