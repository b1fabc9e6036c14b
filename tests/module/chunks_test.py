#!/usr/bin/env python3
"""A chunk takes nothing away from a filter: neither from one that is in use, nor from one that is being loaded.

usage: chunks_test.py MODULE

Random chunks are held against a list of bytes.
"""

import random
import re
import sys

from expect import says
from hostile_test import ITEMS, SEED, cuckoo_header
from server import ReplyError, Server

KINDS = (["LAYOUT", "NATIVE"], ["LAYOUT", "REDISBLOOM"], ["COUNTING"], ["WINDOW", 900, "SECONDS"],
         ["WINDOW", 900, "ITEMS", "SLICES", 3], ["KEYED"], ["EXPANSION", 2])
NOT_LOADING = "ERR the filter is not being loaded"
DIFFERS = "ERR the chunk differs from what was loaded before"


def pieces_of(server, key):
    """The header of a filter, and its bits in pieces of 100 bytes: the iterator of each with its bytes."""
    header, pieces, iterator = server.ask("BF.SCANDUMP", key, 0)[1], [], 1
    while True:
        start = iterator
        iterator, data = server.ask("BF.SCANDUMP", key, iterator)
        if iterator == 0:
            return header, pieces
        pieces += [(start + min(i + 100, len(data)), data[i:i + 100]) for i in range(0, len(data), 100)]


def load(server, key, pieces):
    for iterator, data in pieces:
        if server.ask("BF.LOADCHUNK", key, iterator, data) != "OK":
            raise AssertionError(f"{key}: a chunk is refused")


def has_all(server, key, items):
    if not all(server.ask("BF.MEXISTS", key, *items)):
        raise AssertionError(f"items of {key} are missing")


def overwritten(server):
    for words in KINDS:
        capacity = 20 if "EXPANSION" in words else 500
        server.ask("BF.RESERVE", "k", 0.001, capacity, *words)
        server.ask("BF.MADD", "k", *ITEMS)
        header, pieces = pieces_of(server, "k")
        digest = server.ask("DEBUG", "DIGEST-VALUE", "k")
        # A filter that is in use, made by commands or loaded.
        load(server, "l", [(1, header), *pieces])
        for key in ("k", "l"):
            for iterator, data in pieces:
                for other in (bytes(len(data)), b"\xff" * len(data), data[:-1] + bytes([data[-1] ^ 1])):
                    if other != data:
                        says(server, NOT_LOADING, "BF.LOADCHUNK", key, iterator, other)
            says(server, NOT_LOADING, "EVAL", "return redis.pcall(unpack(ARGV)).err", 0,
                    "BF.LOADCHUNK", key, pieces[-1][0], b"\1" * len(pieces[-1][1]))
            # A client that did not get the last reply sends the chunk again.
            load(server, key, pieces[-1:])
            if server.ask("DEBUG", "DIGEST-VALUE", key) != digest:
                raise AssertionError(f"{words}: chunks changed {key}")
            has_all(server, key, ITEMS)
            server.ask("BF.ADD", key, "more")
            has_all(server, key, ["more", *ITEMS])
        server.ask("DEL", "k", "l")

        # One that is being loaded: what has come stays; so does what is added, and ends the loading.
        half = len(pieces) // 2
        load(server, "l", [(1, header), *pieces[:half]])
        for iterator, data in pieces[:half]:
            if data != bytes(len(data)):
                says(server, DIFFERS, "BF.LOADCHUNK", "l", iterator, bytes(len(data)))
        load(server, "l", pieces[half - 1:half])
        server.ask("COPY", "l", "copied")
        says(server, NOT_LOADING, "BF.LOADCHUNK", "copied", pieces[-1][0], b"\1" * len(pieces[-1][1]))
        payload = server.ask("DUMP", "l")
        added = [f"other:{i}" for i in range(200)]
        server.ask("BF.MADD", "l", *added)
        has_all(server, "l", added)
        for iterator, data in pieces[half:]:
            if data != bytes(len(data)):
                says(server, NOT_LOADING, "BF.LOADCHUNK", "l", iterator, data)
        has_all(server, "l", added)

        # The loading goes on after a restart or on another node; RedisBloom's payloads have no place for that.
        server.ask("RESTORE", "restored", 0, payload)
        server.ask("DEBUG", "RELOAD")
        if "REDISBLOOM" in words:
            says(server, NOT_LOADING, "BF.LOADCHUNK", "restored", *pieces[half])
        else:
            load(server, "restored", pieces[half:])
            if server.ask("DEBUG", "DIGEST-VALUE", "restored") != digest:
                raise AssertionError(f"{words}: half of it was lost")
            has_all(server, "restored", ITEMS)
        server.ask("FLUSHALL", "SYNC")

        for change in (["BF.CLEAR", "l"], ["BF.DEL", "l", "item:1"], ["BF.DEL", "l", "absent"],
                       ["BF.MERGE", "l", "l"], ["BF.ADVANCE", "l", 1 + 2**40]):
            server.ask("CONFIG", "SET", "bf.client-time", "yes")
            load(server, "l", [(1, header), *pieces[:-1]])
            try:
                taken = server.ask(*change) in ("OK", 1)
            except ReplyError:
                taken = False
            if taken:
                says(server, NOT_LOADING, "BF.LOADCHUNK", "l", pieces[0][0], b"\1" * len(pieces[0][1]))
            else:
                load(server, "l", pieces[-1:])
            server.ask("DEL", "l")


class Chunks:
    """What a filter that is being loaded must take, byte by byte."""

    def __init__(self, sizes, cuckoo):
        self.ends = [sum(sizes[:i + 1]) for i in range(len(sizes))]
        self.bytes = bytearray(self.ends[-1])
        self.cuckoo = cuckoo
        self.loading = True

    def take(self, iterator, chunk):
        end = iterator - 1
        begin = end - len(chunk)
        if begin < 0 or begin >= len(self.bytes) or (self.cuckoo and (iterator == 1 or not chunk)):
            return False
        if end > next(of_array for of_array in self.ends if begin < of_array):
            return False
        before = self.bytes[begin:end]
        if before != chunk:
            if not self.loading or any(old not in (0, new) for old, new in zip(before, chunk)):
                return False
            self.bytes[begin:end] = chunk
        self.loading = self.loading and end != len(self.bytes)
        return True

    def drawn(self, draw):
        """(iterator, chunk): often one that fits, or nearly, or what is there already."""
        begin = draw.choice((0, draw.randrange(len(self.bytes)), *self.ends)) + draw.choice((0, 0, 0, -1, 1))
        size = draw.choice((0, 1, draw.randrange(64), draw.randrange(len(self.bytes)),
                            min(end - begin for end in (*self.ends, 2**62) if end >= begin)))
        begin, size = max(begin, 0), min(size, 2 * len(self.bytes))
        there = bytes(self.bytes[begin:begin + size]).ljust(size, b"\0")
        chunk = draw.choice((there, bytes(size), draw.randbytes(size),
                             bytes(old or draw.choice((0, 0, 7)) for old in there)))
        return draw.choice((begin + size + 1,) * 20 + (0, -1, 1, 2**62, -2**63)), chunk


def loads_random_chunks(server, family, header, sizes, draw):
    """A filter of this header takes what a list of bytes takes, and has it then."""
    taken = 0
    for _ in range(4):
        server.ask("DEL", "k")
        server.ask(f"{family}.LOADCHUNK", "k", 1, header)
        chunks = Chunks(sizes, family == "CF")
        for _ in range(60):
            iterator, chunk = chunks.drawn(draw)
            said = server.ask_all([[f"{family}.LOADCHUNK", "k", iterator, chunk]])[0]
            if (said == "OK") != chunks.take(iterator, chunk):
                raise AssertionError(f"{family}, arrays of {sizes}: {said} to {len(chunk)} bytes up to {iterator}")
            taken += said == "OK"
        dumped, at = b"", 1
        while at:
            at, part = server.ask(f"{family}.SCANDUMP", "k", at)
            dumped += part or b""
        if dumped != chunks.bytes:
            raise AssertionError(f"{family}, arrays of {sizes}: has other bytes than were taken")
    return taken


def chunked(server):
    draw = random.Random(SEED)
    taken = 0
    for words in KINDS:
        server.ask("BF.RESERVE", "made", 0.01, 20 if "EXPANSION" in words else 200, *words)
        server.ask("BF.MADD", "made", *ITEMS[:200])
        sizes = [int(size) for text in server.ask("BF.DEBUG", "made") for size in re.findall(rb"bytes:(\d+)", text)]
        taken += loads_random_chunks(server, "BF", server.ask("BF.SCANDUMP", "made", 0)[1], sizes, draw)
        server.ask("FLUSHALL", "SYNC")
    for header, sizes in ((cuckoo_header(items=9, buckets=256), [512]),
                          (cuckoo_header(items=9, buckets=64, filters=3, expansion=2), [128, 256, 512]),
                          (cuckoo_header(items=9, buckets=16, filters=5, bucket_size=3), [48] * 5)):
        taken += loads_random_chunks(server, "CF", header, sizes, draw)
    if taken < 200:
        raise AssertionError(f"{taken} chunks taken: nothing was tried")


def main(module):
    with Server(module) as server:
        overwritten(server)
        chunked(server)


if __name__ == "__main__":
    main(sys.argv[1])
