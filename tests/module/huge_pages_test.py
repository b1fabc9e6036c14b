#!/usr/bin/env python3
"""Huge pages come when a filter is in use, go with it, and are not taken by what a header claims.

usage: huge_pages_test.py MODULE

If the system has no huge pages for the server, the test says so and ends with 77.
"""

import pathlib
import struct
import sys
import time

from expect import expect
from server import Server, dumped, wait_until

SKIPPED = 77
HUGE = 2 << 20
CLAIMED = 1_000_000  # items, more than there are small pages
ITEMS = [f"i{i}" for i in range(1000)]
# Kinds, with a number of items that take about 24 MB. An item of the last has seven pages, so that needs more.
KINDS = {"plain": (20_000_000,), "counting": (5_000_000, "COUNTING"),
         "window": (20_000_000, "WINDOW", 20_000_000, "ITEMS"),
         "redisbloom": (50_000_000, "LAYOUT", "REDISBLOOM")}


class Pages:
    """Of a server, in bytes."""

    def __init__(self, server):
        self.process = pathlib.Path(f"/proc/{server.process.pid}")
        self.rollup = self.process / "smaps_rollup"

    def field(self, name):
        line = next(line for line in self.rollup.read_text().splitlines() if line.startswith(name))
        return int(line.split()[1]) * 1024

    def blocked_signals(self):
        """Of the server's main thread, which a SIGTERM has to reach."""
        return next(line for line in (self.process / "status").read_text().splitlines() if line.startswith("SigBlk:"))

    def come_to(self, at_least, at_most, seconds=30):
        """Whether the huge ones do. What the thread is not to do it would do within a second."""
        end = time.monotonic() + seconds
        while not at_least <= self.field("AnonHugePages:") <= at_most:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)  # each question walks the page tables
        return True

    def expect_few(self, what):
        expect(f"{what}: huge pages", self.come_to(0, 4 * HUGE), True)
        time.sleep(0.1)
        expect(f"{what}: huge pages a little later", self.come_to(0, 4 * HUGE), True)


def fill(server, key, size):
    for first in range(0, size // 4096 + 1000, 1000):
        server.ask("BF.MADD", key, *range(first, first + 1000))


def life(server, pages, name, words):
    """False: the system has none."""
    server.ask("BF.RESERVE", "huge", 0.01, *words)
    size = server.ask("BF.INFO", "huge", "SIZE")[0]
    server.ask("BF.MADD", "huge", *ITEMS)
    pages.expect_few(f"{name}, little used")
    server.ask("COPY", "huge", "copied")
    pages.expect_few(f"a copy of {name}, little used")
    server.ask("DEL", "copied")
    fill(server, "huge", size)
    if not pages.come_to(size - 4 * HUGE, size + 4 * HUGE):
        return False
    expect("items", server.ask("BF.MEXISTS", "huge", *ITEMS), [1] * 1000)
    server.ask("DEBUG", "RELOAD")
    expect("items after a reload", server.ask("BF.MEXISTS", "huge", *ITEMS), [1] * 1000)
    expect("huge pages after it", pages.come_to(size - 4 * HUGE, size + 4 * HUGE), True)
    loaded(server, pages, size)
    server.ask("BF.CLEAR", "huge")
    pages.expect_few(f"{name}, cleared")
    server.ask("BF.MADD", "huge", *ITEMS)
    pages.expect_few(f"{name}, little used again")
    server.ask("DEL", "huge")
    pages.expect_few("nobody's")
    return True


def loaded(server, pages, size):
    """A filter of chunks gets huge pages with the last of them."""
    for iterator, chunk in dumped(server, "huge"):
        server.ask("BF.LOADCHUNK", "loaded", iterator, chunk)
    expect("huge pages of a dump", pages.come_to(2 * size - 8 * HUGE, 2 * size + 8 * HUGE), True)
    expect("items of a dump", server.ask("BF.MEXISTS", "loaded", *ITEMS), [1] * 1000)
    server.ask("DEL", "loaded")


def copied(server, pages, name, words):
    """Whatever reads a filter that is little used, neither it nor its copies take memory."""
    server.ask("BF.RESERVE", "little", 0.01, *words)
    few = ITEMS[:200]
    server.ask("BF.MADD", "little", *few)
    size = server.ask("BF.INFO", "little", "SIZE")[0]
    before = pages.field("Rss:")
    server.ask("BGSAVE")
    for key in ("one", "two"):
        server.ask("COPY", "little", key)
    server.ask("RESTORE", "three", 0, server.ask("DUMP", "little"))
    if "WINDOW" not in words:
        for key in ("four", "five"):
            server.ask("BF.MERGE", key, "little")
    for iterator, chunk in dumped(server, "little"):
        server.ask("BF.LOADCHUNK", "six", iterator, chunk)
    for key in (b"little", *(key for key in server.ask("KEYS", "*") if key != b"little")):
        expect(f"{key}", server.ask("BF.MEXISTS", key, *few), [1] * 200)
    pages.expect_few(f"{name}, little used and read")
    wait_until("the save", lambda: b"rdb_bgsave_in_progress:0" in server.ask("INFO", "persistence"))
    # Only RedisBloom's payloads come as one string.
    most = 2 * size if "LAYOUT" in words else size // 2
    expect(f"{name}: memory of copies", pages.field("Rss:") - before < most, True)
    server.ask("DEBUG", "RELOAD")
    pages.expect_few(f"{name}, little used and reloaded")
    server.ask("FLUSHALL")


def claims(server, pages, name, words):
    """A header that claims many items, a copy of that, the last chunk of its bits, and look-ups."""
    server.ask("BF.RESERVE", "made", 0.01, *words)
    server.ask("BF.MADD", "made", *ITEMS)
    size = server.ask("BF.INFO", "made", "SIZE")[0]
    end = server.ask("BF.SCANDUMP", "made", 0)
    header, iterator = bytearray(end[1]), end[0]
    while iterator != 0:
        last, (iterator, _) = iterator, server.ask("BF.SCANDUMP", "made", iterator)
    claimed = header.replace(struct.pack("<Q", len(ITEMS)), struct.pack("<Q", CLAIMED))
    expect(f"{name}: the header has its items", claimed != header, True)
    server.ask("DEL", "made")
    before = pages.field("Rss:")
    server.ask("BF.LOADCHUNK", "claimed", 1, bytes(claimed))
    expect("the items that are claimed", server.ask("BF.CARD", "claimed"), CLAIMED)
    server.ask("COPY", "claimed", "copied")
    server.ask("DEL", "copied")
    pages.expect_few(f"{name}, claimed")
    server.ask("BF.LOADCHUNK", "claimed", last, b"x")
    server.ask("BF.MEXISTS", "claimed", *ITEMS)
    server.ask("BF.MADD", "claimed", *ITEMS)
    pages.expect_few(f"{name}, claimed and loaded")
    expect("memory of it", pages.field("Rss:") - before < size // 2, True)
    server.ask("DEL", "claimed")


def cuckoo(server, pages):
    server.ask("CF.RESERVE", "huge", 60_000_000)
    server.ask("CF.INSERT", "huge", "ITEMS", *ITEMS)
    pages.expect_few("a cuckoo filter, little used")
    for first in range(0, 34_000, 1000):
        server.ask("CF.INSERT", "huge", "ITEMS", *range(first, first + 1000))
    expect("huge pages of a cuckoo filter", pages.come_to(60 * HUGE // 4, 70_000_000), True)
    expect("items", server.ask("CF.MEXISTS", "huge", *ITEMS), [1] * 1000)
    server.ask("COPY", "huge", "copied")
    expect("huge pages of its copy", pages.come_to(2 * (60 * HUGE // 4), 140_000_000), True)
    server.ask("FLUSHALL")
    pages.expect_few("no cuckoo filter")
    # It grows to 8192 times its size.
    server.ask("CF.RESERVE", "grown", 16_384, "EXPANSION", 8192)
    added = 0
    while server.ask("CF.INFO", "grown")[5] == 1:
        server.ask("CF.INSERT", "grown", "ITEMS", *range(added, added + 100))
        added += 100
    pages.expect_few("a cuckoo filter that has grown")
    server.ask("FLUSHALL")


def main(module):
    modes = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not modes.exists() or "[madvise]" not in modes.read_text():
        print("the system has no huge pages, or the server forbids them to itself")
        return SKIPPED
    with Server(pathlib.Path(module).resolve()) as server:
        pages = Pages(server)
        blocked = pages.blocked_signals()
        for name, words in KINDS.items():
            if not life(server, pages, name, words):
                print("the system has no huge pages for the server")
                return SKIPPED
        for name, words in KINDS.items():
            copied(server, pages, name, words)
            if "redisbloom" not in name:  # the items of its header are checked
                claims(server, pages, name, words)
        cuckoo(server, pages)
        expect("the signals that the server blocks", pages.blocked_signals(), blocked)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
