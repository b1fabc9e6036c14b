#!/usr/bin/env python3
"""What the module takes of the server's memory: by filter, and of filters that do not fit.

usage: memory_test.py MODULE
"""

import pathlib
import sys
import time

from expect import expect, refused
from server import ReplyError, Server, quietly, request


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


def used(server):
    return int(server.info("memory")["used_memory"])


def taken(server, *words):
    """The bytes of a filter with these words, and those that are its bits."""
    server.ask("FLUSHALL", "SYNC")
    server.ask("BF.RESERVE", "warm", 0.01, 100, *words)
    size = int(server.ask("BF.DEBUG", "warm")[1].split()[0].split(b":")[1])
    # What they take beyond what the same keys with integers do. Enough of them that the server's own buffers, some
    # 16 KiB more or less, do not show.
    users = 5000
    at_once(server, (["SET", f"user:{key}", 1] for key in range(users)))
    integers = used(server)
    at_once(server, (["DEL", f"user:{key}"] for key in range(users)))
    at_once(server, (["BF.RESERVE", f"user:{key}", 0.01, 100, *words] for key in range(users)))
    # The server keeps an object and a module's value, 16 bytes each; small integers need neither.
    return (used(server) - integers) / users - 32, size


def memory(server):
    for _ in range(2):  # what the server makes once
        taken(server)
    of_jemalloc = server.info("memory")["mem_allocator"].startswith("jemalloc")
    for kind, words, bytes_of_a_key in (
            ("plain", (), 0), ("plain, keyed", ("KEYED",), 16),
            ("counting", ("COUNTING",), 0), ("counting, keyed", ("COUNTING", "KEYED"), 16),
            ("window of 5 slices", ("WINDOW", 2592000, "SECONDS", "SLICES", 5), 0),
            ("window of 8 slices", ("WINDOW", 2592000, "SECONDS"), 0),
            ("window of 8, keyed", ("WINDOW", 2592000, "SECONDS", "KEYED"), 16)):
        each, size = taken(server, *words)
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
    expect("resident", int(server.info("memory")["used_memory_rss"]) < 100_000_000, True)
    server.ask("DEL", "huge", "large", "copied")
    end = time.monotonic() + 30
    while used(server) > 90_000_000 and time.monotonic() < end:  # Valkey 8 frees it in a thread
        time.sleep(0.01)


def refusals(module):
    """A filter that does not fit is refused before memory is taken for it."""
    headers = []
    with Server(module) as other:
        for layout in ("NATIVE", "REDISBLOOM"):
            other.ask("BF.RESERVE", layout, 0.01, 450_000_000, "NONSCALING", "LAYOUT", layout)
            headers.append(other.ask("BF.SCANDUMP", layout, 0)[1])
    with Server(module) as server:
        before = peaks_of(server)
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
        server.ask("CF.RESERVE", "cuckoo", 4096, "EXPANSION", 32768)
        expect("a cuckoo filter above maxmemory", server.ask("CF.INSERT", "cuckoo", "ITEMS", *range(5000))[-1], -1)
        expect("one item above maxmemory", {str(quietly(server, "CF.ADD", "cuckoo", item)) for item in range(100)},
               {"1", "ERR Insufficient memory"})
        server.ask("DEL", "grows", "cuckoo")
        server.ask("CONFIG", "SET", "maxmemory", 0)
        expect("above the machine", refused(server, "BF.RESERVE", "h", 0.01, 2**36), no_memory)
        expect("above any", refused(server, "BF.RESERVE", "h", 1e-9, 2**38)[:4], "ERR ")
        expect("nothing was made", server.ask("KEYS", "*"), [])
        for what, rose in ((what, now - before[what]) for what, now in peaks_of(server).items()):
            expect(f"{what} rose by {rose} bytes", rose < 20_000_000, True)
    left_of_maxmemory(module)


def peaks_of(server):
    """As the server counts, and of the addresses of the process: no allocation is too short for them."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    addresses = next(line for line in status if line.startswith("VmPeak"))
    return {"used_memory_peak": int(server.info("memory")["used_memory_peak"]),
            "VmPeak": 1024 * int(addresses.split()[1])}


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


def main(module):
    with Server(module) as server:
        memory(server)
    refusals(module)


if __name__ == "__main__":
    main(sys.argv[1])
