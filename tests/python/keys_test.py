"""What a key is, and keys in bulk: lists, generators, numpy arrays, strings of Arrow."""

import array
import collections
import ctypes
import enum
import os
import pathlib
import pickle
import signal
import subprocess
import tempfile
import threading
import tracemalloc
import unittest

import numpy

import arrow
from bloomery import BloomFilter, CountingFilter, Error, WindowFilter

# An end of a stream that comes when it has been answered, or after 20 seconds is an error.
WAITS = """
#include <poll.h>
#include <unistd.h>
int asks, hears;
int get_next(void *stream, long *array) {
  struct pollfd heard = {hears, POLLIN, 0};
  return write(asks, "?", 1) != 1 || poll(&heard, 1, 20000) != 1;
}
"""

# Many arrays of the same integers, with a signal during the third.
ENDLESS = """
#include <signal.h>
#include <stdint.h>
struct array { int64_t length, nulls, offset, buffers, children; const void **at; void *c, *d; void (*release)(struct array *); };
int left = 10000;
static int64_t keys[512];
static const void *buffers[2] = {0, keys};
static void release(struct array *array) { array->release = 0; }
int get_next(void *stream, struct array *array) {
  if (left == 9998) raise(SIGALRM);
  if (left-- != 0) *array = (struct array){512, 0, 0, 2, 0, buffers, 0, 0, release};
  return 0;
}
"""


def compiled(text):
    with tempfile.TemporaryDirectory() as scratch:
        source, library = pathlib.Path(scratch) / "it.c", f"{scratch}/it.so"
        source.write_text(text)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        return ctypes.CDLL(library)


def new():
    return BloomFilter(100_000, 1e-6)


class Keys(unittest.TestCase):
    def test_are_text_bytes_and_integers(self):
        f = new()
        for key in ("text", "\u00e9\u4e2d\U0001f600", "", "a\0b", b"bytes\xff", bytearray(b"array"), memoryview(b"view"), 0, -1,
                    2**63 - 1, -2**63, 2**64 - 2, numpy.array([1, 2], "u1"), numpy.int32(70), numpy.uint64(2**64 - 3),
                    pickle.PickleBuffer(b"pickled")):
            self.assertTrue(f.add(key), key)
            self.assertIn(key, f)
        self.assertIn(b"text", f)
        self.assertIn("\u00e9\u4e2d\U0001f600".encode(), f)
        self.assertIn(enum.IntEnum("E", {"ZERO": 0}).ZERO, f)
        self.assertIn(-1, f)
        self.assertIn(70, f)
        self.assertIn(2**64 - 1, f)  # the same 64 bits as -1
        for absent in ("tex", 1, "0", b"a\0c"):
            self.assertNotIn(absent, f)

    def test_are_nothing_else(self):
        f = new()
        for key in (None, 1.5, True, (1, 2), ["a"], object(), 2**64, -2**63 - 1, numpy.float64(1), numpy.zeros(2),
                    numpy.bool_(True), memoryview(b"abcdefgh").cast("Q"), numpy.datetime64("2026-11-26"),
                    numpy.timedelta64(1, "s")):
            with self.assertRaises(TypeError, msg=key):
                f.add(key)
            with self.assertRaises(TypeError, msg=key):
                key in f
            with self.assertRaises(TypeError, msg=key):
                f.insert_many(["fine", key])
        with self.assertRaises(UnicodeEncodeError):
            f.add("\ud800")
        with self.assertRaises(BufferError):
            f.add(memoryview(b"abcdef")[::2])


class Bulk(unittest.TestCase):
    def assert_answers(self, f, keys, expected):
        for out in (numpy.empty(len(expected), bool), bytearray(len(expected)), array.array("b", [7] * len(expected))):
            self.assertEqual(f.contains_many(keys, out), sum(expected))
            self.assertEqual([bool(answer) for answer in out], expected)
        self.assertEqual(f.contains_many(keys), sum(expected))

    def test_takes_any_iterable(self):
        f = new()
        # More than two parts, of keys of all types in any order.
        keys = [str(i) if i % 3 else i if i % 2 else b"%d!" % i for i in range(10_000)]
        fresh = bytearray(len(keys) + 5)
        self.assertEqual(f.insert_many((key for key in keys[:6_000]), fresh), 6_000)
        self.assertEqual(fresh, b"\1" * 6_000 + b"\0" * 4_005)
        self.assert_answers(f, keys, [i < 6_000 for i in range(10_000)])
        for key in keys[:6_000]:
            self.assertIn(key, f)
        self.assertEqual(f.insert_many(set(keys)), 4_000)
        self.assertEqual(f.insert_many([]), 0)
        self.assertEqual(f.insert_many({"a": 1, "b": 2}), 2)

    def test_takes_keys_that_come_in_one_buffer(self):
        plain = [i.to_bytes(2, "big") for i in range(3000)]

        def filled(form):
            buffer = bytearray(2)
            for key in plain:
                buffer[:] = key
                yield form(buffer)

        for form in (lambda same: same, memoryview):
            f = new()
            self.assertEqual(f.insert_many(filled(form)), len(plain))
            self.assertEqual(f.contains_many(plain), len(plain))
            self.assertEqual(f.contains_many(filled(form)), len(plain))

    def test_a_window_of_insertions_forgets_by_the_order_of_text_and_integers(self):
        keys = [f"key{i}" if i % 7 in (0, 3, 4) else i for i in range(3000)]
        many, single = (WindowFilter(700, fpr=1e-6, window_unit="insertions", seed=1) for _ in range(2))
        out = bytearray(len(keys))
        self.assertEqual(many.insert_many(iter(keys), out=out), sum(out))
        self.assertEqual(list(out), [single.add(key) for key in keys])
        self.assertEqual(bytes(many), bytes(single))
        self.assertEqual(many.contains_many(keys[-700:]), 700)

    def test_takes_long_views_of_one_buffer_in_little_memory(self):
        view, f = memoryview(bytes(1 << 16)), new()
        answers = bytearray(2048)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertEqual(f.insert_many((view[i:] for i in range(2048)), answers), sum(answers))
        self.assertEqual(f.contains_many(view[i:] for i in range(2048)), 2048)
        self.assertLess(tracemalloc.get_traced_memory()[1], 1 << 23)  # copies of all would take 16 times as much

    def test_takes_numpy(self):
        for dtype in ("u8", "i8"):
            f = new()
            numbers = numpy.arange(-500 if dtype == "i8" else 0, 5_000, dtype=dtype)
            self.assertEqual(f.insert_many(numbers), len(numbers))
            self.assertTrue(all(int(n) in f for n in numbers))
            self.assert_answers(f, numpy.concatenate([numbers[:3], numpy.array([9_999], dtype)]), [True] * 3 + [False])
        f = new()
        prints = numpy.random.default_rng(1).integers(0, 256, (1_000, 16), "u1")
        self.assertEqual(f.insert_many(prints), 1_000)
        self.assertIn(prints[7].tobytes(), f)
        self.assertEqual(f.contains_many(numpy.frombuffer(prints.tobytes(), "S16")), 1_000)
        self.assertEqual(f.insert_many(array.array("q", [1, 2, 3])), 3)
        self.assertEqual(f.insert_many((ctypes.c_uint64 * 3)(2, 3, 4)), 1)
        self.assertEqual(f.insert_many(numpy.empty(0, "u8")), 0)

    def test_takes_texts_of_numpy(self):
        for words in (numpy.array(["one", "\u00e9", "three"]), numpy.array(["one", "\u00e9", b"three", 4], object)[::-1]):
            f = new()
            self.assertEqual(f.insert_many(words), len(words))
            self.assert_answers(f, numpy.array(["one", "none"]), [True, False])
            self.assertTrue("\u00e9" in f and "three" in f and 0 not in f)
            with self.assertRaisesRegex(TypeError, "float"):
                f.insert_many(numpy.array(["five", 1.5], object))

    def test_refuses_what_is_no_keys(self):
        f = new()
        for keys in ("text", b"bytes", bytearray(b"b"), 7, None, numpy.zeros(3), numpy.zeros(3, "i4"), numpy.zeros((2, 2), "i8")):
            with self.assertRaises(TypeError, msg=keys):
                f.insert_many(keys)
        for apart in (numpy.arange(10)[::2], numpy.asfortranarray(numpy.zeros((3, 4), "u1"))):
            with self.assertRaisesRegex(ValueError, "copy"):
                f.insert_many(apart)
        class Table(dict):  # like pandas' DataFrame, whose items are the names of its columns
            iterrows = dict.items

        table = Table(url=["a", "b"])
        with self.assertRaisesRegex(TypeError, "one column"):
            f.insert_many(table)
        with self.assertRaisesRegex(TypeError, "one column"):
            f.contains_many(table)
        self.assertEqual(new().insert_many(collections.namedtuple("Page", "columns lines")("a", "b")), 2)
        for masked in (numpy.ma.array([1, 2, 3], mask=[0, 1, 0]), numpy.ma.array(["a", "b"], mask=[0, 1])):
            with self.assertRaisesRegex(TypeError, "masked"):
                f.insert_many(masked)
        # Rows without bytes take no memory, however many there are.
        for other in (numpy.arange(3, dtype=">u8"), numpy.zeros((2**40, 0), "u1")):
            with self.assertRaisesRegex(TypeError, "format"):
                f.insert_many(other)
        for narrow in ("i1", "u2", "i2", "u4", "i4"):
            with self.assertRaisesRegex(TypeError, r"astype\('int64'\)"):
                f.insert_many(numpy.zeros(3, narrow))
        for no_integers in (numpy.zeros(3), memoryview(b"bytes"), numpy.zeros((2, 2), "i4"), numpy.zeros(3, ">u8")):
            with self.assertRaisesRegex(TypeError, "dimensions$"):
                f.insert_many(no_integers)
        for out in (numpy.empty(3, "i4"), b"readonly", "text", 7):
            with self.assertRaises((TypeError, BufferError), msg=out):
                f.contains_many([1, 2, 3], out)
        with self.assertRaises(ValueError):
            f.contains_many([1, 2, 3], bytearray(2))
        self.assertEqual(len(f), 0)

        def fails():
            yield "first"
            raise KeyError("on purpose")

        with self.assertRaises(KeyError):
            f.insert_many(fails())

    def test_removes(self):
        f = CountingFilter(10_000, 1e-4)
        f.insert_many(range(5_000))
        gone = bytearray(3)
        self.assertEqual(f.remove_many(numpy.arange(2_000)), 2_000)
        self.assertEqual(f.remove_many([2_000, 2_001, "never"], gone), 2)
        self.assertEqual(gone, b"\1\1\0")
        self.assertEqual(f.contains_many(range(2_002, 5_000)), 2_998)


class Arrow(unittest.TestCase):
    WORDS = ["one", "two", None, "", "five", "six", None, "eight", "\u4e5d"]

    def test_takes_strings(self):
        for large in (False, True):
            for binary in (False, True):
                for offset in (0, 1, 3):
                    for way in (arrow.Array, lambda words: arrow.Stream([words, words])):
                        f = new()
                        words = arrow.strings(self.WORDS, large=large, binary=binary, offset=offset)
                        there = self.WORDS[offset:]
                        given = way(words)
                        times = 1 if isinstance(given, arrow.Array) else 2
                        out = bytearray(b"\7" * len(there) * times)
                        self.assertEqual(f.insert_many(given, out), sum(word is not None for word in there))
                        self.assertEqual(out[:len(there)], bytes(word is not None for word in there))
                        for word in self.WORDS:
                            if word is not None:
                                self.assertEqual(word in f, word in there)
                        self.assertTrue(words.released())

    def test_takes_views(self):
        """More than are looked up at once; some are within a view, some in either buffer."""
        words = [None if i % 7 == 0 else f"{i}" + "." * (i % 29) for i in range(3000)]
        for binary in (False, True):
            for offset in (0, 5):
                for way in (arrow.Array, lambda values: arrow.Stream([values])):
                    f, there = new(), words[offset:]
                    f.insert_many(way(arrow.views(words, binary, offset)))
                    self.assertEqual(f.contains_many([word for word in there if word]), sum(map(bool, there)))
                    out = bytearray(b"\7" * len(there))
                    self.assertEqual(f.contains_many(way(arrow.views(words, binary, offset)), out), sum(out))
                    self.assertEqual(out, bytes(word is not None for word in there))
                    self.assertFalse("never" in f)

    def test_refuses_views_that_lead_out_of_their_buffers(self):
        for shift in (1, 1 << 20, -1 << 20):
            with self.assertRaisesRegex(ValueError, "contradicts"):
                new().insert_many(arrow.Array(arrow.views(["long enough for a buffer"], False, 0, shift)))
        for at, value in ((0, -1), (8, 2), (8, -1)):
            values = arrow.views(["long enough for a buffer"], False, 0)
            ctypes.c_int32.from_buffer(values.buffers[1], at).value = value
            with self.assertRaisesRegex(ValueError, "contradicts"):
                new().insert_many(arrow.Array(values))
        few = arrow.Values("vu", [None, (ctypes.c_char * 16)()], 1, 0, 0)
        with self.assertRaisesRegex(ValueError, "contradicts"):
            new().insert_many(arrow.Array(few))

    def test_takes_integers_and_fixed_width(self):
        f = new()
        self.assertEqual(f.insert_many(arrow.Array(arrow.integers([5, None, -7], offset=0))), 2)
        self.assertTrue(5 in f and -7 in f and 0 not in f)
        self.assertEqual(f.insert_many(arrow.Array(arrow.fixed([b"abcd", b"efgh", None], offset=1))), 1)
        self.assertTrue(b"efgh" in f and b"abcd" not in f)

    def test_refuses_the_same_of_a_stream(self):
        """A producer in Python would swallow an exception that it meets when it is told to let go."""
        for values, kind in ((arrow.strings([], False, False, 0), None),
                             (arrow.Values("g", [None, (ctypes.c_double * 2)()], 2, 0, 0), TypeError),
                             (arrow.Values("u", [None, None], 2, 0, 0), ValueError),
                             (arrow.Values("u", [None, (ctypes.c_int32 * 3)(5, 1, 2), arrow._buffer(b"abcdef")], 2, 0, 0), Error)):
            f = new()
            if kind is None:
                self.assertEqual(f.insert_many(arrow.Stream([values])), 0)
                continue
            with self.assertRaises(kind):
                f.insert_many(arrow.Stream([values]))
            self.assertTrue(values.released())
        for failing, text in (("get_schema", "no schema"), ("get_next", "no array")):
            stream = arrow.Stream([arrow.strings(["a"], False, False, 0)], failing, text)
            with self.assertRaisesRegex(ValueError, text):
                new().insert_many(stream)

    def test_gives_the_gil_away_to_a_stream(self):
        """Its producer waits, without Python, for a thread that needs Python."""
        there, back = os.pipe(), os.pipe()
        waits = compiled(WAITS)
        ctypes.c_int.in_dll(waits, "asks").value, ctypes.c_int.in_dll(waits, "hears").value = there[1], back[0]
        answers = threading.Thread(target=lambda: os.write(back[1], os.read(there[0], 1)))
        answers.start()
        self.assertEqual(new().insert_many(self.stream_of(waits)), 0)
        answers.join()
        for end in there + back:
            os.close(end)

    def test_an_interrupt_ends_a_stream(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        endless = compiled(ENDLESS)
        keys = self.stream_of(endless)
        with self.assertRaises(KeyboardInterrupt):
            new().insert_many(keys)
        self.assertEqual(ctypes.c_int.in_dll(endless, "left").value, 9_997)

    @staticmethod
    def stream_of(library):
        """A stream of integers whose get_next is that of a library, without Python."""
        stream = arrow.Stream([arrow.integers([1], offset=0)])
        capsule = stream.__arrow_c_stream__()
        stream.kept.get_next = ctypes.cast(library.get_next, type(stream.kept.get_next))

        class Given:
            kept = stream

            def __arrow_c_stream__(self, requested_schema=None):
                return capsule

        return Given()

    def test_refuses_what_is_consumed_or_has_no_buffers(self):
        f = new()
        stream = arrow.Stream([arrow.strings(["a"], large=False, binary=False, offset=0)])
        capsule = stream.__arrow_c_stream__()
        stream.kept.release = type(stream.kept.release)()

        class Again:
            def __arrow_c_stream__(self, requested_schema=None):
                return capsule

        with self.assertRaisesRegex(ValueError, "consumed"):
            f.insert_many(Again())
        for format in ("l", "w:4"):
            with self.assertRaises(ValueError):
                f.insert_many(arrow.Array(arrow.Values(format, [None, None], 2, 0, 0)))
        for format in ("w:0", "w:-1", "w:", "w:99999999999"):
            with self.assertRaises(TypeError):
                f.insert_many(arrow.Array(arrow.Values(format, [None, None], 0, 0, 0)))
        numbers = arrow.integers([0, 1], offset=0)
        numbers.dictionary = arrow.strings(["x", "y"], large=False, binary=False, offset=0)
        with self.assertRaisesRegex(TypeError, "dictionary"):
            f.insert_many(arrow.Array(numbers))
        self.assertEqual(len(f), 0)

    def test_refuses_other_types(self):
        with self.assertRaisesRegex(TypeError, "format 'g'"):
            new().insert_many(arrow.Array(arrow.Values("g", [None, (ctypes.c_double * 2)()], 2, 0, 0)))
        for format in ("+s", "+l"):
            with self.assertRaisesRegex(TypeError, "one column"):
                new().insert_many(arrow.Array(arrow.Values(format, [None], 2, 0, 0)))
        with self.assertRaises(ValueError):
            new().insert_many(arrow.Array(arrow.Values("u", [None, None], 2, 0, 0)))


if __name__ == "__main__":
    unittest.main()
