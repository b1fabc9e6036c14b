#!/usr/bin/env python3
"""Active defragmentation moves filters while they are used, and nothing is lost.

usage: defragmented_test.py MODULE

Only a server with the jemalloc of Redis's own sources can do it; Debian's has the system's. If the server
cannot, the test says so and ends with 77. Small filters of every kind fill pages, most of them are
deleted, and the rest is moved together while items are added to it.
"""

import os
import random
import sys
import time

from expect import expect
from server import ReplyError, Server

SEED = 20241025
FILTERS = 20000 if os.environ.get("BLOOMERY_NIGHTLY") else 6000
SKIPPED = 77


def reserve(number):
    """Words that make a filter, of one kind after the other, of 0.1 to 8 KB."""
    size = (50, 200, 900, 3000)[number // 8 % 4]
    return (("0.01", size), ("0.01", size, "LAYOUT", "REDISBLOOM"), ("1e-6", size),
            ("0.01", size, "COUNTING"), ("0.01", size, "WINDOW", size, "ITEMS"),
            ("0.01", 20), ("0.01", 20, "LAYOUT", "REDISBLOOM"),
            ("0.01", size, "WINDOW", 3600, "SECONDS"))[number % 8]


def items_of(key, count):
    return [f"{key}:{i}" for i in range(count)]


def field(server, section, name):
    return int(server.info(section)[name])


def main(module):
    draw = random.Random(SEED)
    config = ("--hz", "100", "--active-defrag-ignore-bytes", "1", "--active-defrag-threshold-lower",
              "1", "--active-defrag-cycle-min", "40", "--active-defrag-cycle-max", "60")
    with Server(module, config=config) as server:
        try:
            server.ask("CONFIG", "SET", "activedefrag", "yes")
        except ReplyError as error:
            print(f"not tried: {error}")
            return SKIPPED
        server.ask("CONFIG", "SET", "activedefrag", "no")
        for number in range(FILTERS):
            server.ask("BF.RESERVE", number, *reserve(number))
            server.ask("BF.MADD", number, *items_of(number, 40))
        kept = [number for number in range(FILTERS) if number % 8 == draw.randrange(8)]
        server.ask("DEL", *(number for number in range(FILTERS) if number not in set(kept)))
        # One large enough to be moved in its own time, and one of many sub-filters.
        server.ask("BF.RESERVE", "large", "0.01", 80_000_000)
        server.ask("BF.MADD", "large", *items_of("large", 40))
        server.ask("BF.RESERVE", "sub-filters", "0.01", 10, "EXPANSION", 1)
        server.ask("BF.MADD", "sub-filters", *items_of("sub-filters", 1000))
        keys = [*kept, "large", "sub-filters"]
        before = server.ask("DEBUG", "DIGEST-VALUE", *keys)

        server.ask("CONFIG", "SET", "activedefrag", "yes")
        wanted, end = 2 * len(kept), time.monotonic() + 60
        while field(server, "stats", "active_defrag_hits") < wanted and time.monotonic() < end:
            time.sleep(0.02)
        moved = field(server, "stats", "active_defrag_hits")
        expect("allocations were moved", moved >= wanted, True)
        expect("digests", server.ask("DEBUG", "DIGEST-VALUE", *keys), before)
        # On it goes: more items, while more is moved.
        for number in range(0, len(kept), 2):
            server.ask("BF.MADD", kept[number], *items_of(kept[number], 50))
            server.ask("DEL", kept[number + 1]) if number + 1 < len(kept) else None
        for key in [*kept[::2], "large", "sub-filters"]:
            expect(f"items of {key}", all(server.ask("BF.MEXISTS", key, *items_of(key, 40))), True)
        for key in kept[::2]:
            if key % 8 == 3:
                expect("removals", server.ask("BF.MDEL", key, *items_of(key, 40)), [1] * 40)
        server.ask("CONFIG", "SET", "activedefrag", "no")
        left = [*kept[::2], "large", "sub-filters"]
        states = server.ask("DEBUG", "DIGEST-VALUE", *left)
        server.ask("DEBUG", "RELOAD")
        expect("digests after a reload", server.ask("DEBUG", "DIGEST-VALUE", *left), states)
    print(f"{moved} allocations moved, {len(keys)} filters the same")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
