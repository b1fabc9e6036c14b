#!/usr/bin/env python3
"""Hostile bytes get an error reply: no crash, no leak, no large allocation.

usage: hostile_test.py MODULE

Takes RESTORE payloads and BF.LOADCHUNK headers of every kind, with each byte changed, cut to each
length, and with fields that lie about sizes; then runs commands on whatever was taken. Watches the
server's memory. (tests/module/rdb_test.cpp does the same, thoroughly, without a server.)
"""

import os
import random
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


def main(module):
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
        before = memory(server)[0]
        refused = taken = 0
        for whole in payloads:
            commands = [["RESTORE", f"r{i}", 0, bytes_] for i, bytes_ in enumerate(mutations(whole))]
            for reply in ask_all(server, commands):
                refused += isinstance(reply, ReplyError)
                taken += not isinstance(reply, ReplyError)
            use_whatever_was_taken(server)
            server.ask("FLUSHALL", "SYNC")
        for whole in headers:
            commands = [["BF.LOADCHUNK", f"l{i}", 1, bytes_]
                        for i, bytes_ in enumerate(mutations(whole))]
            for reply in ask_all(server, commands):
                refused += isinstance(reply, ReplyError)
                taken += not isinstance(reply, ReplyError)
            use_whatever_was_taken(server)
            server.ask("FLUSHALL", "SYNC")
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
        if b"bloomery_count:0\r\n" not in server.ask("INFO", "bloomery"):
            raise AssertionError("the server counts filters that are gone")
    print(f"{refused} refused, {taken} taken and used; {peak - before} bytes at most")


if __name__ == "__main__":
    main(sys.argv[1])
