#!/usr/bin/env python3
"""What a server says of the module: settings, INFO, COMMAND, events, memory; and how it loads.

usage: served_test.py MODULE
"""

import pathlib
import sys
import time

from expect import expect, refused
from server import ReplyError, Server, request


def info(server):
    lines = server.ask("INFO", "bf").decode().splitlines()
    return {name: int(value) for name, value in
            (line.removeprefix("bf_").split(":") for line in lines if ":" in line)
            if not name.startswith("bloom_")}  # valkey-bloom's names: valkey_bloom_test.py


def settings(server):
    get = lambda name: server.ask("CONFIG", "GET", "bf." + name)[1].decode()
    expect("defaults", [get(n) for n in ("layout", "error-rate", "initial-size", "expansion", "huge-pages")],
           ["native", "0.01", "100", "2", "yes"])
    for name, good, bad in (("layout", "redisbloom", "square"), ("error-rate", "0.25", "1"),
                            ("error-rate", "1e-05", "0"), ("error-rate", "0.3", "nan"),
                            ("initial-size", "7", "0"), ("initial-size", "1073741824", "2e9"),
                            ("expansion", "0", "32769"), ("expansion", "3", "-1"),
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
               "bf.initial-size", "100", "bf.expansion", "2")
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
    expect("keys of BF.MERGE", server.ask("COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c"),
           [b"a", b"b", b"c"])
    expect("keys of BF.INSERT",
           server.ask("COMMAND", "GETKEYS", "BF.INSERT", "a", "ITEMS", "b"), [b"a"])
    as_redisbloom(server)
    categories(server, names)
    # A user with only the right to read keys cannot add to them: the server knows by the key specs.
    server.ask("ACL", "SETUSER", "reader", "on", "nopass", "%R~*", "+@all")
    reader = server.connect()
    reader.ask("AUTH", "reader", "")
    reader.ask("BF.EXISTS", "k", "x")
    try:
        reader.ask("BF.ADD", "k", "x")
        raise AssertionError("a reader may write")
    except ReplyError as error:
        expect("a reader that writes", str(error).startswith("NOPERM"), True)
    reader.close()


def categories(server, names):
    """Those of the server where modules have any (7.2 on), and one of our own where it takes it."""
    said = dict(line.split(":", 1) for line in
                server.ask("INFO", "server").decode().splitlines() if ":" in line)
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
    server.ask("CONFIG", "SET", "notify-keyspace-events", "Ed")
    listener = server.connect()
    listener.ask("PSUBSCRIBE", "__keyevent@0__:*")
    server.ask("BF.ADD", "v", "x")
    server.ask("BF.ADD", "v", "x")
    server.ask("BF.CLEAR", "v")
    server.ask("BF.MERGE", "w", "v")
    heard = [listener.read()[2].decode().split(":")[1] for _ in range(4)]
    expect("events", heard, ["bf.reserve", "bf.add", "bf.clear", "bf.merge"])
    listener.close()
    server.ask("CONFIG", "SET", "notify-keyspace-events", "")
    server.ask("FLUSHALL", "SYNC")


def at_once(server, commands):
    """In one pipeline, of a connection that leaves no buffers behind."""
    connection = server.connect()
    requests = [request(*words) for words in commands]
    for first in range(0, len(requests), 500):
        part = requests[first:first + 500]
        connection.socket.sendall(b"".join(part))
        for _ in part:
            if isinstance(said := connection.read(), ReplyError):
                raise said
    connection.close()


def allocated(size):
    """What jemalloc takes for so many bytes: four sizes between each power of two and the next."""
    step = max(16, (1 << (size - 1).bit_length()) // 8)
    return -(-size // step) * step


def memory(server):
    used = lambda: int(next(line for line in server.ask("INFO", "memory").decode().splitlines()
                            if line.startswith("used_memory:")).split(":")[1])
    # A filter a user: what they take beyond what the same keys with integers do. Enough of them that
    # the server's own buffers, some 16 KiB more or less, do not show.
    users = 5000
    of_jemalloc = "mem_allocator:jemalloc" in server.ask("INFO", "memory").decode()
    for kind, words, bytes_of_a_key in (
            ("plain", (), 0), ("plain, keyed", ("KEYED",), 16),
            ("counting", ("COUNTING",), 0), ("counting, keyed", ("COUNTING", "KEYED"), 16),
            ("window of 5 slices", ("WINDOW", 2592000, "SECONDS", "SLICES", 5), 0),
            ("window of 8 slices", ("WINDOW", 2592000, "SECONDS"), 0),
            ("window of 8, keyed", ("WINDOW", 2592000, "SECONDS", "KEYED"), 16)):
        server.ask("FLUSHALL", "SYNC")
        server.ask("BF.RESERVE", "warm", 0.01, 100, *words)
        size = int(server.ask("BF.DEBUG", "warm")[1].split()[0].split(b":")[1])
        at_once(server, (["SET", f"user:{key}", 1] for key in range(users)))
        integers = used()
        at_once(server, (["DEL", f"user:{key}"] for key in range(users)))
        at_once(server, (["BF.RESERVE", f"user:{key}", 0.01, 100, *words] for key in range(users)))
        # The server keeps an object and a module's value, 16 bytes each; small integers need neither.
        each = (used() - integers) / users - 32
        rounded = allocated(size)
        print(f"{kind:20}{size:5} bytes of bits, {each - size:4.0f} beyond them and the server's own"
              + (f", {rounded - size} of them since the allocator gives {rounded}"
                 if rounded != size else ""))
        # Of jemalloc, which servers are made with: others have bytes of their own in every allocation.
        if of_jemalloc:
            expect(f"{kind}: at most 100 bytes beyond its bits, and its key",
                   each - rounded <= 100 + bytes_of_a_key, True)
        expect("MEMORY USAGE", server.ask("MEMORY", "USAGE", "user:1") > size + 64, True)
    server.ask("FLUSHALL", "SYNC")
    # Half a gigabyte that nobody uses takes no memory of the machine.
    server.ask("BF.RESERVE", "huge", 0.01, 450_000_000)
    # Nor do a copy of one and a merge.
    server.ask("BF.RESERVE", "large", 0.01, 150_000_000)
    server.ask("COPY", "large", "copied")
    server.ask("BF.MERGE", "copied", "large")
    resident = int(next(line for line in server.ask("INFO", "memory").decode().splitlines()
                        if line.startswith("used_memory_rss:")).split(":")[1])
    expect("resident", resident < 100_000_000, True)
    server.ask("DEL", "huge", "large", "copied")
    end = time.monotonic() + 30
    while used() > 90_000_000 and time.monotonic() < end:  # Valkey 8 frees it in a thread
        time.sleep(0.01)


def refusals(module):
    """A filter that does not fit is refused before memory is taken for it."""
    headers = []
    with Server(module) as other:
        for layout in ("NATIVE", "REDISBLOOM"):
            other.ask("BF.RESERVE", layout, 0.01, 450_000_000, "NONSCALING", "LAYOUT", layout)
            headers.append(other.ask("BF.SCANDUMP", layout, 0)[1])
    with Server(module) as server:
        peak = lambda: peaks_of(server)
        before = peak()
        server.ask("CONFIG", "SET", "maxmemory", "100mb")
        no_memory = "ERR Insufficient memory to create filter"
        reserve = ["BF.RESERVE", "h", 0.01, 450_000_000]
        redisblooms = ["BF.LOADCHUNK", "h", 1, headers[1]]
        for words in (reserve, [*reserve, "LAYOUT", "REDISBLOOM"], [*reserve, "COUNTING"],
                      [*reserve, "WINDOW", 450_000_000, "ITEMS"],
                      [*reserve, "COUNTING", "COUNTERBITS", 8], [*reserve, "KEYED"],
                      [*reserve, "WINDOW", 4000, "SECONDS"],
                      ["BF.INSERT", "h", "CAPACITY", 450_000_000, "ITEMS", "x"],
                      ["BF.LOADCHUNK", "h", 1, headers[0]], redisblooms):
            too_large = "ERR received bad data" if words == redisblooms else no_memory
            expect(f"above maxmemory: {words[:6]}", refused(server, *words), too_large)
            said = refused(server, "EVAL", "return redis.call(unpack(ARGV))", 0, *words)
            expect(f"in Lua: {words[:6]}", too_large[4:] in said, True)
            server.ask("MULTI")
            server.ask(*words)
            expect(f"in MULTI: {words[:6]}", [str(one) for one in server.ask("EXEC")], [too_large])
        server.ask("BF.RESERVE", "grows", 0.01, 10_000, "EXPANSION", 30_000)
        expect("growing above maxmemory",
               str(server.ask("BF.MADD", "grows", *range(20_000))[-1]),
               "ERR problem inserting into filter")
        server.ask("DEL", "grows")
        server.ask("CONFIG", "SET", "maxmemory", 0)
        expect("above the machine", refused(server, "BF.RESERVE", "h", 0.01, 2**36), no_memory)
        expect("above any", refused(server, "BF.RESERVE", "h", 1e-9, 2**38)[:4], "ERR ")
        expect("nothing was made", server.ask("KEYS", "*"), [])
        for what, rose in ((what, now - before[what]) for what, now in peak().items()):
            expect(f"{what} rose by {rose} bytes", rose < 20_000_000, True)
    left_of_maxmemory(module)


def peaks_of(server):
    """As the server counts, and of the addresses of the process: no allocation is too short for them."""
    said = server.ask("INFO", "memory").decode().splitlines()
    used = next(line for line in said if line.startswith("used_memory_peak:"))
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    addresses = next(line for line in status if line.startswith("VmPeak"))
    return {"used_memory_peak": int(used.split(":")[1]), "VmPeak": 1024 * int(addresses.split()[1])}


def left_of_maxmemory(module):
    """Where nothing is evicted, what is used counts: no command makes the server refuse those after it."""
    too_large = "ERR Insufficient memory to create filter"
    with Server(module, config=("--maxmemory", "100mb", "--maxmemory-policy", "noeviction")) as server:
        server.ask("BF.RESERVE", "first", 0.01, 50_000_000, "NONSCALING")
        header = server.ask("BF.SCANDUMP", "first", 0)[1]
        server.ask("BF.RESERVE", "grows", 0.01, 10_000, "EXPANSION", 5_000)
        before = peaks_of(server)
        for words in (["BF.RESERVE", "h", 0.01, 50_000_000], ["BF.LOADCHUNK", "h", 1, header],
                      ["BF.INSERT", "h", "CAPACITY", 50_000_000, "ITEMS", "x"],
                      ["BF.MERGE", "h", "first"], ["BF.MERGE", "h", "first", "first"]):
            expect(f"above what is left: {words[:4]}", refused(server, *words), too_large)
        expect("growing above what is left", str(server.ask("BF.MADD", "grows", *range(20_000))[-1]),
               "ERR problem inserting into filter")
        for what, rose in ((what, now - before[what]) for what, now in peaks_of(server).items()):
            expect(f"{what} rose by {rose} bytes", rose < 20_000_000, True)
        expect("into one that has the memory", server.ask("BF.MERGE", "first", "first"), "OK")
        expect("the server takes writes", server.ask("SET", "x", "y"), "OK")
        server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        expect("what evicts makes room", server.ask("BF.RESERVE", "h", 0.01, 50_000_000), "OK")
        server.ask("FLUSHALL", "SYNC")
        # What is larger than maxmemory, because that was lowered, is not copied.
        server.ask("BF.RESERVE", "h", 0.01, 50_000_000)
        server.ask("CONFIG", "SET", "maxmemory-policy", "volatile-lru", "maxmemory", "50mb")
        said = refused(server, "BF.MERGE", "to", "h")
        expect("a copy above maxmemory", said == too_large or said.startswith("OOM"), True)


def loading(module):
    for arguments in (("layout", "square"), ("layout",), ("keyed", "perhaps"), ("huge_pages", "2"),
                      ("client_time", "2"), ("error_rate", "2"), ("initial_size", "0"),
                      ("CF_BUCKET_SIZE", "256"), ("cf-max-iterations", "0"),
                      ("nonsense", "1")):
        server = Server(module, *arguments)
        if server.start(must_run=False) is not None:
            server.stop()
            raise AssertionError(f"loaded with {arguments}")
        expect(f"the log names {arguments[0]}", f"argument '{arguments[0]}'" in server.log, True)
        server.__exit__()
    upper = Server(module, "ERROR_RATE", "0.02", "INITIAL_SIZE", "400")
    with upper as server:
        expect("RedisBloom's arguments",
               [server.ask("CONFIG", "GET", "bf." + name)[1]
                for name in ("error-rate", "initial-size")], [b"0.02", b"400"])
        # A second of the same name, and one whose types are taken.
        refused(server, "MODULE", "LOAD", str(module))
        # The types keep it from being unloaded; the server says so and lives.
        refused(server, "MODULE", "UNLOAD", "bf")
        expect("still there", server.ask("BF.ADD", "k", "x"), 1)


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
        settings(server)
        counts(server)
        counts_of_cuckoo_filters(server)
        commands(server)
        events(server)
        memory(server)
    refusals(module)
    loading(module)
    cuckoo_arguments(module)


if __name__ == "__main__":
    main(sys.argv[1])
