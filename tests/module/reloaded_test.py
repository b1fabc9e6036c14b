#!/usr/bin/env python3
"""Filters in random states are the same after the server has started again.

usage: reloaded_test.py MODULE

Runs random commands on all kinds of filters. Again and again the server reloads its data or is started
again: from an RDB file, from the AOF as it grew, and from a rewritten AOF of commands or of RDB. DEBUG
DIGEST-VALUE of every key must not change, nor that of what DUMP and RESTORE make of it.
"""

import os
import random
import sys
import time

from expect import expect
from replicated_test import WAYS, random_words
from server import Server, digests, dumped
from stored_test import store_in_fork

SEED = int(os.environ.get("BLOOMERY_SEED", 20241120))
# With a sanitizer in the server each way twice.
ROUNDS = 96 if os.environ.get("BLOOMERY_NIGHTLY") else 12 if "BLOOMERY_SERVER_PRELOAD" in os.environ else 24
COMMANDS = 150


def digests_tell_all(server):
    """A change of any array of a filter changes its digest, which is what all comparisons here are about."""
    items = range(600)
    made = {"plain": (500, "NONSCALING"), "scalable": (50,), "redisbloom": (50, "LAYOUT", "REDISBLOOM"),
            "counting": (500, "COUNTING"), "window": (400, "WINDOW", 400, "ITEMS")}
    for key, words in made.items():
        server.ask("BF.RESERVE", key, 0.01, *words)
        server.ask("BF.MADD", key, *items[:400])
    server.ask("CF.RESERVE", "cuckoo", 64)
    server.ask("CF.INSERT", "cuckoo", "ITEMS", *items)
    for key, digest in digests(server).items():
        family = "CF" if key == b"cuckoo" else "BF"
        header, *arrays = dumped(server, key, family)
        expect(f"{key} has several arrays", len(arrays) > 1, key in (b"scalable", b"redisbloom", b"cuckoo"))
        for changed in (None, *range(len(arrays))):
            server.ask("DEL", "copy")
            server.ask(f"{family}.LOADCHUNK", "copy", *header)
            for i, (iterator, chunk) in enumerate(arrays):
                last = chunk[-1] ^ 1 if i == changed else chunk[-1]
                server.ask(f"{family}.LOADCHUNK", "copy", iterator, chunk[:-1] + bytes([last]))
            same = server.ask("DEBUG", "DIGEST-VALUE", "copy") == [digest]
            expect(f"{key} with another byte in array {changed}: its digest is the same", same, changed is None)
    server.ask("FLUSHALL")


def debug_reload(server):
    server.ask("DEBUG", "RELOAD")


def rdb_restart(server):
    """Without the AOF: only the RDB file is loaded."""
    server.ask("SAVE")
    server.ask("CONFIG", "SET", "appendonly", "no")
    restart(server, "no")
    store_in_fork(server, ["CONFIG", "SET", "appendonly", "yes"])


def aof_restart(server):
    restart(server, "yes")


def rewritten_restart(server):
    """Of commands or of RDB, as it is set at the moment."""
    store_in_fork(server, ["BGREWRITEAOF"])
    restart(server, "yes")


def other_preamble(server):
    """The AOF goes on in the other form from its next rewrite on."""
    before = server.ask("CONFIG", "GET", "aof-use-rdb-preamble")[1]
    server.ask("CONFIG", "SET", "aof-use-rdb-preamble", "no" if before == b"yes" else "yes")
    rewritten_restart(server)


def dump_and_restore(server):
    for key, digest in digests(server).items():
        if server.ask("PTTL", key) > 0:  # it would end a little later or sooner
            continue
        server.ask("RESTORE", "restored", 0, server.ask("DUMP", key))
        expect(f"restored {key}", server.ask("DEBUG", "DIGEST-VALUE", "restored"), [digest])
        server.ask("DEL", "restored")


def restart(server, append_only):
    at = server.config.index("--appendonly") + 1
    server.config[at] = append_only
    server.restart()


def main(module):
    ways = (debug_reload, rdb_restart, aof_restart, rewritten_restart, other_preamble,
            dump_and_restore)
    draw = random.Random(SEED)
    config = ("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no")
    seen = set()
    with Server(module, config=config) as server:
        digests_tell_all(server)
        for i in range(ROUNDS):
            for _ in range(COMMANDS):
                draw.choice(WAYS)(server, random_words(draw))
            time.sleep(0.005)  # keys whose time is 1 ms
            states = digests(server)
            seen |= set(states.values())
            way = ways[i % len(ways)]
            way(server)
            expect(f"seed {SEED}, round {i}: digests after {way.__name__}", digests(server), states)
    expect("different states", len(seen) > 4 * ROUNDS, True)
    print(f"{len(seen)} states of filters, the same after each of {ROUNDS} reloads")


if __name__ == "__main__":
    main(sys.argv[1])
