#!/usr/bin/env python3
"""Random commands, valid and malformed, to a real RedisBloom and to the module side by side: every reply is the same.

usage: redisbloom_replies.py MODULE REDISBLOOM [COMMANDS [SEED]]

Left out is what docs/redisbloom.md lists as different. Prints how often each command was sent, and the differences.
"""

import collections
import random
import sys

from redisbloom_words import BLOOM, CUCKOO, bloom_words, cuckoo_words
from server import Server

NUMBERS = ("0", "1", "2", "3", "4", "7", "100", "-1", "1.5", "x", "", "0x10", " 5", "5 ", "+5", "007", "65535", "65536",
           "1073741824", "1073741825", "9223372036854775807", "9223372036854775808", "18446744073709551616")
RATES = ("0", "1", "0.5", "0.25", "0.26", "0.01", "1e-5", "1e-20", "1e-300", "-0.1", "1.1", "nan", "inf", "x", "", ".1",
         "0.1 ")
# Without "n": RedisBloom looks at its third letter, which lies beyond it.
WORDS = ("NONSCALING", "nonscaling", "EXPANSION", "NOCREATE", "CAPACITY", "ERROR", "ITEMS", "items", "BUCKETSIZE",
         "MAXITERATIONS", "CF", "i", "no", "e", "c", "", "x", "noc", "nons", "error_rate")
FIELDS = ("CAPACITY", "size", "FILTERS", "ITEMS", "EXPANSION", "x", "", "CAPACITYX")


def number(draw):
    return draw.choice(NUMBERS)


def key_of(draw):
    return draw.choice((*BLOOM[:6], *CUCKOO[:6], "text", "list", "nosuchkey", ""))


def items(draw):
    return [draw.choice(("a", "b", "", "\0", "x" * 300, f"x{draw.randrange(50)}")) for _ in range(draw.randrange(5))]


def malformed(draw):
    """Right names, and words that fit only now and then."""
    key, random_words = key_of(draw), [draw.choice((*WORDS, number(draw))) for _ in range(draw.randrange(5))]
    small = draw.choice(("1", "5", "100", "x", "0", "-3", "1.5", ""))
    return draw.choice((
        ["BF.RESERVE", key, draw.choice(RATES), small, *draw.choice((random_words, [], ["EXPANSION", number(draw)],
                                                                     ["NONSCALING", "EXPANSION", number(draw)]))],
        ["BF.RESERVE", key, draw.choice(RATES), draw.choice(("0", "-1", "1073741825", "x", "1.5"))],
        ["BF.ADD", key, *items(draw)], ["BF.MADD", key, *items(draw)],
        ["BF.EXISTS", key, *items(draw)], ["BF.MEXISTS", key, *items(draw)],
        ["BF.INSERT", key, *random_words, *draw.choice(([], ["ITEMS"])), *items(draw)],
        ["BF.INSERT", key, "ERROR", draw.choice(RATES), "CAPACITY", small, "EXPANSION", number(draw), "ITEMS", "a"],
        ["BF.INFO", key, *draw.choice(([], [draw.choice(FIELDS)], ["SIZE", "x"]))],
        ["BF.CARD", key, *items(draw)[:1]], ["BF.DEBUG", key],
        ["BF.SCANDUMP", key, number(draw)], ["BF.SCANDUMP", key],
        ["BF.LOADCHUNK", "missing", number(draw), draw.choice(("", "x", "\0" * 60))],
        ["CF.RESERVE", key, draw.choice(("4", "100", *RATES)), *draw.choice((random_words, ["BUCKETSIZE", number(draw)],
                                                                           ["EXPANSION", number(draw)],
                                                                           ["MAXITERATIONS", number(draw)]))],
        [draw.choice(("CF.ADD", "CF.ADDNX", "CF.EXISTS", "CF.MEXISTS", "CF.COUNT", "CF.DEL")), key, *items(draw)],
        [draw.choice(("CF.INSERT", "CF.INSERTNX")), key, *random_words, *draw.choice(([], ["ITEMS"])), *items(draw)],
        [draw.choice(("CF.INSERT", "CF.INSERTNX")), key, "CAPACITY", draw.choice(("1", "3", "4", "8", "x", "-1")),
         "ITEMS", *items(draw)],
        [draw.choice(("CF.INFO", "CF.DEBUG", "CF.COMPACT")), key, *items(draw)[:1]],
        ["CF.SCANDUMP", key, number(draw)],
        ["CF.LOADCHUNK", "missing", number(draw), draw.choice(("", "x", "\0" * 38))],
        ["DEL", key], ["SET", "text", "x"], ["LPUSH", "list", "x"]))


def is_too_large(words):
    """A filter of a gigabyte or more takes both servers long."""
    return "1073741824" in words


def is_listed(words):
    """docs/redisbloom.md says that it differs."""
    name, rest = words[0], [word.upper() for word in words[2:]]
    if name == "BF.INSERT":  # without ITEMS
        return not any(word.startswith("I") for word in rest)
    # RedisBloom looks for the number of an option beyond its words, and may end.
    return name == "CF.RESERVE" and rest[-1] in ("BUCKETSIZE", "MAXITERATIONS", "EXPANSION")


def begin(ours, theirs, protocol):
    for server in (ours, theirs):
        server.ask("FLUSHALL", "SYNC")
        server.ask("HELLO", protocol)


def compare(ours, theirs, protocol, commands):
    """Yields (words, replies) for each command; the replies are None where RedisBloom ended."""
    begin(ours, theirs, protocol)
    for words in commands:
        said = ours.ask_raw(*words)
        try:
            yield words, (said, theirs.ask_raw(*words))
        except ConnectionError:
            theirs.restart()
            begin(ours, theirs, protocol)
            yield words, None


def commands(draw, count):
    for _ in range(count):
        words = [str(word) for word in draw.choice((bloom_words, cuckoo_words, malformed, malformed))(draw)]
        if not is_too_large(words) and not is_listed(words):
            yield [draw.choice((words[0], words[0].lower(), words[0].title())), *words[1:]]


def main(module, peer, count=50000, seed=1):
    draw = random.Random(int(seed))
    sent, found, ended = collections.Counter(), [], []
    with Server(module, "layout", "redisbloom") as ours, Server(peer) as theirs:
        for protocol in (2, 3):
            for words, said in compare(ours, theirs, protocol, commands(draw, int(count) // 2)):
                sent[words[0].upper()] += 1
                if said is None:
                    ended.append(words)
                elif said[0] != said[1]:
                    found.append((words, said))
    print(", ".join(f"{name} {times}" for name, times in sorted(sent.items())))
    for words in ended:
        print(f"RedisBloom ended at {words}")
    for words, said in found[:40]:
        print(f"{words}\n  here:       {said[0][:300]!r}\n  RedisBloom: {said[1][:300]!r}")
    print(f"{sum(sent.values())} commands, {len(found)} replies differ, RedisBloom ended {len(ended)} times")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
