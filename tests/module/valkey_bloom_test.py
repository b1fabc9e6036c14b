#!/usr/bin/env python3
"""What clients of valkey-bloom say, in a real server: options, fields, settings, metrics, the limit.

usage: valkey_bloom_test.py MODULE
"""

import sys

from expect import expect, refused
from server import ReplyError, Server, dumped, free_port, wait_until

SEED = bytes(range(32))
TOO_LARGE = "ERR operation exceeds bloom object memory limit"


def without_items(server):
    expect("made", server.ask("BF.INSERT", "empty", "CAPACITY", 500), [])
    expect("it is empty", server.ask("BF.CARD", "empty"), 0)
    expect("its capacity", server.ask("BF.INFO", "empty", "CAPACITY"), [500])
    expect("it is there", server.ask("BF.INSERT", "empty", "CAPACITY", 7), [])
    expect("it stays", server.ask("BF.INFO", "empty", "CAPACITY"), [500])
    expect("NOCREATE, there", server.ask("BF.INSERT", "empty", "NOCREATE"), [])
    expect("NOCREATE, missing", refused(server, "BF.INSERT", "none", "NOCREATE"), "ERR not found")
    expect("nothing was made", server.ask("EXISTS", "none"), 0)
    server.ask("SET", "text", "x")
    expect("another type", refused(server, "BF.INSERT", "text", "CAPACITY", 5)[:9], "WRONGTYPE")
    for words in (("f",), ("f", "CAPACITY", 5, "ITEMS"), ("f", "SEED"), ("f", "TIGHTENING")):
        expect(words, refused(server, "BF.INSERT", *words),
               "ERR wrong number of arguments for 'bf.insert' command")


def tightening(server):
    server.ask("BF.INSERT", "t", "ERROR", 0.01, "CAPACITY", 100, "TIGHTENING", 0.8, "ITEMS", "a")
    server.ask("BF.MADD", "t", *range(2000))
    rates = [float(line.decode().split("ratio:")[1]) for line in server.ask("BF.DEBUG", "t")[1:]]
    expect("sub-filters", len(rates) >= 3, True)
    # The first has a fifth of the rate, each further one 0.8 of the one before.
    for i, rate in enumerate(rates):
        expect(f"rate {i}", abs(rate / (0.01 * 0.2 * 0.8 ** i) - 1) < 1e-4, True)
    expect("all below what was asked for", sum(rates) < 0.01, True)
    expect("error", float(server.ask("bf.info", "t", "error")), 0.01)
    expect("tightening", float(server.ask("BF.INFO", "t", "tightening")), 0.8)
    expect("default", float(server.ask("BF.INFO", "empty", "TIGHTENING")), 0.5)
    expect("reserve", server.ask("BF.INFO", "t", "RESERVE")[0][-2:], [b"TIGHTENING", b"0.8"])
    # It travels with the filter: dumps, payloads, merges.
    for iterator, chunk in dumped(server, "t"):
        server.ask("BF.LOADCHUNK", "loaded", iterator, chunk)
    server.ask("RESTORE", "restored", 0, server.ask("DUMP", "t"))
    for key in ("loaded", "restored"):
        expect(key, float(server.ask("BF.INFO", key, "TIGHTENING")), 0.8)
        server.ask("BF.MADD", key, *range(5000, 9000))
        expect("what it has", all(server.ask("BF.MEXISTS", key, "a", *range(2000))), True)
    server.ask("BF.INSERT", "other", "ERROR", 0.01, "CAPACITY", 100, "TIGHTENING", 0.7)
    expect("a merge", refused(server, "BF.MERGE", "other", "t")[:22], "ERR the filters differ")
    for ratio, message in (("x", "ERR bad tightening ratio"),
                           *((ratio, "ERR (0 < tightening ratio range < 1)")
                             for ratio in (0, 1, -1, "nan", 0.00001))):
        if ratio == "nan":
            message = "ERR bad tightening ratio"
        expect(ratio, refused(server, "BF.INSERT", "x", "TIGHTENING", ratio), message)
    server.ask("BF.INSERT", "n", "NONSCALING", "TIGHTENING", 0.3)
    for field in ("TIGHTENING", "MAXSCALEDCAPACITY"):
        expect(field, refused(server, "BF.INFO", "n", field), "Invalid information value")
    expect("error of a fixed one", float(server.ask("BF.INFO", "n", "ERROR")), 0.01)


def seeds(server):
    for key in ("one", "two"):
        server.ask("BF.INSERT", key, "SEED", SEED, "ITEMS", "a", "b")
    server.ask("BF.INSERT", "three", "SEED", SEED[::-1], "ITEMS", "a", "b")
    expect("the same seed", dumped(server, "one") == dumped(server, "two"), True)
    expect("another seed", dumped(server, "one")[1:] == dumped(server, "three")[1:], False)
    # XXH3-128 of the seed: pinned, so that servers of all versions agree.
    expect("the key", dumped(server, "one")[0][1][-16:].hex(), "97d6fcb666957d45d2ee4c42b3c9e725")
    expect("a short seed", refused(server, "BF.INSERT", "x", "SEED", SEED[1:]), "ERR invalid seed")


def limited(server):
    expect("no limit", server.ask("BF.INFO", "empty", "MAXSCALEDCAPACITY"), None)
    server.ask("CONFIG", "SET", "bf.bloom-memory-usage-limit", "64kb")
    expect("bytes", server.ask("CONFIG", "GET", "bf.bloom-memory-usage-limit")[1], b"65536")
    expect("too large", refused(server, "BF.RESERVE", "big", 0.01, 100000), TOO_LARGE)
    expect("too large", refused(server, "BF.INSERT", "big", "CAPACITY", 100000, "ITEMS", "x"),
           TOO_LARGE)
    expect("nothing was made", server.ask("EXISTS", "big"), 0)
    for expansion in (1, 2, 4):
        key = f"grows{expansion}"
        server.ask("BF.INSERT", key, "CAPACITY", 100, "EXPANSION", expansion)
        most = server.ask("BF.INFO", key, "MAXSCALEDCAPACITY")
        # It grows as far as it said, and not an item further.
        taken = full = 0
        while not full:
            said = server.ask("BF.MADD", key, *(f"{taken}:{i}" for i in range(500)))
            full = isinstance(said[-1], ReplyError)
            taken += 1
        expect("why", str(said[-1]), TOO_LARGE)
        expect("how far", server.ask("BF.CARD", key), most)
        expect("its size", server.ask("BF.INFO", key, "SIZE")[0] <= 65536, True)
        expect("full", server.ask("BF.INFO", key, "MAXSCALEDCAPACITY"), most)
        options = ["CAPACITY", 100, "EXPANSION", expansion, "VALIDATESCALETO"]
        expect("reached", server.ask("BF.INSERT", f"ok{expansion}", *options, most), [])
        expect("beyond", refused(server, "BF.INSERT", "beyond", *options, most + 1),
               "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")
    # Planning each of the 200,000 sub-filters before the one with the lowest rate would take longer than the
    # connection waits.
    server.ask("CONFIG", "SET", "bf.bloom-memory-usage-limit", "4gb")
    options = ["CAPACITY", 1000, "EXPANSION", 1, "TIGHTENING", 0.9999]
    server.ask("BF.INSERT", "slow", *options)
    most = server.ask("BF.INFO", "slow", "MAXSCALEDCAPACITY")
    expect("millions that are alike", 100_000_000 < most < 1_000_000_000, True)
    expect("reached", server.ask("BF.INSERT", "ok", *options, "VALIDATESCALETO", most), [])
    expect("not scaling", refused(server, "BF.INSERT", "b", "NONSCALING", "VALIDATESCALETO", 5),
           "ERR cannot use NONSCALING and VALIDATESCALETO options together")
    for number in (0, "x"):
        expect(number, refused(server, "BF.INSERT", "b", "VALIDATESCALETO", number), "Bad capacity")
    # A dump, and a merge that would grow beyond it.
    server.ask("CONFIG", "SET", "bf.bloom-memory-usage-limit", 0)
    for key, items in (("small", 1), ("large", 60000)):
        server.ask("BF.INSERT", key, "CAPACITY", 100, "ITEMS", *range(items))
    header = dumped(server, "large")[0]
    server.ask("CONFIG", "SET", "bf.bloom-memory-usage-limit", "64kb")
    expect("a dump", refused(server, "BF.LOADCHUNK", "l", *header), TOO_LARGE)
    expect("a merge", refused(server, "BF.MERGE", "small", "large"), TOO_LARGE)
    expect("adding what is there", server.ask("BF.ADD", "large", "5"), 0)
    server.ask("CONFIG", "SET", "bf.bloom-memory-usage-limit", 0)


def metrics(server):
    server.ask("FLUSHALL", "SYNC")
    server.ask("BF.INSERT", "m", "CAPACITY", 100, "ITEMS", *range(1000))
    server.ask("BF.RESERVE", "c", 0.01, 50, "COUNTING")
    server.ask("COPY", "m", "copied")
    wanted = {"bloom_num_objects": 3,
              "bloom_total_memory_bytes": sum(server.ask("BF.INFO", key, "SIZE")[0]
                                              for key in ("m", "c", "copied")),
              "bloom_num_items_across_objects": 2 * server.ask("BF.CARD", "m"),
              "bloom_num_filters_across_objects": 2 * server.ask("BF.INFO", "m", "FILTERS")[0] + 1,
              "bloom_capacity_across_objects": 50 + 2 * server.ask("BF.INFO", "m", "CAPACITY")[0]}
    told = server.info("bf")
    for name, value in wanted.items():
        expect(name, int(told[f"bf_{name}"]), value)
    server.ask("FLUSHALL", "SYNC")
    expect("nothing is left", list(server.info("bf_bloom_core_metrics").values()), ["0"] * 5)


def as_options(values, prefix=""):
    """Lines of a configuration file, as a server takes them for options."""
    return [word for name, value in values.items() for word in (f"--{prefix}{name}", value)]


def settings_of_valkey(module):
    """A configuration file of valkey-bloom's, and module arguments; its names and ours are one."""
    values = {"bloom-capacity": 1000, "bloom-expansion": 3, "bloom-fp-rate": 0.02,
              "bloom-memory-usage-limit": "1mb", "bloom-use-random-seed": "yes"}
    with Server(module, config=as_options(values, "bf.")) as server:
        check_settings(server)
        server.ask("CONFIG", "SET", "bf.initial-size", 77)
        expect("one setting", server.ask("CONFIG", "GET", "bf.bloom-capacity")[1], b"77")
        server.ask("CONFIG", "SET", "bf.bloom-capacity", 78)
        expect("one setting", server.ask("CONFIG", "GET", "bf.initial-size")[1], b"78")
    with Server(module, *(word for pair in values.items() for word in pair)) as server:
        check_settings(server)
    # As an argument it is read by the module, as the server reads bytes.
    for text, number in (("3kb", 3 << 10), ("3MB", 3 << 20), ("3gb", 3 << 30), ("3k", 3000), ("3m", 3000000),
                         ("3g", 3000000000), ("3b", 3), ("0", 0), ("8589934591gb", 8589934591 << 30)):
        with Server(module, "bloom-memory-usage-limit", text) as server:
            expect(text, int(server.ask("CONFIG", "GET", "bf.bloom-memory-usage-limit")[1]), number)
    for text in ("-1", "kb", "1tb", "1.5mb", "8589934592gb"):
        server = Server(module, "bloom-memory-usage-limit", text)
        expect(text, server.start(must_run=False), None)
        server.__exit__()
    # CONFIG REWRITE writes every name of a setting, and someone may change one of them in the file.
    for names, value, changed in ((("error-rate", "bloom-fp-rate"), "0.02", "0.002"),
                                  (("bloom-capacity", "initial-size"), "1000", "2000")):
        with Server(module, config=as_options(dict.fromkeys(names, value), "bf.")) as server:
            expect("one value", server.ask("CONFIG", "GET", f"bf.{names[0]}")[1], value.encode())
        server = Server(module, config=as_options(dict(zip(names, (value, changed))), "bf."))
        expect(f"two values of {names}", server.start(must_run=False), None)
        expect("the log says why", "another name of this setting has another value" in server.log, True)
        server.__exit__()


def check_settings(server):
    server.ask("BF.ADD", "d", "x")
    expect("reserved", server.ask("BF.INFO", "d", "RESERVE")[0][:4],
           [b"0.02", b"1000", b"EXPANSION", b"3"])
    expect("keyed", b"keyed:1" in server.ask("BF.DEBUG", "d")[1], True)
    expect("limited", refused(server, "BF.RESERVE", "big", 0.01, 10000000), TOO_LARGE)


def unprefixed(module):
    """RedisBloom's names where the server takes settings without a prefix (Redis 8)."""
    names = {"bf-error-rate": "0.02", "bf-initial-size": "500", "bf-expansion-factor": "4",
             "cf-initial-size": "2048", "cf-bucket-size": "4", "cf-max-iterations": "30",
             "cf-expansion-factor": "2", "cf-max-expansions": "16"}
    with Server(module) as server:
        if not server.ask("CONFIG", "GET", "bf-error-rate"):
            version = int(server.info("server")["redis_version"].split(".")[0])
            # 255 is any version that is not released.
            expect("older", version < 8 or version == 255, True)
            return "none: the server takes no settings without a prefix"
        for name, value in names.items():
            server.ask("CONFIG", "SET", name, value)
            expect(name, server.ask("CONFIG", "GET", name)[1], value.encode())
        expect("one setting", server.ask("CONFIG", "GET", "bf.initial-size")[1], b"500")
        server.ask("BF.ADD", "d", "x")
        expect("used", server.ask("BF.INFO", "d", "RESERVE")[0][:4],
               [b"0.02", b"500", b"EXPANSION", b"4"])
    with Server(module, config=as_options(names)) as server:
        for name, value in names.items():
            expect(name, server.ask("CONFIG", "GET", name)[1], value.encode())
        expect("one setting", server.ask("CONFIG", "GET", "bf.expansion")[1], b"4")
    return "settings without a prefix"


def replicas(module):
    """A replica makes the same filter whatever its settings."""
    with Server(module, port=free_port()) as master, \
            Server(module, "bloom-memory-usage-limit", 2000) as replica:
        replica.ask("REPLICAOF", "127.0.0.1", master.port)
        wait_until("the replica is in sync",
                   lambda: b"master_link_status:up" in replica.ask("INFO", "replication"))
        master.ask("BF.INSERT", "t", "TIGHTENING", 0.7, "SEED", SEED, "VALIDATESCALETO", 5000)
        master.ask("BF.INSERT", "t", "ITEMS", *range(5000))
        expect("it follows", master.ask("WAIT", 1, 30000), 1)
        expect("equal", dumped(replica, "t") == dumped(master, "t"), True)


def main(module):
    with Server(module) as server:
        for test in (without_items, tightening, seeds, limited, metrics):
            test(server)
    with Server(module, "layout", "redisbloom") as server:
        expect("redisbloom", refused(server, "BF.INSERT", "x", "TIGHTENING", 0.3)[:34],
               "ERR TIGHTENING needs LAYOUT native")
        expect("seed", refused(server, "BF.INSERT", "x", "SEED", SEED)[:29],
               "ERR KEYED needs LAYOUT native")
        server.ask("BF.INSERT", "x", "TIGHTENING", 0.5, "ERROR", 0.03)
        expect("error", float(server.ask("BF.INFO", "x", "ERROR")), 0.03)
    settings_of_valkey(module)
    replicas(module)
    print(unprefixed(module))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
