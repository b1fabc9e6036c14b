#!/usr/bin/env python3
"""Filters that count, filters that forget and filters with a key, in a real server.

usage: kinds_test.py MODULE
"""

import struct
import sys
import time

from expect import expect, refused
from server import Server


def counting(server):
    server.ask("BF.RESERVE", "c", 0.0001, 1000, "COUNTING")
    items = [f"i{i}" for i in range(1000)]
    expect("adding", sum(server.ask("BF.MADD", "c", *items)) > 990, True)
    expect("adding again", server.ask("BF.ADD", "c", "i7"), 0)
    expect("count", server.ask("BF.COUNT", "c", "i7") >= 2, True)
    expect("count of an absent item", server.ask("BF.COUNT", "c", "absent"), 0)
    expect("card", server.ask("BF.CARD", "c"), 1001)
    expect("removing", server.ask("BF.DEL", "c", "i7"), 1)
    expect("still there once", server.ask("BF.EXISTS", "c", "i7"), 1)
    expect("removing an absent item", server.ask("BF.DEL", "c", "absent"), 0)
    expect("removing many", server.ask("BF.MDEL", "c", *items[:500]), [1] * 500)
    expect("what is left", all(server.ask("BF.MEXISTS", "c", *items[500:])), True)
    expect("what is gone", sum(server.ask("BF.MEXISTS", "c", *items[:500])) < 5, True)
    expect("card at last", server.ask("BF.CARD", "c"), 500)
    server.ask("BF.RESERVE", "d", 0.0001, 1000, "COUNTING")
    server.ask("BF.ADD", "d", "of d")
    server.ask("BF.MERGE", "d", "c")
    expect("merged", all(server.ask("BF.MEXISTS", "d", "of d", *items[500:])), True)
    expect("a filter that does not count", refused(server, "BF.DEL", "plain", "x"),
           "ERR the filter does not count; reserve one with COUNTING to remove items from")
    expect("of another kind", refused(server, "BF.MERGE", "d", "plain")[:25],
           "ERR the filters differ in"[:25])
    for _ in range(20):
        server.ask("BF.ADD", "c", "often")
    expect("saturated", server.ask("BF.COUNT", "c", "often"), None)


def reserved(server):
    """What BF.INFO ... RESERVE says makes the same filter again."""
    for words in (["0.003", "1000", "EXPANSION", "3", "LAYOUT", "native"],
                  ["0.1", "17", "NONSCALING", "LAYOUT", "redisbloom"],
                  ["1e-07", "1000", "COUNTING", "COUNTERBITS", "8"],
                  ["0.01", "80", "WINDOW", "80", "ITEMS", "SLICES", "4"],
                  ["0.01", "80", "WINDOW", "3600", "SECONDS", "SLICES", "8"]):
        server.ask("BF.RESERVE", "r", *words)
        expect("words", server.ask("BF.INFO", "r", "reserve"), [[word.encode() for word in words]])
        server.ask("DEL", "r")
    server.ask("BF.RESERVE", "r", "0.003", "10", "KEYED")
    server.ask("BF.MADD", "r", *range(1000))
    words = [b"0.003", b"10", b"EXPANSION", b"2", b"LAYOUT", b"native"]
    expect("grown", server.ask("BF.INFO", "r", "RESERVE"), [words])
    server.ask("DEL", "r")


def options(server):
    """An option that is misspelled is not ignored."""
    for words in (["COUNTING", "CELLS", "8"], ["COUNTING", "COUNTERBIT", "8"], ["COUNTING", "IFNOTEXIST"],
                  ["COUNTING", "COUNTING"], ["WINDOW", "60", "SECONDS", "SLICE", "8"], ["WINDOW", "60", "ITEMS", "x"]):
        said = refused(server, "BF.RESERVE", "o", "0.01", "10", *words)
        expect(words, said.startswith("ERR unknown option; "), True)
        expect("none is made", server.ask("EXISTS", "o"), 0)
    server.ask("BF.RESERVE", "o", "0.01", "10", "IFNOTEXISTS", "KEYED", "COUNTING", "COUNTERBITS", "8")
    server.ask("DEL", "o")


def windows(server):
    server.ask("BF.RESERVE", "w", 0.0001, 80, "WINDOW", 80, "ITEMS", "SLICES", 4)
    for i in range(200):
        server.ask("BF.ADD", "w", f"i{i}")
    last = server.ask("BF.MEXISTS", "w", *(f"i{i}" for i in range(120, 200)))
    expect("the last 80", all(last), True)
    old = server.ask("BF.MEXISTS", "w", *(f"i{i}" for i in range(100)))
    expect("before window and slice", sum(old) <= 2, True)
    expect("fields", server.ask("BF.INFO", "w", "FILTERS"), [5])
    expect("the rate of all slices", float(server.ask("BF.INFO", "w", "ERROR")), 0.0001)
    expect("slices with items", b" slices:4 live:5 " in server.ask("BF.DEBUG", "w")[1], True)
    expect("merging", refused(server, "BF.MERGE", "x", "w"),
           "ERR a filter with a window cannot be merged")
    server.ask("BF.CLEAR", "w")
    expect("cleared", any(server.ask("BF.MEXISTS", "w", *(f"i{i}" for i in range(200)))), False)
    expect("all that were ever added", server.ask("BF.CARD", "w"), 200)

    server.ask("BF.RESERVE", "t", 0.0001, 100, "WINDOW", 4, "SECONDS", "SLICES", 4)
    server.ask("BF.ADD", "t", "early")
    digest = server.ask("DEBUG", "DIGEST-VALUE", "t")
    expect("within", server.ask("BF.EXISTS", "t", "early"), 1)
    # The clock outruns the ring; look-ups see it, and change nothing.
    end = time.monotonic() + 30
    while server.ask("BF.EXISTS", "t", "early"):
        expect("it forgets", time.monotonic() < end, True)
        time.sleep(0.1)
    expect("many at once", server.ask("BF.MEXISTS", "t", "early", "never"), [0, 0])
    expect("unchanged by look-ups", server.ask("DEBUG", "DIGEST-VALUE", "t"), digest)
    # An hour by one command.
    server.ask("BF.RESERVE", "h", 0.0001, 100, "WINDOW", 3600, "SECONDS")
    server.ask("BF.MADD", "h", "a", "b")
    server.ask("CONFIG", "SET", "bf.client-time", "yes")
    server.ask("BF.ADVANCE", "h", int(time.time()) + 3600 * 2)
    expect("two hours later", server.ask("BF.MEXISTS", "h", "a", "b"), [0, 0])
    expect("back in time", server.ask("BF.ADVANCE", "h", 5), "OK")
    server.ask("BF.ADD", "h", "c")
    expect("then", server.ask("BF.MEXISTS", "h", "a", "c"), [0, 1])
    expect("the time that a client gave stays", time_of(server, "h") > time.time() + 7000, True)
    server.ask("CONFIG", "SET", "bf.client-time", "no")


# Where the time is in the header of a window.
TIME = slice(108, 116)


def time_of(server, key):
    return struct.unpack("<Q", server.ask("BF.SCANDUMP", key, 0)[1][TIME])[0]


def with_time(header, seconds):
    return header[:TIME.start] + struct.pack("<Q", seconds) + header[TIME.stop:]


def ahead_of_the_clock(server):
    """No time that a client gives, or that comes with a window, keeps it from forgetting."""
    now = int(time.time())
    server.ask("BF.RESERVE", "far", 0.0001, 100, "WINDOW", 800, "SECONDS", "SLICES", 8)
    server.ask("BF.MADD", "far", "a", "b")
    digest = server.ask("DEBUG", "DIGEST-VALUE", "far")
    for late in (now + 150, now + 10**6, 2**62, 2**63 - 1):
        said = refused(server, "BF.ADVANCE", "far", late)
        expect("too late a time", said[:55], "ERR the time is ahead of the server's clock by more tha")
        expect("what to do", "(100 s)" in said and "nearer to the clock" in said, True)
        refused(server, "EVAL", "return redis.call('BF.ADVANCE', 'far', ARGV[1])", 0, late)
    expect("nothing has changed", server.ask("DEBUG", "DIGEST-VALUE", "far"), digest)
    expect("a little ahead", server.ask("BF.ADVANCE", "far", int(time.time()) + 90), "OK")
    expect("still there", server.ask("BF.MEXISTS", "far", "a", "b"), [1, 1])

    # Windows from machines whose clocks are ahead: by years, and by all that there is.
    server.ask("CONFIG", "SET", "rdbcompression", "no")
    server.ask("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
    server.ask("BF.RESERVE", "s", 0.0001, 100, "WINDOW", 2, "SECONDS", "SLICES", 2)
    for late in (now + 10**8, 2**64 - 1):
        server.ask("BF.ADD", "s", "a")
        header = server.ask("BF.SCANDUMP", "s", 0)[1]
        payload = server.ask("DUMP", "s")
        changed = payload.replace(header, with_time(header, late))
        expect("the time is in the payload", changed != payload, True)
        server.ask("RESTORE", "restored", 0, changed)
        expect("it comes as it is", time_of(server, "restored"), late)
        # Chunks take the server's clock at once; so does what was restored, when items are added.
        server.ask("BF.LOADCHUNK", "loaded", 1, with_time(header, late))
        iterator, data = server.ask("BF.SCANDUMP", "s", 1)
        server.ask("BF.LOADCHUNK", "loaded", iterator, data)
        for key in ("restored", "loaded"):
            if key == "restored":
                server.ask("BF.ADD", key, "b")
            expect(f"{key}: the clock", abs(time_of(server, key) - time.time()) < 30, True)
        expect("restored", server.ask("BF.MEXISTS", "restored", "a", "b"), [1, 1])
        end = time.monotonic() + 30
        for key in ("restored", "loaded"):
            while any(server.ask("BF.MEXISTS", key, "a", "b")):
                expect(f"{key} forgets", time.monotonic() < end, True)
                time.sleep(0.1)
        server.ask("DEL", "restored", "loaded")


def keyed(server):
    kinds = {"keyed": (), "keyed, counting": ("COUNTING",),
             "keyed, window": ("WINDOW", 1000, "ITEMS"),
             "keyed, blocked2": ("NONSCALING", "LAYOUT", "NATIVE")}
    items = [f"i{i}" for i in range(500)]
    headers = set()
    for key, words in kinds.items():
        rate = 1e-6 if "blocked2" in key else 0.01
        server.ask("BF.RESERVE", "without", rate, 1000, *words)
        server.ask("BF.RESERVE", key, rate, 1000, *words, "KEYED")
        server.ask("BF.RESERVE", key + " 2", rate, 1000, "KEYED", *words)
        for name in ("without", key, key + " 2"):
            expect("nearly all are new", sum(server.ask("BF.MADD", name, *items)) > 480, True)
            expect("nothing is missing", server.ask("BF.MEXISTS", name, *items), [1] * 500)
            absent = sum(server.ask("BF.MEXISTS", name, *(f"absent {i}" for i in range(500))))
            expect("few are falsely there", absent < 25, True)
            shows = b"keyed:1" in server.ask("BF.DEBUG", name)[1]
            expect("BF.DEBUG says it", shows, name != "without")
        # The header is as without a key, but for an option, and the key at its end.
        bare, first, second = (server.ask("BF.SCANDUMP", name, 0)[1]
                               for name in ("without", key, key + " 2"))
        expect("options", first[28] - bare[28], 16)
        expect("a key at the end", len(first) - len(bare), 16)
        headers |= {first[-16:], second[-16:]}
        if "window" not in key:
            different = "ERR the filters differ in their parameters"
            for other in (key + " 2", "without"):
                expect("keys differ", refused(server, "BF.MERGE", key, other)[:42], different)
            # A copy has the key, and so have filters that come from it.
            server.ask("COPY", key, "like it")
            server.ask("BF.CLEAR", "like it")
            server.ask("BF.ADD", "like it", "more")
            server.ask("BF.MERGE", key, "like it")
            expect("merged", server.ask("BF.MEXISTS", key, "more", *items), [1] * 501)
            server.ask("DEL", "like it")
        server.ask("DEL", "without")
    expect("keys that differ", len(headers), 2 * len(kinds))
    # Where items are is not known without the key: two filters have other bits for them.
    first, second = (server.ask("BF.SCANDUMP", key, 1)[1] for key in ("keyed", "keyed 2"))
    expect("bits", first != second, True)
    expect("of LAYOUT native", refused(server, "BF.RESERVE", "k", 0.01, 10, "LAYOUT",
                                            "REDISBLOOM", "KEYED")[:33],
           "ERR KEYED needs LAYOUT native; LA")
    keyed_by_insert(server, items)
    server.ask("CONFIG", "SET", "bf.keyed", "yes")
    server.ask("BF.ADD", "by setting", "x")
    server.ask("BF.RESERVE", "redisbloom", 0.01, 10, "LAYOUT", "REDISBLOOM")
    expect("by setting", b"keyed:1" in server.ask("BF.DEBUG", "by setting")[1], True)
    expect("RedisBloom's", server.ask("TYPE", "redisbloom"), "MBbloom--")
    server.ask("CONFIG", "SET", "bf.keyed", "no")


def keyed_by_insert(server, items):
    is_keyed = lambda key: b"keyed:1" in server.ask("BF.DEBUG", key)[1]
    for place, words in enumerate((["KEYED"], ["CAPACITY", 600, "keyed", "ERROR", 0.001],
                                   ["NONSCALING", "CAPACITY", 600, "Keyed"])):
        key = f"inserted {place}"
        expect("few are falsely there",
               sum(server.ask("BF.INSERT", key, *words, "ITEMS", *items)) > 480, True)
        expect("nothing is missing", server.ask("BF.MEXISTS", key, *items), [1] * 500)
        expect(words, is_keyed(key), True)
    # Where there is a filter it stays as it is.
    header = server.ask("BF.SCANDUMP", "inserted 0", 0)[1]
    server.ask("BF.INSERT", "inserted 0", "KEYED", "ITEMS", items[0])
    expect("the key stays", server.ask("BF.SCANDUMP", "inserted 0", 0)[1], header)
    server.ask("BF.INSERT", "bare", "ITEMS", "KEYED")
    server.ask("BF.INSERT", "bare", "KEYED", "ITEMS", "x")
    expect("no key", (is_keyed("bare"), server.ask("BF.MEXISTS", "bare", "KEYED", "x")),
           (False, [1, 1]))
    expect("none is made", refused(server, "BF.INSERT", "missing", "NOCREATE", "KEYED", "ITEMS",
                                   "x"), "ERR not found")
    # By the whole word: RedisBloom's options are known by their first letters, and this is none.
    for word in ("K", "KEY", "KEYEDLY"):
        expect(word, refused(server, "BF.INSERT", "k", word, "ITEMS", "x"),
               "Unknown argument received")
    server.ask("CONFIG", "SET", "bf.layout", "redisbloom")
    expect("of LAYOUT native", refused(server, "BF.INSERT", "k", "KEYED", "ITEMS", "x")[:33],
           "ERR KEYED needs LAYOUT native; LA")
    server.ask("CONFIG", "SET", "bf.layout", "native")


def arguments(server):
    for words, complaint in (
            (["COUNTING", "COUNTERBITS", 5], "ERR bad counter bits"), (["COUNTING", "COUNTERBITS"], "ERR bad counter bits"),
            (["COUNTING", "WINDOW", 5, "ITEMS"], "ERR a filter counts or has a window"),
            (["WINDOW"], "ERR bad window; its length is 1 to"), (["WINDOW", 5], "ERR bad window; say ITEMS or SECONDS"),
            (["WINDOW", 0, "ITEMS"], "ERR bad window; its length is 1 to"),
            (["WINDOW", 5, "DAYS"], "ERR bad window; say ITEMS or SECONDS"),
            (["WINDOW", 500, "ITEMS", "SLICES", 65], "ERR bad slices"),
            (["COUNTERBITS", 8], "ERR COUNTERBITS needs COUNTING"), (["SLICES", 4], "ERR SLICES needs WINDOW"),
            (["COUNTING", "SLICES", 4], "ERR SLICES needs WINDOW"),
            (["COUNTING", "NONSCALING"], "ERR EXPANSION, NONSCALING and LAYOUT"),
            (["WINDOW", 500, "ITEMS", "LAYOUT", "NATIVE"], "ERR EXPANSION, NONSCALING and LAYOUT"),
            (["COUNTING", "X", "Y", "Z", "W"], "ERR wrong number of arguments"),
            (["WINDOW", 50, "ITEMS"], "ERR "), (["LAYOUT"], "ERR no layout"),
            (["COUNTING", "EXPANSION", 2], "ERR EXPANSION, NONSCALING and LAYOUT"),
            (["LAYOUT", "square"], "ERR bad layout; it is native or redisbloom"),
            (["EXPANSION", 32769], "ERR expansion must be in the range [0, 32768]"),
            (["EXPANSION", -1], "ERR expansion must be in the range [0, 32768]")):
        expect(words, refused(server, "BF.RESERVE", "k", 0.01, 100, *words)[:len(complaint)],
               complaint)
    for words, complaint in (
            ((0.01, 2**38 + 1), "ERR capacity must be in the range [1, 274877906944]"),
            ((0.01, 2**30 + 1, "LAYOUT", "REDISBLOOM"), "ERR capacity must be in the range [1, 1073741824]"),
            ((1e-16, 10, "NONSCALING"), "ERR error rate must be at least 1e-15"),
            ((1e-15, 10), "ERR error rate must be at least 1e-15 / (1 - tightening) for a filter that grows"),
            (("5e-324", 10, "LAYOUT", "REDISBLOOM"), "ERR could not create filter")):
        expect(words, refused(server, "BF.RESERVE", "k", *words), complaint)
    for words in ((1e-15, 1000, "COUNTING", "COUNTERBITS", 8),
                  (1e-12, 100_000, "COUNTING", "COUNTERBITS", 8)):
        said = refused(server, "BF.RESERVE", "k", *words)
        expect(f"{words}: {said}", "above the limit of 2,048; allow a higher false-positive rate" in said, True)
    expect("nothing was made", server.ask("EXISTS", "k"), 0)
    # Two blocks for each item make a rate possible that one does not.
    server.ask("BF.RESERVE", "low", 1e-15, 1000, "COUNTING")
    expect("adding at 1e-15", server.ask("BF.MADD", "low", "a", "b", "a"), [1, 1, 0])
    expect("counts", [server.ask("BF.COUNT", "low", item) for item in "abc"], [2, 1, 0])
    server.ask("RESTORE", "low2", 0, server.ask("DUMP", "low"))
    expect("removing at 1e-15", server.ask("BF.MDEL", "low2", "a", "b", "c"), [1, 1, 0])
    expect("what is left of it", server.ask("BF.MEXISTS", "low2", "a", "b", "c"), [1, 0, 0])
    expect("a time", refused(server, "BF.ADVANCE", "t", "soon"),
           "ERR bad time; give seconds since 1970")
    refused(server, "BF.ADVANCE", "plain", 5)
    # Options by their first letters, as RedisBloom has them.
    server.ask("BF.INSERT", "short", "C", 50, "N", "I", "x")
    expect("of one letter", server.ask("BF.INFO", "short", "RESERVE")[0][1:3], [b"50", b"NONSCALING"])
    server.ask("BF.INSERT", "expands", "E", 7, "I", "x")
    expect("of one letter", server.ask("BF.INFO", "expands", "EXPANSION"), [7])
    expect("no such key", refused(server, "BF.ADVANCE", "missing", 5), "ERR not found")
    expect("no such key", refused(server, "BF.DEL", "missing", "x"), "ERR not found")


def main(module):
    with Server(module) as server:
        server.ask("BF.ADD", "plain", "x")
        counting(server)
        options(server)
        reserved(server)
        windows(server)
        ahead_of_the_clock(server)
        keyed(server)
        arguments(server)
        server.ask("SET", "string", "x")
        for name in ("BF.DEL", "BF.COUNT", "BF.ADVANCE"):
            expect(name, refused(server, name, "string", 1)[:9], "WRONGTYPE")
        for keys in (("string", "plain"), ("plain", "string")):
            expect(keys, refused(server, "BF.MERGE", *keys)[:9], "WRONGTYPE")
        expect("it stays", server.ask("GET", "string"), b"x")


if __name__ == "__main__":
    main(sys.argv[1])
