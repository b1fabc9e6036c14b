#!/usr/bin/env python3
"""A replica, an AOF and an RDB file give the same bits, whatever their settings.

usage: replicated_test.py MODULE

Runs every command that writes, plainly, in MULTI and in Lua, then random sequences. The replica has other
settings than the master. Commands that changed nothing are not replicated; of a command that failed half
way, what took effect is.
"""

import os
import pathlib
import random
import struct
import sys
import time

from expect import expect
from server import Server, digests, free_port, quietly, request, wait_until

SEED = 20240521
# With a sanitizer in the server fewer: every command still comes some fifty times.
ROUNDS = 10000 if os.environ.get("BLOOMERY_NIGHTLY") else 1000 if "BLOOMERY_SERVER_PRELOAD" in os.environ else 4000


def frozen_chunks():
    """(iterator, bytes) of a frozen filter of i0 to i299 at 1 %, as `bloomery convert` wrote it."""
    dump = (pathlib.Path(__file__).parent / "golden" / "frozen.dump").read_bytes()
    chunks, at = [], 16
    while (found := struct.unpack_from("<QQ", dump, at)) != (0, 0):
        chunks.append((found[0], dump[at + 16:at + 16 + found[1]]))
        at += 16 + found[1]
    return chunks


def offset(server):
    return int(server.info("replication")["master_repl_offset"])


def follow(master, replica):
    """Waits until the replica has it all. For a full resynchronisation the master forks."""
    def follows():
        return replica.info("replication")["master_link_status"] == "up" \
            and offset(replica) >= offset(master)
    try:
        master.in_fork(lambda: wait_until("the replica follows", follows))
    except TimeoutError as late:
        raise AssertionError("the replica does not follow:\n" + replica.log) from late


def attach(replica, master):
    """A full resynchronisation, of whatever the replica has."""
    replica.ask("REPLICAOF", "NO", "ONE")
    replica.ask("FLUSHALL", "SYNC")
    replica.ask("REPLICAOF", "127.0.0.1", master.port)
    follow(master, replica)


def plainly(server, words):
    quietly(server, *words)


def in_multi(server, words):
    server.ask("MULTI")
    quietly(server, *words)
    quietly(server, *words)
    quietly(server, "EXEC")


def in_lua(server, words):
    quietly(server, "EVAL", "return redis.pcall(unpack(ARGV))", 0, *words)


WAYS = (plainly, in_multi, in_lua)


def every_write(master):
    for way in WAYS:
        name = lambda key: f"{way.__name__}:{key}"
        items = [f"i{i}" for i in range(130)]
        for words in (
                ["BF.RESERVE", name("reserved"), "0.001", 200],
                ["BF.RESERVE", name("redisbloom"), "0.001", 20, "LAYOUT", "REDISBLOOM", "EXPANSION", 4],
                ["BF.RESERVE", name("native"), "0.001", 20, "LAYOUT", "NATIVE", "NONSCALING"],
                ["BF.RESERVE", name("native"), "0.5", 20, "IFNOTEXISTS"],
                ["BF.ADD", name("made by add"), "x"],
                ["BF.MADD", name("made by madd"), *items],
                ["BF.MADD", name("redisbloom"), *items],
                ["BF.MADD", name("native"), *items],
                ["BF.INSERT", name("made by insert"), "CAPACITY", 50, "ERROR", "0.02", "ITEMS",
                 *items],
                ["BF.INSERT", name("made by insert"), "NOCREATE", "ITEMS", "more", *items],
                ["BF.INSERT", name("small"), "CAPACITY", 5, "NONSCALING", "ITEMS", *items],
                ["BF.MERGE", name("merged"), name("made by insert"), name("made by insert")],
                ["BF.MERGE", name("made by madd"), name("made by madd")],
                ["BF.RESERVE", name("counting"), "0.01", 100, "COUNTING"],
                ["BF.MADD", name("counting"), *items, *items],
                ["BF.ADD", name("counting"), "i1"],
                ["BF.DEL", name("counting"), "i2"],
                ["BF.MDEL", name("counting"), *items[:50], "absent"],
                ["BF.MERGE", name("counted"), name("counting")],
                ["BF.RESERVE", name("window"), "0.01", 50, "WINDOW", 100, "ITEMS"],
                ["BF.MADD", name("window"), *items],
                ["BF.RESERVE", name("hour"), "0.01", 50, "WINDOW", 3600, "SECONDS"],
                ["BF.MADD", name("hour"), *items],
                ["BF.ADD", name("hour"), "i1"],
                ["BF.RESERVE", name("ahead"), "0.01", 50, "WINDOW", 30, "SECONDS"],
                ["BF.ADD", name("ahead"), "x"],
                ["BF.ADVANCE", name("ahead"), int(time.time()) + 20],
                # So big that the blocks of a slice are cleared one by one after it has begun.
                ["BF.RESERVE", name("big"), "0.01", 2_500_000, "WINDOW", 80000, "SECONDS"],
                ["BF.MADD", name("big"), *items],
                ["BF.ADVANCE", name("big"), int(time.time()) + 40_000],
                ["BF.MADD", name("big"), *items[:70]],
                ["BF.ADVANCE", name("big"), int(time.time()) + 80_000],
                ["BF.ADVANCE", name("big"), int(time.time()) + 120_000],
                ["BF.ADD", name("big"), "i1"],
                # What only the master is asked clears them there alone.
                *[["BF.MEXISTS", name("big"), "a", "b"]] * 10,
                ["BF.RESERVE", name("keyed"), "0.01", 20, "KEYED"],
                ["BF.MADD", name("keyed"), *items],
                ["BF.MERGE", name("merged, keyed"), name("keyed")],
                ["BF.INSERT", name("inserted, keyed"), "KEYED", "CAPACITY", 20, "ITEMS", *items],
                ["BF.RESERVE", name("counting, keyed"), "0.01", 20, "COUNTING", "KEYED"],
                ["BF.MADD", name("counting, keyed"), *items],
                ["BF.ADD", name("cleared"), "x"],
                ["BF.CLEAR", name("cleared")],
        ):
            way(master, words)
        iterator, header = master.ask("BF.SCANDUMP", name("redisbloom"), 0)
        way(master, ["BF.LOADCHUNK", name("loaded"), iterator, header])
        iterator, data = master.ask("BF.SCANDUMP", name("redisbloom"), 1)
        way(master, ["BF.LOADCHUNK", name("loaded"), iterator, data])


KINDS = ((), ("EXPANSION", 1), ("COUNTING",), ("WINDOW", 20, "ITEMS"))


def random_words(draw):
    key = f"k{draw.randrange(12)}"
    items = [f"x{draw.randrange(400)}" for _ in range(draw.choice((1, 1, 3, 40)))]
    rate = draw.choice(("0.1", "0.01", "1e-6", "0.3"))
    capacity = draw.choice((1, 7, 100))
    return draw.choice((
        ["BF.ADD", key, items[0]],
        ["BF.MADD", key, *items],
        ["BF.MADD", key, *items],
        ["BF.INSERT", key, "CAPACITY", capacity, "ERROR", rate, "ITEMS", *items],
        ["BF.INSERT", key, "NONSCALING", "CAPACITY", capacity, "ITEMS", *items],
        ["BF.RESERVE", key, rate, capacity, "EXPANSION", draw.randrange(4)],
        ["BF.RESERVE", key, rate, capacity, "LAYOUT", draw.choice(("native", "redisbloom"))],
        ["BF.MERGE", key, f"k{draw.randrange(12)}"],
        ["BF.RESERVE", key, rate, capacity, "COUNTING"],
        ["BF.RESERVE", key, rate, capacity, *draw.choice(KINDS), "KEYED"],
        ["BF.RESERVE", key, rate, 7, "WINDOW", 20, draw.choice(("ITEMS", "SECONDS"))],
        ["BF.DEL", key, items[0]],
        ["BF.MDEL", key, *items],
        ["BF.CLEAR", key],
        ["DEL", key],
        ["PEXPIRE", key, draw.choice((1, 100000))],
        ["RENAME", key, f"k{draw.randrange(12)}"],
    ))


def quiet_commands(master):
    """What changes nothing goes nowhere; what failed half way goes as far as it came."""
    master.ask("BF.RESERVE", "n", "0.0001", 5, "NONSCALING")
    master.ask("BF.MADD", "n", 1, 2, 3)
    before = offset(master)
    for words in (["BF.ADD", "n", 1], ["BF.MADD", "n", 1, 2, 3],
                  ["BF.INSERT", "n", "ITEMS", 3, 2],
                  ["BF.RESERVE", "n", "0.1", 9, "IFNOTEXISTS"], ["BF.RESERVE", "n", "0.1", 9],
                  ["BF.EXISTS", "n", 77], ["BF.MEXISTS", "n", 77], ["BF.LOADCHUNK", "n", 999, "x"],
                  ["BF.CARD", "n"], ["BF.INFO", "n"], ["BF.SCANDUMP", "n", 0]):
        watcher = master.connect()
        watcher.ask("WATCH", "n")
        quietly(master, *words)
        watcher.ask("MULTI")
        watcher.ask("PING")
        expect(f"{words} touches no watched key", watcher.ask("EXEC"), ["PONG"])
        watcher.close()
    expect("bytes replicated for nothing", offset(master) - before, 0)
    reply = master.ask("BF.MADD", "n", 4, 5, 6, 7)
    expect("a filter that becomes full", [str(one) for one in reply],
           ["1", "1", "ERR non scaling filter is full"])
    expect("something replicated", offset(master) > before, True)


def set_back(master):
    """A window that is ahead of the clock is set back with the next item, on replicas and in the AOF too."""
    items = [f"i{i}" for i in range(60)]
    for key in ("far ahead", "of years"):
        master.ask("BF.RESERVE", key, "0.01", 100, "WINDOW", 80, "SECONDS")
        master.ask("BF.MADD", key, *items)
        # A few slices of ten seconds, and more than all of them.
        master.ask("BF.ADVANCE", key, int(time.time()) + (35 if key == "far ahead" else 10**8))
    ahead = digests(master)
    master.ask("CONFIG", "SET", "bf.client-time", "no")
    for key in ("far ahead", "of years"):
        master.ask("BF.MADD", key, "more")
        expect("all that was there", all(master.ask("BF.MEXISTS", key, "more")), True)
        expect(f"{key}: it has changed", digests(master)[key.encode()] != ahead[key.encode()], True)


def half_loaded(master, replica):
    """Chunks that come while a replica, an RDB file or an AOF has half a filter reach the other half there."""
    rest = []
    for layout in ("NATIVE", "REDISBLOOM"):
        master.ask("BF.RESERVE", f"whole {layout}", "0.01", 20_000, "LAYOUT", layout)
        master.ask("BF.MADD", f"whole {layout}", *(f"i{i}" for i in range(20_000)))
        header, data = (master.ask("BF.SCANDUMP", f"whole {layout}", i)[1] for i in (0, 1))
        half = len(data) // 2
        master.ask("BF.LOADCHUNK", f"half {layout}", 1, header)
        master.ask("BF.LOADCHUNK", f"half {layout}", 1 + half, data[:half])
        rest.append([f"half {layout}", 1 + len(data), data[half:]])
    attach(replica, master)
    for key, iterator, data in rest:
        expect("the other half", master.ask("BF.LOADCHUNK", key, iterator, data), "OK")
        expect("is there", master.ask("DEBUG", "DIGEST-VALUE", key),
               master.ask("DEBUG", "DIGEST-VALUE", key.replace("half", "whole")))


def frozen(master, replica):
    """A frozen filter comes in chunks, whole to one replica, and from its middle on to one that comes meanwhile."""
    chunks = frozen_chunks()
    (_, header), (end, data) = chunks
    half = len(data) // 2
    for key in ("frozen", "half frozen"):
        expect("header", master.ask("BF.LOADCHUNK", key, 1, header), "OK")
        expect("the first half", master.ask("BF.LOADCHUNK", key, 1 + half, data[:half]), "OK")
    expect("maybe", master.ask("BF.EXISTS", "half frozen", "absent"), 1)
    expect("the rest", master.ask("BF.LOADCHUNK", "frozen", end, data[half:]), "OK")
    attach(replica, master)
    expect("the rest later", master.ask("BF.LOADCHUNK", "half frozen", end, data[half:]), "OK")
    master.ask("COPY", "frozen", "copy of frozen")
    follow(master, replica)
    for server in (master, replica):
        for key in ("frozen", "half frozen", "copy of frozen"):
            expect(f"items of {key}", server.ask("BF.MEXISTS", key, *(f"i{i}" for i in range(300))), [1] * 300)
            # 1 % of 2,701 others, and of this filter, which never changes, exactly these.
            expect(f"strangers of {key}", sum(server.ask("BF.MEXISTS", key, *(f"i{i}" for i in range(300, 3001)))), 15)
    expect("adding", str(quietly(master, "BF.ADD", "frozen", "x"))[:24], "ERR the filter is frozen")


def of_redisbloom(module):
    """What RedisBloom's AOF and masters say makes RedisBloom's filters, whatever the settings. An item that RedisBloom
    refused comes as well; a filter whose false positives are others would refuse another one."""
    items = [f"i{i}" for i in range(130)]
    commands = [["BF.RESERVE", "nonscaling", "0.1", "100", "NONSCALING"],
                ["BF.INSERT", "inserted", "ERROR", "0.2", "CAPACITY", "100", "NONSCALING", "ITEMS", items[0]],
                *(["BF.ADD", key, item] for item in items for key in ("nonscaling", "added", "inserted")),
                ["BF.MADD", "many", *items]]
    # Whatever the limits: a filter above one of them, and one that could not grow as far as was asked for.
    commands += [["BF.RESERVE", "large", "0.01", "100000", "LAYOUT", "REDISBLOOM"],
                 ["BF.INSERT", "scales", "VALIDATESCALETO", "1000000", "ITEMS", "x"]]
    states = []
    for arguments in (("layout", "redisbloom"), ("keyed", "yes", "bloom-memory-usage-limit", "64kb")):
        server = Server(module, *arguments, config=("--appendonly", "yes"))
        (server.directory / "appendonly.aof").write_bytes(b"".join(request(*words) for words in commands))
        with server:
            states.append(digests(server))
            expect("as many as are asked for", {b"large", b"scales", b"many"} <= states[-1].keys(), True)
            expect("layouts", {server.ask("TYPE", key) for key in states[0]}, {"MBbloom--"})
            server.ask("BF.ADD", "by a client", "x")
            expect("a client's", server.ask("TYPE", "by a client"),
                   "MBbloom--" if "redisbloom" in arguments else "bloomery-")
    expect("digests from RedisBloom's AOF", states[1], states[0])


def without_words(module):
    """The server does not count the words of what it loads; Valkey 9.1 does, and does not start."""
    for name in ("BF.ADD", "BF.MADD", "BF.INSERT", "BF.RESERVE", "BF.LOADCHUNK", "CF.ADD"):
        server = Server(module, config=("--appendonly", "yes"))
        (server.directory / "appendonly.aof").write_bytes(request(name) + request("BF.ADD", "f", "x"))
        if server.start(must_run=False) is not None:
            expect(f"what comes after {name}", server.ask("BF.EXISTS", "f", "x"), 1)
        else:
            expect(f"{name} is refused", f"wrong number of arguments for '{name.lower()}'" in server.log, True)
        server.__exit__()


def main(module):
    of_redisbloom(module)
    without_words(module)
    append = ("--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync-delay", "0",
              "--repl-ping-replica-period", "3600")
    port = free_port()
    others = ("layout", "redisbloom", "error_rate", "0.2", "initial_size", "3", "expansion", "5")
    with Server(module, "client_time", "yes", port=port, config=append) as master, \
            Server(module, *others, config=("--replicaof", f"127.0.0.1 {port}",
                                            "--repl-diskless-load", "swapdb")) as replica:
        follow(master, replica)
        quiet_commands(master)
        every_write(master)
        draw = random.Random(SEED)
        for i in range(ROUNDS):
            draw.choice(WAYS)(master, random_words(draw))
            if i == ROUNDS // 2:
                master.ask("CONFIG", "SET", "bf.layout", "redisbloom", "bf.error-rate",
                           "0.05", "bf.initial-size", "17", "bf.expansion", "3")
        time.sleep(0.005)  # keys whose time is 1 ms
        half_loaded(master, replica)
        frozen(master, replica)
        set_back(master)
        states = digests(master)
        follow(master, replica)
        expect("keys", len(states) > 30, True)
        expect("digests of the replica", digests(replica), states)
        if "sending an error to its master" in replica.log:
            raise AssertionError("a command failed on the replica:\n" + replica.log)
        # A full resynchronisation goes through RDB.
        attach(replica, master)
        expect("digests after a full resynchronisation", digests(replica), states)
        # The master comes back from its AOF alone, with other settings.
        master.stop()
        master.arguments = list(others)
        master.start()
        expect("digests from the AOF", digests(master), states)
    print(f"{len(states)} keys, all alike")


if __name__ == "__main__":
    main(sys.argv[1])
