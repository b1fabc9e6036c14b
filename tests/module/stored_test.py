#!/usr/bin/env python3
"""Filters are the same after every way of being stored, copied or moved.

usage: stored_test.py MODULE

A whole RDB file and DUMP payloads that RedisBloom wrote are loaded, answer as they did there, including
false reports, are written again byte for byte, and take further items. Filters of both layouts, in every
state that commands can reach, go through RDB, AOF, DUMP and RESTORE, COPY, MIGRATE and DEBUG RELOAD. A
process that saves and ends gives back the memory that it has sent; one that runs a script keeps it.
"""

import base64
import contextlib
import json
import lzma
import os
import pathlib
import shutil
import sys
import time

from expect import expect
from server import Server, digests, dumped, free_port, wait_until

HERE = pathlib.Path(__file__).parent
SANITIZED = "BLOOMERY_SERVER_PRELOAD" in os.environ
# So many times by day; a filter still has several parts.
SMALLER = 4 if SANITIZED and not os.environ.get("BLOOMERY_NIGHTLY") else 1
FOOTER = 10  # bytes at the end of a payload that are the server's own
FILTERS = json.load(lzma.open(HERE.parent / "legacy/golden/redisbloom-filters.json.xz"))


def scandump(server, key):
    return [[iterator, base64.b64encode(chunk).decode()] for iterator, chunk in dumped(server, key)]


def check_as_recorded(server, key, recorded):
    name = recorded["name"]
    expect(f"{name}: dump", scandump(server, key), recorded["scandump"])
    expect(f"{name}: info", server.ask_raw("BF.INFO", key).decode(), recorded["info"])
    expect(f"{name}: debug", server.ask_raw("BF.DEBUG", key).decode(), recorded["debug"])
    probes = server.ask("BF.MEXISTS", key, *(f"probe:{i}" for i in range(2000)))
    expect(f"{name}: false reports", [i for i, found in enumerate(probes) if found],
           recorded["false_positives_among_probe_0_1999"])
    if recorded["count"]:
        items = [f"item:{i}" for i in range(recorded["count"])]
        expect(f"{name}: items", all(server.ask("BF.MEXISTS", key, *items)), True)


def redisbloom_files(module):
    """RedisBloom's RDB file is this server's; then everything is written and read again."""
    with Server(module, "layout", "native") as server:
        server.stop()
        shutil.copy(HERE / "golden" / "redisbloom.rdb", server.directory / "dump.rdb")
        server.start()
        expect("keys of the RDB file", len(server.ask("KEYS", "*")), len(FILTERS))
        keys = {key.decode().split(":")[-1]: key for key in server.ask("KEYS", "*")}
        for recorded in FILTERS:
            check_as_recorded(server, keys[recorded["name"]], recorded)
            # The payload is RedisBloom's, to the byte, but for what the server puts at its end: the
            # number of its RDB version and a checksum.
            payload = base64.b64decode(recorded["dump"])
            expect("DUMP of " + recorded["name"],
                   server.ask("DUMP", keys[recorded["name"]])[:-FOOTER], payload[:-FOOTER])
            server.ask("RESTORE", "restored", 0, payload)
            check_as_recorded(server, "restored", recorded)
            # It goes on: what RedisBloom's own commands would load answers the same.
            for iterator, data in recorded["scandump"]:
                server.ask("BF.LOADCHUNK", "loaded", iterator, base64.b64decode(data))
            more = [f"more:{i}" for i in range(200)]
            replies = [server.ask_raw("BF.MADD", key, *more) for key in ("restored", "loaded")]
            expect("adding more", replies[0], replies[1])
            expect("the same dump", scandump(server, "restored"), scandump(server, "loaded"))
            server.ask("DEL", "restored", "loaded")
        before = digests(server)
        server.ask("SAVE")
        server.restart()
        expect("digests after RDB", digests(server), before)


def make_states(server):
    """One key for every state of a filter that commands can reach."""
    for layout in ("NATIVE", "REDISBLOOM"):
        name = lambda state: f"{layout}:{state}"
        numbers = [f"n{i}" for i in range(700)]
        server.ask("BF.RESERVE", name("empty"), 0.01, 100, "LAYOUT", layout)
        server.ask("BF.RESERVE", name("one sub-filter"), 0.001, 1000, "LAYOUT", layout)
        server.ask("BF.MADD", name("one sub-filter"), *numbers)
        server.ask("BF.RESERVE", name("sub-filters"), 0.01, 10, "EXPANSION", 2, "LAYOUT", layout)
        server.ask("BF.MADD", name("sub-filters"), *numbers)
        server.ask("BF.RESERVE", name("slow"), 1e-5, 20, "EXPANSION", 1, "LAYOUT", layout)
        server.ask("BF.MADD", name("slow"), *numbers)
        server.ask("BF.RESERVE", name("full"), 0.01, 50, "NONSCALING", "LAYOUT", layout)
        server.ask("BF.MADD", name("full"), *numbers)
        # More than one part of every writer, and freed by a thread: 5 MiB of bits.
        server.ask("BF.RESERVE", name("large"), 0.001, 3000000, "LAYOUT", layout)
        server.ask("BF.MADD", name("large"), *numbers)
        chunks = scandump(server, name("sub-filters"))
        for i, (iterator, data) in enumerate(chunks[:-1]):
            server.ask("BF.LOADCHUNK", name("half loaded"), iterator, base64.b64decode(data))
        server.ask("BF.LOADCHUNK", name("header alone"), 1, base64.b64decode(chunks[0][1]))
        server.ask("BF.RESERVE", name("cleared"), 0.01, 10, "LAYOUT", layout)
        server.ask("BF.MADD", name("cleared"), *numbers)
        server.ask("BF.CLEAR", name("cleared"))
        server.ask("BF.MERGE", name("merged"), name("one sub-filter"))
        server.ask("BF.RESERVE", name("with a time to live"), 0.02, 7, "LAYOUT", layout)
        server.ask("BF.ADD", name("with a time to live"), "x")
        server.ask("EXPIRE", name("with a time to live"), 10000)


def make_other_kinds(server):
    numbers = [f"n{i}" for i in range(700)]
    server.ask("BF.RESERVE", "counting", 0.01, 500, "COUNTING")
    server.ask("BF.MADD", "counting", *numbers, *numbers[:50])
    server.ask("BF.MDEL", "counting", *numbers[:100])
    server.ask("BF.RESERVE", "counting in bytes", 0.001, 2_000_000 // SMALLER, "COUNTING", "COUNTERBITS", 8)
    server.ask("BF.MADD", "counting in bytes", *numbers)
    server.ask("BF.RESERVE", "last 500", 0.01, 400, "WINDOW", 500, "ITEMS")
    server.ask("BF.MADD", "last 500", *numbers)
    server.ask("BF.RESERVE", "last hour", 0.01, 1000, "WINDOW", 3600, "SECONDS", "SLICES", 6)
    server.ask("BF.MADD", "last hour", *numbers)
    server.ask("BF.RESERVE", "new window", 0.01, 1000, "WINDOW", 3600, "SECONDS")
    server.ask("BF.RESERVE", "keyed", 0.01, 100, "KEYED")
    server.ask("BF.MADD", "keyed", *numbers)
    server.ask("BF.RESERVE", "counting, keyed", 0.01, 500, "COUNTING", "KEYED")
    server.ask("BF.MADD", "counting, keyed", *numbers)
    server.ask("BF.RESERVE", "last hour, keyed", 0.01, 1000, "WINDOW", 3600, "SECONDS", "KEYED")
    server.ask("BF.MADD", "last hour, keyed", *numbers)
    for key in ("counting", "last hour", "keyed"):
        server.ask("BF.LOADCHUNK", "header of " + key, 1, server.ask("BF.SCANDUMP", key, 0)[1])


def every_way(module):
    config = ("--aof-use-rdb-preamble", "no", "--appendonly", "no")
    with Server(module, config=config) as server, Server(module, port=free_port()) as other:
        make_states(server)
        make_other_kinds(server)
        states = digests(server)
        expect("filters that differ", len(set(states.values())), len(states) - 2)  # the copies

        server.ask("DEBUG", "RELOAD")
        expect("digests after DEBUG RELOAD", digests(server), states)

        for key, digest in states.items():
            payload = server.ask("DUMP", key)
            # The digest of a key tells whether it has a time to live.
            server.ask("RESTORE", "again", 10**6 if server.ask("TTL", key) > 0 else 0, payload)
            expect(f"DUMP and RESTORE of {key}", server.ask("DEBUG", "DIGEST-VALUE", "again"),
                   [digest])
            expect(f"second DUMP of {key}", server.ask("DUMP", "again"), payload)
            server.ask("DEL", "again")
            server.ask("COPY", key, "again")
            expect(f"COPY of {key}", server.ask("DEBUG", "DIGEST-VALUE", "again"), [digest])
            server.ask("BF.INSERT", "again", "NOCREATE", "ITEMS", "only in the copy")
            for step in (server.ask("BF.INFO", "again"), server.ask("BF.DEBUG", "again")):
                expect(f"a reply about {key}", bool(step), True)
            expect(f"{key} after its copy changed", server.ask("DEBUG", "DIGEST-VALUE", key),
                   [digest])
            expect("memory", server.ask("MEMORY", "USAGE", key) > 0, True)
            server.ask("DEL", "again")

        store_in_fork(server, ["CONFIG", "SET", "appendonly", "yes"])
        server.stop()
        log = (server.directory / "appendonlydir").glob("*.base.aof")
        sizes = [len(data) for file in log for data in file.read_bytes().split(b"BF.LOADCHUNK")]
        expect("parts of the AOF are bounded", max(sizes) < 1.1 * 2**20, True)
        server.config += ["--appendonly", "yes"]
        server.start()
        expect("digests after AOF rewrite", digests(server), states)
        expect("time to live", server.ask("TTL", "NATIVE:with a time to live") > 9000, True)

        for key, digest in states.items():
            server.ask("MIGRATE", "127.0.0.1", other.port, key, 0, 30000)
            expect(f"MIGRATE of {key}", other.ask("DEBUG", "DIGEST-VALUE", key), [digest])
        expect("keys that stayed", server.ask("KEYS", "*"), [])
        for key in states:
            other.ask("UNLINK", key)


def store_in_fork(server, *commands):
    """The commands; the first one makes the server write an AOF or an RDB file in a fork. Returns INFO
    persistence as it is after that."""
    def attempt():
        for words in commands:
            server.ask(*words)
        info = ""

        def ended():
            nonlocal info
            info = server.ask("INFO", "persistence").decode()
            return all(f"{work}:0" in info for work in ("rdb_bgsave_in_progress", "aof_rewrite_in_progress",
                                                        "aof_rewrite_scheduled"))
        wait_until(f"{commands[0]} ends", ended)
        return info
    info = server.in_fork(attempt)
    for status in ("rdb_last_bgsave_status", "aof_last_bgrewrite_status"):
        expect(f"{status} after {commands[0]}", f"{status}:ok" in info, True)
    return info


def copied_by(server, what, *meanwhile):
    """The pages that the child of a fork had for itself when it ended, of those that it got."""
    field = "rdb_last_cow_size" if what == "BGSAVE" else "aof_last_cow_size"
    info = store_in_fork(server, [what], *([meanwhile] if meanwhile else []))
    return int(info.split(field + ":")[1].split()[0])


def little_memory(module):
    """The child keeps nothing of what it has sent: neither what it clears of a big window in its own copy,
    nor what the server writes to a filter meanwhile."""
    config = ("--aof-use-rdb-preamble", "no", "--rdbcompression", "no")
    with Server(module, "client_time", "yes", config=config) as server:
        server.ask("BF.RESERVE", "w", 0.01, 10_000_000 // SMALLER, "WINDOW", 8000, "SECONDS", "SLICES", 8)
        now = int(time.time())
        for what in ("BGREWRITEAOF", "BGSAVE"):
            server.ask("BF.ADVANCE", "w", now)
            server.ask("BF.MADD", "w", *range(100_000))
            server.ask("BF.ADVANCE", "w", now + 1000)
            now += 9000
            server.ask("BF.ADVANCE", "w", now)  # the slice with the items has come to its end
            server.ask("BF.MADD", "w", *range(1_000))
            size = server.ask("MEMORY", "USAGE", "w")
            expect("a big window", size > 10_000_000 // SMALLER, True)
            copied = copied_by(server, what)
            if not SANITIZED:  # a sanitizer keeps what is freed
                expect(f"copied by {what}", copied < size // 4, True)
        digest = server.ask("DEBUG", "DIGEST-VALUE", "w")
        server.restart()
        expect("digest after BGSAVE", server.ask("DEBUG", "DIGEST-VALUE", "w"), digest)
        for command in (["DUMP", "w"], ["SAVE"]):  # by the server itself, which goes on with it
            server.ask(*command)
            expect(f"digest after {command[0]}", server.ask("DEBUG", "DIGEST-VALUE", "w"), digest)

        server.ask("FLUSHALL")
        server.ask("BF.RESERVE", "f", 0.01, 20_000_000 // SMALLER, "NONSCALING")
        server.ask("BF.MADD", "f", *range(100_000))  # in all of its pages
        server.ask("CONFIG", "SET", "rdb-key-save-delay", 200_000)  # µs in which the child has sent it
        size = server.ask("MEMORY", "USAGE", "f")
        expect("a big filter", size > 10_000_000 // SMALLER, True)
        for what, first in (("BGREWRITEAOF", 100_000), ("BGSAVE", 200_000)):
            copied = copied_by(server, what, "BF.MADD", "f", *range(first, first + 20_000))
            if not SANITIZED:
                expect(f"copied by {what} while items came", copied < size // 4, True)


def debugged_scripts(module):
    """The debugger runs a script in a fork, which goes on with a filter that it dumps."""
    script = """local found = {}
local function look() for _, yes in ipairs(redis.call('BF.MEXISTS', KEYS[1], unpack(ARGV))) do
  found[#found + 1] = yes end end
look()
redis.call('DUMP', KEYS[1])
look()
return table.concat(found)"""
    items = [f"item:{i}" for i in range(8)]
    with Server(module) as server:
        for layout in ("NATIVE", "REDISBLOOM"):
            server.ask("BF.RESERVE", layout, 0.01, 1_000_000, "NONSCALING", "LAYOUT", layout)
            server.ask("BF.MADD", layout, *items)

            def debugged():
                with contextlib.closing(server.connect()) as debugger:
                    debugger.socket.settimeout(30)
                    debugger.ask("SCRIPT", "DEBUG", "YES")
                    debugger.ask("EVAL", script, 1, layout, *items)  # where it stops before the first line
                    debugger.send("continue")
                    said = debugger.read()
                    while not isinstance(said, bytes):  # what the debugger says, before the script's reply
                        said = debugger.read()
                    return said
            expect(f"{layout}: in a debugged script", server.in_fork(debugged), b"1" * 16)
            expect(f"{layout}: in the server", server.ask("BF.MEXISTS", layout, *items), [1] * 8)


def main(module):
    redisbloom_files(module)
    every_way(module)
    little_memory(module)
    debugged_scripts(module)
    print("every filter was the same")


if __name__ == "__main__":
    main(sys.argv[1])
