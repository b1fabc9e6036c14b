"""Whole filters by their locations: copied, merged, checked; and the bits of PHP classes."""

import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest

import bloomery
import server
from bloomery import Error

PHP = {"php_hashes": "BKDR,SDBM,JS"}


class Locations(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def made(self, name, *keys, **more):
        with bloomery.open(self.scratch / name, "x", 1000, 0.001, **more) as f:
            f.update(keys)
        return self.scratch / name

    def code(self, call, *words, **more):
        with self.assertRaises(Error) as caught:
            call(*words, **more)
        self.assertTrue(str(caught.exception))
        return caught.exception.code

    @unittest.skipUnless(os.environ["BLOOMERY_HAS_REDIS"] == "1", "the library has no client of Redis")
    def test_opening_a_filter_counts_none_of_its_bits(self):
        path = server.start(self)
        at = f"redis+unix://{path}?key="
        bloomery.open(at + "one", "x", 1000, 0.001).add("x")
        bloomery.open(at + "two", "x", 1000, 0.001, rotating=True).add("x")
        said = subprocess.run(["redis-cli", "-s", path, "INFO", "commandstats"], check=True, capture_output=True, text=True)
        self.assertIn("cmdstat_bitfield:", said.stdout)
        self.assertNotIn("cmdstat_bitcount:", said.stdout)

    def test_convert_copies_and_replaces_only_if_asked(self):
        source, out = self.made("a.bloom", "a"), str(self.scratch / "out.bloom")
        self.assertIsNone(bloomery.convert(source, out))
        self.assertEqual(bloomery.open(out), bloomery.open(source))
        other = self.made("b.bloom", "b")
        self.assertEqual(self.code(bloomery.convert, other, out), "exists")
        self.assertIn("a", bloomery.open(out))
        bloomery.convert(other, out, replace=True)
        self.assertEqual(bloomery.open(out), bloomery.open(other))
        self.assertEqual(self.code(bloomery.convert, self.made("c", kind="counting"), self.scratch / "d"), "wrong_kind")
        self.assertEqual(self.code(bloomery.convert, self.scratch / "none", out, replace=True), "missing")

    def test_merge_has_every_key(self):
        sources = [self.made(f"{key}.bloom", key) for key in "abc"]
        out = self.scratch / "out.bloom"
        self.assertIsNone(bloomery.merge(sources[:2], out))
        self.assertEqual([key in bloomery.open(out) for key in "abc"], [True, True, False])
        self.assertEqual(self.code(bloomery.merge, sources, out), "exists")
        bloomery.merge((str(source) for source in sources), out, replace=True)
        self.assertEqual([key in bloomery.open(out) for key in "abcd"], [True, True, True, False])
        self.assertEqual(self.code(bloomery.merge, [], out, replace=True), "invalid_argument")
        self.assertEqual(self.code(bloomery.merge, [sources[0], self.made("other", seed=5)], out, replace=True), "mismatch")
        for mistake, error in (("a.bloom", TypeError), (sources[0], TypeError), (7, TypeError), ([7], TypeError),
                               (["a\0b"], ValueError)):
            self.assertRaises(error, bloomery.merge, mistake, out)
        self.assertEqual(len(bloomery.open(out)), 3)

    def test_verify_tells_damage_from_a_writer(self):
        path = self.made("a.bloom", "a")
        self.assertIs(bloomery.verify(path), True)
        with bloomery.open(path, "w") as f:
            f.add("b")
            self.assertIs(bloomery.verify(str(path)), False)
        with path.open("r+b") as file:
            file.seek(8192)
            byte = file.read(1)[0]
            file.seek(8192)
            file.write(bytes([byte ^ 1]))
        with self.assertRaisesRegex(Error, "a.bloom: 1 of 1 chunk of the bits is damaged"):
            bloomery.verify(path)
        self.assertEqual(self.code(bloomery.verify, path), "corrupt")

    def test_bits_of_a_php_class_in_a_file(self):
        path, words = self.scratch / "bits", {"php_bits": 100_000, "php_items": 1000}
        with bloomery.open(path, "x", **words) as f:
            self.assertTrue(f.add("a"))
        f = bloomery.open(path, **words)
        self.assertEqual(["a" in f, "b" in f], [True, False])
        self.assertRegex(repr(f), "^<Filter '[^']*bits': 12,500 bytes; now about 1 keys at ")
        self.assertIs(bloomery.verify(path, **words), True)
        bloomery.convert(path, self.scratch / "copy", **words)
        self.assertEqual(*(bits.read_bytes().rstrip(b"\0") for bits in (self.scratch / "copy", path)))  # as Redis ends them
        self.assertEqual(self.code(bloomery.open, path), "not_a_filter")
        self.assertRaisesRegex(TypeError, "PHP class are not pickled", pickle.dumps, f)
        self.assertEqual(self.code(bloomery.open, path, php_bits=100_000), "invalid_argument")
        self.assertEqual(self.code(bloomery.open, path, php_hashes="MD5"), "invalid_argument")
        self.assertRaises(TypeError, bloomery.open, path, php_hashes=["BKDR"])
        self.assertRaises(ValueError, bloomery.open, path, php_bits=0, php_items=1)

    @unittest.skipUnless(os.environ["BLOOMERY_HAS_REDIS"] == "1", "the library has no client of Redis")
    def test_from_place_to_place(self):
        at = f"redis+unix://{server.start(self)}?timeout=60&key="
        bloomery.convert(self.made("a.bloom", "a"), at + "a")
        bloomery.convert(self.made("b.bloom", "b"), at + "b")
        bloomery.merge([at + "a", at + "b", self.made("c.bloom", "c")], self.scratch / "out.bloom")
        self.assertEqual([key in bloomery.open(self.scratch / "out.bloom") for key in "abcd"], [True, True, True, False])
        self.assertIs(bloomery.verify(at + "a"), True)
        with bloomery.open(at + "bucket", "x", **PHP) as bucket:
            self.assertEqual([bucket.add("a comment"), bucket.add("a comment")], [True, False])
        bloomery.convert(at + "bucket", self.scratch / "bucket.bits", **PHP)
        self.assertIn("a comment", bloomery.open(self.scratch / "bucket.bits", **PHP))
        self.assertEqual(self.code(bloomery.convert, at + "bucket", self.scratch / "bucket.bloom"), "not_a_filter")
        for found in (True, False):
            self.assertIs(bloomery.rotate(at + "bucket", **PHP), True)
            with bloomery.open(at + "bucket", "w", rotating=True, **PHP) as bucket:
                self.assertIs("a comment" in bucket, found)
                bucket.add("another")


if __name__ == "__main__":
    unittest.main()
