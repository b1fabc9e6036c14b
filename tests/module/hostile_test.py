#!/usr/bin/env python3
"""Hostile bytes get an error reply: no crash, no leak, no large allocation.

usage: hostile_test.py MODULE

Takes RESTORE payloads and headers for BF.LOADCHUNK and CF.LOADCHUNK of every kind, with each byte changed,
cut to each length, and with fields that lie about sizes; then runs commands on whatever was taken. Watches the
server's memory. (tests/module/rdb_test.cpp does the same, thoroughly, without a server.) Large claims are held
against the memory that the server has in use.
"""

import os
import pathlib
import random
import re
import struct
import sys

from server import ReplyError, Server

SEED = 7
MAXMEMORY = 2**22
CHANGES = range(1, 256) if os.environ.get("BLOOMERY_NIGHTLY") else (1, 0xFF)


def memory(server):
    told = server.info("memory")
    return int(told["used_memory"]), int(told["used_memory_peak"])


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
    server.ask_all(commands)


def use_whatever_cuckoo_was_taken(server):
    commands = []
    for key in server.ask("KEYS", "*"):
        commands += [["CF.INFO", key], ["CF.DEBUG", key], ["CF.MEXISTS", key, "a", "b", "c"],
                     ["CF.COUNT", key, "a"], ["CF.INSERT", key, "ITEMS", *range(40)],
                     ["CF.INSERTNX", key, "ITEMS", *range(30, 50)], ["CF.DEL", key, "1"], ["CF.DEL", key, "a"],
                     ["CF.COMPACT", key], ["CF.SCANDUMP", key, 0], ["CF.SCANDUMP", key, 1], ["DUMP", key],
                     ["COPY", key, "copy"], ["DEBUG", "DIGEST-VALUE", key], ["CF.LOADCHUNK", key, 9, b"\1" * 8],
                     ["DEL", key, "copy"]]
    server.ask_all(commands)


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


ITEMS = [f"item:{i}" for i in range(500)]


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
                said = str(server.ask_all([[f"{family}.LOADCHUNK", "many", 1, header]])[0])
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
        server.ask_all([[f"{family}.INSERT", "claims", "ITEMS", *ITEMS]])
        # The ends of a filter's arrays and of its copy's, and a page or two for each item.
        if resident(server) > before + 2**27:
            raise AssertionError(f"{family}, a header of {len(header)} bytes: {resident(server) - before} in use")
        server.ask("DEL", "claims", "copied")
    print(f"{len(headers)} headers that claim gigabytes: {(resident(server) - before) >> 20} MiB more in use")


def main(module):
    # A sanitizer's allocator writes to what it zeroes.
    if not os.environ.get("BLOOMERY_SERVER_PRELOAD"):
        with Server(module) as server:
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
                for reply in server.ask_all(commands):
                    refused += isinstance(reply, ReplyError)
                    taken += not isinstance(reply, ReplyError)
                use(server)
                server.ask("FLUSHALL", "SYNC")
            if refused == refused_before or taken == taken_before:
                raise AssertionError(f"{words[0]}: all are taken, or none")
        for header in lying_headers():
            for reply in server.ask_all([["BF.LOADCHUNK", "lie", 1, header]]):
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
        counts = server.info("bf")
        if (counts["bf_count"], counts["bf_cuckoo_count"]) != ("0", "0"):
            raise AssertionError("the server counts filters that are gone")
    print(f"{refused} refused, {taken} taken and used; {peak - before} bytes at most")


if __name__ == "__main__":
    main(sys.argv[1])
