#!/usr/bin/env python3
"""What a server says of the module: settings, INFO, COMMAND, events; and how it loads.

usage: served_test.py MODULE
"""

import pathlib
import sys
import time

from expect import expect, refused
from server import Server


def info(server):
    return {name.removeprefix("bf_"): int(value) for name, value in server.info("bf").items()
            if not name.startswith("bf_bloom_")}  # valkey-bloom's names: valkey_bloom_test.py


def settings(server):
    get = lambda name: server.ask("CONFIG", "GET", "bf." + name)[1].decode()
    expect("defaults", [get(n) for n in ("layout", "error-rate", "initial-size", "expansion", "huge-pages")],
           ["native", "0.01", "100", "2", "yes"])
    for name, good, bad in (("layout", "redisbloom", "square"), ("error-rate", "0.25", "1"),
                            ("error-rate", "1e-05", "0"), ("error-rate", "0.3", "nan"),
                            ("initial-size", "7", "0"), ("initial-size", "1073741824", "2e9"),
                            ("expansion", "0", "32769"), ("expansion", "3", "-1"),
                            ("cf-initial-size", "2", "1"), ("cf-initial-size", "1073741824", "1073741825"),
                            ("cf-bucket-size", "1", "0"), ("cf-bucket-size", "255", "256"),
                            ("cf-max-iterations", "1", "0"), ("cf-max-iterations", "65535", "65536"),
                            ("cf-expansion-factor", "0", "-1"), ("cf-expansion-factor", "32768", "32769"),
                            ("cf-max-expansions", "1", "0"), ("cf-max-expansions", "65536", "65537"),
                            ("keyed", "no", "perhaps"), ("huge-pages", "no", "large"), ("huge-pages", "yes", "2"),
                            ("client-time", "no", "now")):
        server.ask("CONFIG", "SET", "bf." + name, good)
        refused(server, "CONFIG", "SET", "bf." + name, bad)
        expect(name, get(name), good)
    server.ask("CONFIG", "SET", "bf.initial-size", 50)
    server.ask("BF.ADD", "of settings", "x")
    expect("TYPE", server.ask("TYPE", "of settings"), "MBbloom--")
    said = dict(zip(*[iter(server.ask("BF.INFO", "of settings"))] * 2))
    expect("INFO", (said["Capacity"], said["Expansion rate"]), (50, 3))
    server.ask("CONFIG", "SET", "bf.expansion", 0)
    server.ask("BF.ADD", "of settings 2", "x")
    expect("no growth", server.ask("BF.INFO", "of settings 2", "EXPANSION"), [None])
    server.ask("CONFIG", "SET", "bf.layout", "native", "bf.error-rate", "0.01",
               "bf.initial-size", "100", "bf.expansion", "2", "bf.cf-initial-size", "1024",
               "bf.cf-bucket-size", "2", "bf.cf-max-iterations", "20", "bf.cf-expansion-factor", "1",
               "bf.cf-max-expansions", "32")
    server.ask("FLUSHALL", "SYNC")


def counts(server):
    before = info(server)
    server.ask("BF.RESERVE", "c", "0.0001", 4, "NONSCALING")
    server.ask("BF.MADD", "c", 1, 2, 3, 1)
    server.ask("BF.MEXISTS", "c", 1, 2, 99)
    now = info(server)
    gained = {name: now[name] - before[name] for name in now if name != "bytes"}
    expect("counts", gained, {"count": 1, "items": 3, "full": 0, "adds_new": 3, "adds_seen": 1,
                              "checks_hit": 2, "checks_miss": 1, "cuckoo_count": 0,
                              "cuckoo_bytes": 0, "cuckoo_items": 0})
    server.ask("BF.ADD", "c", 4)
    expect("full", info(server)["full"], 1)
    server.ask("COPY", "c", "d")
    expect("full copies", info(server)["full"], 2)
    server.ask("BF.CLEAR", "d")
    expect("full after BF.CLEAR", info(server)["full"], 1)
    server.ask("BF.RESERVE", "w", "0.01", 50, "WINDOW", 50, "ITEMS")
    server.ask("BF.MADD", "w", 1, 2, 3)
    expect("full after a window", info(server)["full"], 1)
    server.ask("DEL", "w")
    server.ask("RESTORE", "e", 0, server.ask("DUMP", "c"))
    expect("count", info(server)["count"], 3)
    server.ask("DEL", "c", "d", "e")
    now = info(server)
    expect("all gone", [now[n] for n in ("count", "bytes", "items", "full")], [0, 0, 0, 0])


# What RedisBloom 8.10 says of its commands: flags, arity, since, tips.
OF_REDISBLOOM = {
    "bf.reserve": ("write denyoom", -4, "1.0.0"), "bf.add": ("write denyoom", 3, "1.0.0"),
    "bf.madd": ("write denyoom", -3, "1.0.0"),
    "bf.insert": ("write denyoom", -3, "1.0.0"),  # its arity is -4: ITEMS may be left out here
    "bf.exists": ("readonly fast", 3, "1.0.0"), "bf.mexists": ("readonly fast", -3, "1.0.0"),
    "bf.info": ("readonly fast", -2, "1.0.0", "dont_cache"), "bf.card": ("readonly fast", 2, "2.4.4"),
    "bf.debug": ("readonly fast", 2, "1.0.0", "dont_cache"),
    "bf.scandump": ("readonly fast", 3, "1.0.0", "dont_cache"),
    "bf.loadchunk": ("write denyoom", 4, "1.0.0"),
    "cf.reserve": ("write denyoom", -3, "1.0.0"), "cf.add": ("write denyoom", 3, "1.0.0"),
    "cf.addnx": ("write denyoom", 3, "1.0.0"), "cf.insert": ("write denyoom", -4, "1.0.0"),
    "cf.insertnx": ("write denyoom", -4, "1.0.0"), "cf.exists": ("readonly fast", 3, "1.0.0"),
    "cf.mexists": ("readonly fast", -3, "1.0.0"), "cf.count": ("readonly fast", 3, "1.0.0"),
    "cf.del": ("write fast", 3, "1.0.0"),
    "cf.compact": ("write", 2, "1.0.0"),  # RedisBloom says that it reads
    "cf.scandump": ("readonly fast", 3, "1.0.0", "dont_cache"),
    "cf.loadchunk": ("write denyoom", 4, "1.0.0"),
    "cf.info": ("readonly fast", 2, "1.0.0", "dont_cache"),
    "cf.debug": ("readonly fast", 2, "1.0.0", "dont_cache")}


def as_redisbloom(server):
    for name, (flags, arity, since, *tips) in OF_REDISBLOOM.items():
        described = server.ask("COMMAND", "INFO", name)[0]
        docs = server.ask("COMMAND", "DOCS", name)[1]
        said = dict(zip([field.decode() for field in docs[::2]], docs[1::2]))
        expect(f"flags of {name}", {str(flag) for flag in described[2]} - {"module"}, set(flags.split()))
        expect(f"arity of {name}", described[1], arity)
        expect(f"keys of {name}", described[3:6], [1, 1, 1])
        expect(f"since of {name}", said["since"].decode(), since)
        expect(f"tips of {name}", [str(tip if isinstance(tip, str) else tip.decode())
                                   for tip in described[7]], tips)


def commands(server):
    names = sorted(name.decode() for name in server.ask("COMMAND", "LIST", "FILTERBY", "MODULE",
                                                        "bf"))
    expect("commands", len(names), 31)
    for name in names:
        described = server.ask("COMMAND", "INFO", name)[0]
        docs = server.ask("COMMAND", "DOCS", name)[1]
        said = dict(zip([field.decode() for field in docs[::2]], docs[1::2]))
        for field in ("summary", "since", "complexity", "module", "arguments"):
            if not said.get(field):
                raise AssertionError(f"COMMAND DOCS {name} has no {field}")
        for ours in {"bf.reserve": ("WINDOW", "KEYED"), "bf.insert": ("KEYED",)}.get(name, ()):
            for field in ("history", "arguments"):
                if ours not in str(said.get(field)):
                    raise AssertionError(f"COMMAND DOCS {name}: {field} has no {ours}")
        writes = "write" in described[2]
        expect(f"{name} either reads or writes", writes != ("readonly" in described[2]), True)
        expect(f"key specs of {name}", len(described[8]), 2 if name == "bf.merge" else 1)
        expect(f"first key of {name}", described[3], 1)
        if name in ("bf.madd", "cf.mexists"):
            items = dict(zip(said["arguments"][-1][::2], said["arguments"][-1][1::2]))
            flags = [str(flag) for flag in items[b"flags"]]
            expect(f"items of {name}", (items[b"name"], flags), (b"item", ["multiple"]))
    expect("keys of BF.MERGE", server.ask("COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c"),
           [b"a", b"b", b"c"])
    expect("keys of BF.INSERT",
           server.ask("COMMAND", "GETKEYS", "BF.INSERT", "a", "ITEMS", "b"), [b"a"])
    as_redisbloom(server)
    categories(server, names)
    rights_to_keys(server, names)


def rights_to_keys(server, names):
    """By the key specs the server refuses writes to a user with only the right to read keys, and the reverse."""
    samples = {"bf.reserve": ("0.1", 10), "bf.insert": ("ITEMS", "x"), "bf.loadchunk": (1, "x"), "bf.merge": ("x",),
               "cf.reserve": (10,), "cf.insert": ("ITEMS", "x"), "cf.insertnx": ("ITEMS", "x"),
               "cf.loadchunk": (1, "x"), "bf.scandump": (0,), "cf.scandump": (0,), "bf.advance": (1,)}
    server.ask("ACL", "SETUSER", "reader", "on", "nopass", "%R~*", "+@all")
    server.ask("ACL", "SETUSER", "writer", "on", "nopass", "%W~*", "+@all")
    for name in names:
        arity = server.ask("COMMAND", "INFO", name)[0][1]
        words = (name, "k", *samples.get(name, ("x",) * (abs(arity) - 2)))
        writes = "write" in server.ask("COMMAND", "INFO", name)[0][2]
        allowed = {user for user in ("reader", "writer") if server.ask("ACL", "DRYRUN", user, *words) == "OK"}
        # BF.MERGE reads its sources.
        expect(f"users with the right to run {name}", allowed,
               set() if name == "bf.merge" else {"writer"} if writes else {"reader"})
    reader = server.connect()
    reader.ask("AUTH", "reader", "")
    reader.ask("BF.EXISTS", "k", "x")
    reader.send("CF.ADD", "k", "x")
    expect("a reader that writes", str(reader.read()).startswith("NOPERM"), True)
    reader.close()


def categories(server, names):
    """Those of the server where modules have any (7.2 on), and one of our own where it takes it."""
    said = server.info("server")
    # Valkey goes by 7.2.4 as a Redis.
    number = lambda field: tuple(int(part) for part in said.get(field, "0.0").split(".")[:2])
    has_any = number("redis_version") >= (7, 2)
    has_own = b"bloom" in server.ask("ACL", "CAT")
    expect("the category bloom", has_own,
           number("redis_version") >= (7, 4) or number("valkey_version") >= (8, 0))
    for name in names:
        _, _, flags, _, _, _, said, *_ = server.ask("COMMAND", "INFO", name)[0]
        wanted = {"@write" if "write" in flags else "@read"} if has_any else set()
        wanted |= {"@bloom" if name.startswith("bf.") else "@cuckoo"} if has_own else set()
        expect(f"categories of {name}", set(said) - {"@fast"}, wanted)
    if has_own:
        server.ask("ACL", "SETUSER", "filters", "on", "nopass", "~*", "+@bloom")
        only = server.connect()
        only.ask("AUTH", "filters", "")
        only.ask("BF.EXISTS", "k", "x")
        only.send("GET", "k")
        expect("another command", str(only.read()).startswith("NOPERM"), True)
        only.close()


def events(server):
    """Each command says what it has changed: to those who hear of it, and to those who watch the key."""
    server.ask("BF.MADD", "dumped", "x", "y")
    server.ask("CF.ADD", "cf dumped", "x")
    server.ask("CONFIG", "SET", "notify-keyspace-events", "Ed")
    listener = server.connect()
    listener.ask("PSUBSCRIBE", "__keyevent@0__:*")
    chunks = lambda key, family, number: server.ask(family + ".SCANDUMP", key, number)[1]
    bits, entries = chunks("dumped", "BF", 1), chunks("cf dumped", "CF", 1)
    for words, wanted in (
            (("BF.RESERVE", "r", "0.01", 9), ["bf.reserve"]), (("BF.RESERVE", "r", "0.01", 9, "IFNOTEXISTS"), []),
            (("BF.ADD", "v", "x"), ["bf.reserve", "bf.add"]), (("BF.ADD", "v", "x"), []),
            (("BF.MADD", "v", "x", "y"), ["bf.add"]), (("BF.INSERT", "v", "ITEMS", "z"), ["bf.add"]),
            (("BF.INSERT", "i", "CAPACITY", 9), ["bf.reserve"]), (("BF.INSERT", "v", "CAPACITY", 9), []),
            (("BF.CLEAR", "v"), ["bf.clear"]),
            (("BF.MERGE", "w", "v"), ["bf.merge"]), (("BF.MEXISTS", "v", "x"), []),
            (("BF.LOADCHUNK", "copy", 1, chunks("dumped", "BF", 0)), ["bf.reserve"]),
            (("BF.LOADCHUNK", "copy", 1 + len(bits), bits), ["bf.loadchunk"]),
            (("BF.LOADCHUNK", "copy", 1 + len(bits), bits), []),  # it came before
            (("BF.RESERVE", "n", "0.01", 9, "COUNTING"), ["bf.reserve"]), (("BF.ADD", "n", "x"), ["bf.add"]),
            (("BF.DEL", "n", "x"), ["bf.del"]), (("BF.DEL", "n", "x"), []), (("BF.ADD", "n", "x"), ["bf.add"]),
            (("BF.MDEL", "n", "y", "x"), ["bf.del"]),
            (("BF.RESERVE", "t", "0.01", 9, "WINDOW", 8000, "SECONDS"), ["bf.reserve"]),
            (("BF.ADVANCE", "t", int(time.time()) + 900), ["bf.advance"]), (("BF.ADVANCE", "t", 1), []),
            (("CF.RESERVE", "c", 9), ["cf.reserve"]), (("CF.ADD", "c", "x"), ["cf.add"]),
            (("CF.ADDNX", "c", "x"), []), (("CF.ADDNX", "c", "y"), ["cf.add"]), (("CF.EXISTS", "c", "x"), []),
            (("CF.INSERT", "d", "ITEMS", "x"), ["cf.reserve", "cf.add"]), (("CF.INSERTNX", "d", "ITEMS", "x"), []),
            (("CF.DEL", "c", "x"), ["cf.del"]), (("CF.DEL", "c", "x"), []), (("CF.COMPACT", "c"), ["cf.compact"]),
            (("CF.LOADCHUNK", "cf copy", 1, chunks("cf dumped", "CF", 0)), ["cf.reserve"]),
            (("CF.LOADCHUNK", "cf copy", 1 + len(entries), entries), ["cf.loadchunk"]),
            (("CF.LOADCHUNK", "cf copy", 1 + len(entries), entries), [])):
        watcher = server.connect()
        watcher.ask("WATCH", words[1])
        server.ask(*words)
        server.ask("PUBLISH", "__keyevent@0__:end", "")
        heard = list(iter(lambda: listener.read()[2].decode().split(":")[1], "end"))
        expect(f"events of {words[:2]}", heard, wanted)
        watcher.ask("MULTI")
        watcher.ask("PING")
        expect(f"{words[:2]} touches the key", watcher.ask("EXEC"), None if wanted else ["PONG"])
        watcher.close()
    listener.close()
    server.ask("CONFIG", "SET", "notify-keyspace-events", "")
    server.ask("FLUSHALL", "SYNC")


def loading(module):
    for arguments in (("layout", "square"), ("layout",), ("keyed", "perhaps"), ("huge_pages", "2"),
                      ("client_time", "2"), ("error_rate", "2"), ("error_rate", "0"), ("error_rate", "low"),
                      ("initial_size", "0"), ("initial_size", "many"),
                      ("CF_BUCKET_SIZE", "256"), ("cf-max-iterations", "0"),
                      ("nonsense", "1")):
        server = Server(module, *arguments)
        if server.start(must_run=False) is not None:
            server.stop()
            raise AssertionError(f"loaded with {arguments}")
        expect(f"the log names {arguments[0]}", f"argument '{arguments[0]}'" in server.log, True)
        server.__exit__()
    upper = Server(module, "ERROR_RATE", "0.02", "INITIAL_SIZE", "400", "EXPANSION_FACTOR", "3", "keyed", "no",
                   config=("--enable-module-command", "yes"))
    with upper as server:
        expect("RedisBloom's arguments",
               [server.ask("CONFIG", "GET", "bf." + name)[1]
                for name in ("error-rate", "initial-size", "expansion", "keyed")], [b"0.02", b"400", b"3", b"no"])
        # A second of the same name: its types are not even tried.
        expect("a second", refused(server, "MODULE", "LOAD", str(module))[:31], "ERR Error loading the extension")
        expect("the log", "is taken" in server.log, False)
        # The types keep it from being unloaded; the server says so and lives.
        refused(server, "MODULE", "UNLOAD", "bf")
        expect("still there", server.ask("BF.ADD", "k", "x"), 1)


def loading_at_run_time(module):
    """A server that cannot load the module goes on, and can load it later, with no trace of the first attempt."""
    with Server(None, config=("--enable-module-command", "yes")) as server:
        for words in (("LOAD", module, "error_rate", "0.5", "nonsense", "1"),
                      ("LOADEX", module, "CONFIG", "bf.initial-size", "7", "CONFIG", "bf.layout", "square")):
            refused(server, "MODULE", *words)
            expect("alive", server.ask("PING"), "PONG")
        expect("loaded", server.ask("MODULE", "LOAD", str(module)), "OK")
        server.ask("BF.ADD", "k", "x")
        expect("defaults", server.ask("BF.INFO", "k", "RESERVE")[0][:2], [b"0.01", b"100"])


def cuckoo_arguments(module):
    names = {"BF-EXPANSION-FACTOR": 3, "CF_INITIAL_SIZE": 64, "CF_BUCKET_SIZE": 4,
             "CF_MAX_ITERATIONS": 7, "cf-expansion-factor": 2, "CF_MAX_EXPANSIONS": 5}
    with Server(module, *(word for pair in names.items() for word in pair)) as server:
        for name, value in names.items():
            name = name.lower().replace("_", "-").replace("bf-expansion-factor", "expansion")
            expect(name, server.ask("CONFIG", "GET", "bf." + name)[1], b"%d" % value)
        server.ask("CF.ADD", "k", "x")
        expect("a filter of the settings", server.ask("CF.DEBUG", "k"),
               b"bktsize:4 buckets:16 items:1 deletes:0 filters:1 max_iterations:7 expansion:2")
        server.ask("CONFIG", "SET", "bf.cf-max-expansions", "1")
        refused(server, "CF.ADD", "k", "y")


def counts_of_cuckoo_filters(server):
    """What INFO counts is the sum over the keys, whatever happens to them."""
    def check(what):
        of_keys = [0, 0, 0]
        for key in server.ask("KEYS", "*"):
            said = dict(zip(*[iter(server.ask("CF.INFO", key))] * 2))
            of_keys[0] += 1
            of_keys[1] += said["Size"]
            of_keys[2] += said["Number of items inserted"]
        now = info(server)
        expect(what, [now[f"cuckoo_{name}"] for name in ("count", "bytes", "items")], of_keys)

    server.ask("FLUSHALL", "SYNC")
    server.ask("CF.RESERVE", "a", 100, "EXPANSION", 2)
    check("reserved")
    server.ask("CF.INSERT", "a", "ITEMS", *range(1000))
    server.ask("CF.ADD", "b", "x")
    check("added, and grown")
    for i in range(600):
        server.ask("CF.DEL", "a", i)
    check("removed")
    server.ask("CF.COMPACT", "a")
    check("compacted")
    server.ask("COPY", "a", "c")
    server.ask("RESTORE", "d", 0, server.ask("DUMP", "a"))
    server.ask("CF.LOADCHUNK", "e", *server.ask("CF.SCANDUMP", "a", 0))
    check("copied and loaded")
    server.ask("DEBUG", "RELOAD")
    check("reloaded")
    server.ask("UNLINK", "a", "c")
    check("unlinked")
    server.ask("FLUSHALL", "SYNC")
    check("gone")


def main(module):
    module = pathlib.Path(module).resolve()
    with Server(module, config=("--enable-module-command", "yes")) as server:
        expect("counts at the start", {int(value) for value in server.info("bf").values()}, {0})
        settings(server)
        counts(server)
        counts_of_cuckoo_filters(server)
        commands(server)
        events(server)
    loading(module)
    loading_at_run_time(module)
    cuckoo_arguments(module)


if __name__ == "__main__":
    main(sys.argv[1])
