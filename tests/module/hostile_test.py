#!/usr/bin/env python3
"""Hostile bytes get an error reply: no crash, no leak, no large allocation.

Nor does a chunk take away what is in a filter.

usage: hostile_test.py MODULE

Takes RESTORE payloads and headers for BF.LOADCHUNK and CF.LOADCHUNK of every kind, with each byte changed,
cut to each length, and with fields that lie about sizes; then runs commands on whatever was taken. Watches the
server's memory. (tests/module/rdb_test.cpp does the same, thoroughly, without a server.) Random chunks are held
against a list of bytes, and large claims against the memory that the server has in use.
"""

import os
import pathlib
import random
import re
import struct
import sys

from server import ReplyError, Server, request

SEED = 7
MAXMEMORY = 2**22
CHANGES = range(1, 256) if os.environ.get("BLOOMERY_NIGHTLY") else (1, 0xFF)


def ask_all(server, commands):
    """Many commands at once; their replies."""
    replies = []
    for start in range(0, len(commands), 200):
        part = commands[start:start + 200]
        server.connection.socket.sendall(b"".join(request(*words) for words in part))
        replies += [server.connection.read() for _ in part]
    return replies


def memory(server):
    info = server.ask("INFO", "memory").decode().splitlines()
    fields = dict(line.split(":", 1) for line in info if ":" in line)
    return int(fields["used_memory"]), int(fields["used_memory_peak"])


def mutations(whole):
    for i in range(len(whole)):
        for change in CHANGES:
            yield whole[:i] + bytes([whole[i] ^ change]) + whole[i + 1:]
    for size in range(len(whole)):
        yield whole[:size]
    draw = random.Random(SEED)
    for _ in range(200):
        changed = bytearray(whole)
        for _ in range(draw.randrange(2, 9)):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        yield bytes(changed)


def use_whatever_was_taken(server):
    commands = []
    for key in server.ask("KEYS", "*"):
        commands += [["BF.INFO", key], ["BF.DEBUG", key], ["BF.CARD", key],
                     ["BF.MEXISTS", key, "a", "b", "c"], ["BF.MADD", key, *range(40)],
                     ["BF.SCANDUMP", key, 0], ["BF.SCANDUMP", key, 1], ["DUMP", key],
                     ["COPY", key, "copy"], ["DEBUG", "DIGEST-VALUE", key],
                     ["BF.MDEL", key, 1, 2], ["BF.CLEAR", key], ["DEL", key, "copy"]]
    ask_all(server, commands)


def use_whatever_cuckoo_was_taken(server):
    commands = []
    for key in server.ask("KEYS", "*"):
        commands += [["CF.INFO", key], ["CF.DEBUG", key], ["CF.MEXISTS", key, "a", "b", "c"],
                     ["CF.COUNT", key, "a"], ["CF.INSERT", key, "ITEMS", *range(40)],
                     ["CF.INSERTNX", key, "ITEMS", *range(30, 50)], ["CF.DEL", key, "1"], ["CF.DEL", key, "a"],
                     ["CF.COMPACT", key], ["CF.SCANDUMP", key, 0], ["CF.SCANDUMP", key, 1], ["DUMP", key],
                     ["COPY", key, "copy"], ["DEBUG", "DIGEST-VALUE", key], ["CF.LOADCHUNK", key, 9, b"\1" * 8],
                     ["DEL", key, "copy"]]
    ask_all(server, commands)


def redisbloom_header(sub_filters, size=0, options=5, growth=2):
    packed = b"".join(struct.pack("<QQQddIQB", *sub_filter) for sub_filter in sub_filters)
    return struct.pack("<QIII", size, len(sub_filters), options, growth) + packed


def lying_headers():
    """What RedisBloom's own faults looked like: sizes that contradict each other."""
    good = (8, 64, 0, 0.005, 11.027753, 8, 5, 0)
    for place, values in enumerate((
            (0, 1, 7, 2**32, 2**60, 2**64 - 8), (0, 65, 128, 2**35, 2**63, 2**64 - 1),
            (1, 2**64 - 1), (0.0, -1.0, 1.0, 5.0, float("nan"), float("inf")),
            (0.0, -3.0, 1e300, float("nan"), float("inf")), (0, 7, 9, 2**31, 2**32 - 1),
            (), (7, 63, 64, 255))):
        for value in values:
            yield redisbloom_header([good[:place] + (value,) + good[place + 1:]])
    # Sizes that agree, but that no machine has.
    for bits in (2**40, 2**50, 2**62):
        yield redisbloom_header([(bits // 8, bits, 0, 0.005, 11.027753, 8, 5, 0)])
        yield redisbloom_header([(2**33, 2**36, 0, 0.005, 11.027753, 8, 5, 0)] * 1000)
    ours = b"BLOOMERY" + struct.pack("<IIQIII", 1, 1, 0, 2, 0, 1)
    for bits in (0, 511, 2**40, 2**41, 2**63):
        yield ours + struct.pack("<QQQdII", bits, 100, 0, 0.01, 7, 1)
    for sub_filter in (
            (512, 0, 0, 0.01, 7, 1), (512, 1, 0, 2.0, 7, 1), (512, 1, 0, float("nan"), 7, 1),
            (512, 1, 0, 0.01, 0, 1), (512, 1, 0, 0.01, 17, 1), (512, 1, 0, 0.01, 7, 2),
            (512, 1, 9, 0.01, 7, 1), (512, 1, 0, 0.01, 7, 9)):
        yield ours + struct.pack("<QQQdII", *sub_filter)


KINDS = (["LAYOUT", "NATIVE"], ["LAYOUT", "REDISBLOOM"], ["COUNTING"], ["WINDOW", 900, "SECONDS"],
         ["WINDOW", 900, "ITEMS", "SLICES", 3], ["KEYED"], ["EXPANSION", 2])
ITEMS = [f"item:{i}" for i in range(500)]
NOT_LOADING = "ERR the filter is not being loaded"
DIFFERS = "ERR the chunk differs from what was loaded before"


def refused(server, start, *words):
    try:
        said = server.ask(*words)
    except ReplyError as error:
        said = str(error)
    said = said.decode() if isinstance(said, bytes) else str(said)
    if not said.startswith(start):
        raise AssertionError(f"{words[:3]}: {said!r}, not {start!r}")


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
                        refused(server, NOT_LOADING, "BF.LOADCHUNK", key, iterator, other)
            refused(server, NOT_LOADING, "EVAL", "return redis.pcall(unpack(ARGV)).err", 0,
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
                refused(server, DIFFERS, "BF.LOADCHUNK", "l", iterator, bytes(len(data)))
        load(server, "l", pieces[half - 1:half])
        server.ask("COPY", "l", "copied")
        refused(server, NOT_LOADING, "BF.LOADCHUNK", "copied", pieces[-1][0], b"\1" * len(pieces[-1][1]))
        payload = server.ask("DUMP", "l")
        added = [f"other:{i}" for i in range(200)]
        server.ask("BF.MADD", "l", *added)
        has_all(server, "l", added)
        for iterator, data in pieces[half:]:
            if data != bytes(len(data)):
                refused(server, NOT_LOADING, "BF.LOADCHUNK", "l", iterator, data)
        has_all(server, "l", added)

        # The loading goes on after a restart or on another node; RedisBloom's payloads have no place for that.
        server.ask("RESTORE", "restored", 0, payload)
        server.ask("DEBUG", "RELOAD")
        if "REDISBLOOM" in words:
            refused(server, NOT_LOADING, "BF.LOADCHUNK", "restored", *pieces[half])
        else:
            load(server, "restored", pieces[half:])
            if server.ask("DEBUG", "DIGEST-VALUE", "restored") != digest:
                raise AssertionError(f"{words}: half of it was lost")
            has_all(server, "restored", ITEMS)
        server.ask("FLUSHALL", "SYNC")

        for change in (["BF.CLEAR", "l"], ["BF.DEL", "l", "item:1"], ["BF.MERGE", "l", "l"],
                       ["BF.ADVANCE", "l", 1 + 2**40]):
            server.ask("CONFIG", "SET", "bf.client-time", "yes")
            load(server, "l", [(1, header), *pieces[:-1]])
            try:
                taken = server.ask(*change) in ("OK", 1)
            except ReplyError:
                taken = False
            if taken:
                refused(server, NOT_LOADING, "BF.LOADCHUNK", "l", pieces[0][0], b"\1" * len(pieces[0][1]))
            else:
                load(server, "l", pieces[-1:])
            server.ask("DEL", "l")


# ---- random chunks ------------------------------------------------------------------------------

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
            said = ask_all(server, [[f"{family}.LOADCHUNK", "k", iterator, chunk]])[0]
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


# ---- large claims -------------------------------------------------------------------------------

def cuckoo_header(items=0, buckets=512, deletes=0, filters=1, bucket_size=2, iterations=20, expansion=1):
    return struct.pack("<QQQQHHH", items, buckets, deletes, filters, bucket_size, iterations, expansion)


def resident(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024


def claimed(server):
    """Headers of a few bytes that claim a gigabyte, full of items: no memory is taken for it."""
    gigabyte = 2**30
    before = resident(server)
    # A small array is written to when it is made, and the ends of a large one. Megabytes are nothing; more is refused.
    for size, most in ((4096, 8192), (2**16 - 64, 512), (2**16, 4096), (2**20, 4096)):
        for count in (most, most + most // 64):
            taken = []
            if size & size - 1 == 0:
                taken.append(("CF", cuckoo_header(buckets=size // 2, filters=count)))
            taken.append(("BF", redisbloom_header([(size, 8 * size, 0, 0.005, 11.027753, 8, 2000, 0)] * count)))
            for family, header in taken:
                said = str(ask_all(server, [[f"{family}.LOADCHUNK", "many", 1, header]])[0])
                if said != "OK" if count == most else "load the filter by RESTORE of its DUMP" not in said:
                    raise AssertionError(f"{family}, {count} arrays of {size} bytes: {said}")
                if resident(server) > before + 2**27:
                    raise AssertionError(f"{family}, {count} arrays of {size}: {resident(server) - before} in use")
                server.ask("DEL", "many")
    headers = [("CF", cuckoo_header(items=2**29, buckets=2**29)),
               ("CF", cuckoo_header(items=2**29, buckets=2**20, filters=512)),
               ("CF", cuckoo_header(items=2**29, buckets=2**17, filters=4096)),
               ("BF", redisbloom_header([(gigabyte, 8 * gigabyte, 2**29, 0.005, 11.027753, 8, 2**29, 0)], 2**29))]
    for words in (["NONSCALING"], ["COUNTING"], ["WINDOW", 2**28, "ITEMS"], ["KEYED"]):
        capacity = {"COUNTING": 2**27, "WINDOW": 2**28}.get(words[0], 2**29)
        server.ask("BF.RESERVE", "made", 0.01, capacity, *words)
        server.ask("BF.MADD", "made", *ITEMS)
        header = server.ask("BF.SCANDUMP", "made", 0)[1]
        items = [struct.pack("<Q", number) for number in (len(ITEMS), 2**23)]
        if items[0] not in header:
            raise AssertionError(f"{words}: the header has not its items")
        headers.append(("BF", header.replace(*items)))
        if words == ["NONSCALING"] and len(header) != 76:
            raise AssertionError(f"a header of {len(header)} bytes, not 76")
        server.ask("DEL", "made")
    for family, header in headers:
        server.ask(f"{family}.LOADCHUNK", "claims", 1, header)
        size = server.ask(f"{family}.INFO", "claims")
        size = size[size.index("Size") + 1]
        if size < gigabyte // 2:
            raise AssertionError(f"{family}: only {size} bytes are claimed")
        server.ask(f"{family}.LOADCHUNK", "claims", 2, b"\1")
        server.ask(f"{family}.MEXISTS", "claims", *ITEMS)
        server.ask("COPY", "claims", "copied")
        ask_all(server, [[f"{family}.INSERT", "claims", "ITEMS", *ITEMS]])
        # The ends of a filter's arrays and of its copy's, and a page or two for each item.
        if resident(server) > before + 2**27:
            raise AssertionError(f"{family}, a header of {len(header)} bytes: {resident(server) - before} in use")
        server.ask("DEL", "claims", "copied")
    print(f"{len(headers)} headers that claim gigabytes: {(resident(server) - before) >> 20} MiB more in use")


def main(module):
    with Server(module) as server:
        overwritten(server)
        chunked(server)
        # A sanitizer's allocator writes to what it zeroes.
        if not os.environ.get("BLOOMERY_SERVER_PRELOAD"):
            claimed(server)
    with Server(module, config=("--maxmemory", MAXMEMORY)) as server:
        server.ask("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        server.ask("CONFIG", "SET", "lazyfree-lazy-user-del", "no")
        payloads, headers = [], []
        for words in (["LAYOUT", "NATIVE"], ["LAYOUT", "REDISBLOOM"], ["COUNTING"],
                      ["WINDOW", 9, "ITEMS", "SLICES", 3], ["KEYED"]):
            server.ask("BF.RESERVE", "k", 0.01, 4, *words)
            server.ask("BF.MADD", "k", *range(9))
            payloads.append(server.ask("DUMP", "k"))
            headers.append(server.ask("BF.SCANDUMP", "k", 0)[1])
            server.ask("DEL", "k")
        cuckoo_payloads, cuckoo_headers = [], []
        for words in ([], ["BUCKETSIZE", 4, "EXPANSION", 0], ["BUCKETSIZE", 1, "EXPANSION", 2]):
            server.ask("CF.RESERVE", "k", 8, *words)
            server.ask("CF.INSERT", "k", "ITEMS", *range(15 if "EXPANSION" not in words or words[-1] else 6))
            cuckoo_payloads.append(server.ask("DUMP", "k"))
            cuckoo_headers.append(server.ask("CF.SCANDUMP", "k", 0)[1])
            server.ask("DEL", "k")
        before = memory(server)[0]
        refused = taken = 0
        for sources, words, use in (
                (payloads, ["RESTORE", 0], use_whatever_was_taken),
                (headers, ["BF.LOADCHUNK", 1], use_whatever_was_taken),
                (cuckoo_payloads, ["RESTORE", 0], use_whatever_cuckoo_was_taken),
                (cuckoo_headers, ["CF.LOADCHUNK", 1], use_whatever_cuckoo_was_taken)):
            refused_before, taken_before = refused, taken
            for whole in sources:
                commands = [[words[0], f"k{i}", words[1], bytes_] for i, bytes_ in enumerate(mutations(whole))]
                for reply in ask_all(server, commands):
                    refused += isinstance(reply, ReplyError)
                    taken += not isinstance(reply, ReplyError)
                use(server)
                server.ask("FLUSHALL", "SYNC")
            if refused == refused_before or taken == taken_before:
                raise AssertionError(f"{words[0]}: all are taken, or none")
        for header in lying_headers():
            for reply in ask_all(server, [["BF.LOADCHUNK", "lie", 1, header]]):
                if not isinstance(reply, ReplyError):
                    raise AssertionError(f"taken: {header!r}")
        if refused < 1000 or taken < 100:
            raise AssertionError(f"{refused} refused, {taken} taken: nothing was tried")
        now, peak = memory(server)
        if now > before + 2**20:
            raise AssertionError(f"{now - before} bytes are lost")
        # A filter that is told to be large may be, up to maxmemory; DUMP and COPY have another.
        if peak > before + 8 * MAXMEMORY:
            raise AssertionError(f"the memory rose by {peak - before} bytes")
        counts = server.ask("INFO", "bf")
        if b"bf_count:0\r\n" not in counts or b"bf_cuckoo_count:0\r\n" not in counts:
            raise AssertionError("the server counts filters that are gone")
    print(f"{refused} refused, {taken} taken and used; {peak - before} bytes at most")


if __name__ == "__main__":
    main(sys.argv[1])
