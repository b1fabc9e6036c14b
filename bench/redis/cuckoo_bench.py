#!/usr/bin/env python3
"""Cuckoo filters in a server: their memory, their false positives and their speed.

usage: cuckoo_bench.py MODULE
       cuckoo_bench.py MODULE --refusals [SET ...]   items that filters refuse before they are 29 % full

False positives are counted among 200,000 items that were never added. Speeds are medians of rounds
in which the commands take turns, over one connection with pipelines that are ready beforehand.
"""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/module"))
from server import ReplyError, Server, request  # noqa: E402

ABSENT = 200_000
BATCH = 1000
ROUNDS = 9
EACH = 20_000  # items per round
MANY = 100


def false_positives(server, name, key):
    found = 0
    for first in range(0, ABSENT, BATCH):
        found += sum(server.ask(name, key, *(f"absent:{i}" for i in range(first, first + BATCH))))
    return found / ABSENT


def facts(server, key):
    info = server.ask("CF.INFO", key)
    return {info[i]: info[i + 1] for i in range(0, len(info), 2)}


def filled(server, key, until):
    """Adds items until until(number) is true or one is refused; returns how many were added, and the refusal."""
    number = 0
    while not until(number):
        try:
            server.ask("CF.ADD", key, f"item:{number}")
        except ReplyError as error:
            return number, str(error)
        number += 1
    return number, "none"


def line(name, items, sub_filters, bits, rate):
    print(f"{name:34} {items:8} {sub_filters:4} {bits / items:7.1f} {100 * rate:8.2f} %")


def rates(server):
    print(f"{'filter':34} {'items':>8} {'subs':>4} {'bits/it':>7} {'falsely there':>10}")
    for size in (1, 2, 4):
        server.ask("CF.RESERVE", "one", 16384, "BUCKETSIZE", size, "EXPANSION", 0)
        items, _ = filled(server, "one", lambda _: False)
        line(f"full, one sub-filter, buckets of {size}", items, 1, 8 * 16384,
             false_positives(server, "CF.MEXISTS", "one"))
        server.ask("DEL", "one")
    items, refusal = filled(server, "default", lambda _: False)
    info = facts(server, "default")
    line("defaults, until refused", items, info["Number of filters"],
         8 * 1024 * info["Number of filters"], false_positives(server, "CF.MEXISTS", "default"))
    for rate in (0.01, 0.37):
        server.ask("BF.RESERVE", "counting", rate, items, "COUNTING")
        for first in range(0, items, BATCH):
            server.ask("BF.MADD", "counting",
                       *(f"item:{i}" for i in range(first, min(first + BATCH, items))))
        info = server.ask("BF.INFO", "counting", "SIZE")
        line(f"counting Bloom filter, {rate:.0%}", items, 1, 8 * info[0],
             false_positives(server, "BF.MEXISTS", "counting"))
        server.ask("DEL", "counting")
    print(f"the defaults refuse with: {refusal}")


def seconds(connection, pipeline, expected):
    start = time.perf_counter()
    connection.socket.sendall(pipeline)
    left = expected
    while left > 0:
        left -= len(connection.socket.recv(1 << 20))
    return time.perf_counter() - start


def speeds(server):
    server.ask("CF.RESERVE", "big", 1 << 26)
    server.ask("CF.RESERVE", "small", 1 << 20)
    # Name: the words of a command, given the number of its first item, and how many items it has.
    contest = {"PING": (lambda _: ("PING",), 1), "GET": (lambda i: ("GET", f"key:{i}"), 1)}
    for key in ("small", "big"):
        for name in ("CF.ADD", "CF.EXISTS", "CF.DEL"):
            contest[f"{name} {key}"] = (lambda i, name=name, key=key: (name, key, f"item:{i}"), 1)
        for name in ("CF.INSERT", "CF.MEXISTS"):
            words = (name, key, "ITEMS") if name == "CF.INSERT" else (name, key)
            contest[f"{name} {key}, {MANY} items"] = (
                lambda i, words=words: (*words, *(f"item:{i + j}" for j in range(MANY))), MANY)
    connection = server.connect()
    taken = {name: [] for name in contest}
    for round_ in range(ROUNDS):
        for name, (words_of, items) in contest.items():
            first = round_ * EACH if items == 1 else (ROUNDS + round_) * EACH  # each item is added once
            pipeline = b"".join(request(*words_of(first + i)) for i in range(0, EACH, items))
            replies = EACH // items
            size = {"PING": 7, "GET": 5}.get(name, 4) if items == 1 else 6 + 4 * items
            taken[name].append(seconds(connection, pipeline, replies * size))
    floor = EACH / statistics.median(taken["PING"])
    print(f"\n{'command':28} {'million items/s':>15} {'of PING':>8}")
    for name in contest:
        speed = EACH / statistics.median(taken[name])
        print(f"{name:28} {speed / 1e6:15.2f} {speed / floor:8.2f}")


def stalls(server):
    """How long the server is busy with the slices of a compaction."""
    server.ask("CF.RESERVE", "stall", 1 << 23)
    number = 0
    while server.ask("CF.DEBUG", "stall").find(b"filters:3 ") < 0:
        server.ask("CF.INSERT", "stall", "ITEMS", *range(number, number + 20 * BATCH))
        number += 20 * BATCH
    taken = []
    for item in range(0, 200):
        start = time.perf_counter()
        server.ask("CF.COMPACT", "stall") if item == 0 else server.ask("CF.DEL", "stall", item)
        taken.append(1000 * (time.perf_counter() - start))
    print(f"\n{number} items: CF.COMPACT {taken[0]:.0f} ms, each CF.DEL meanwhile "
          f"{statistics.median(taken[1:]):.2f} ms")


def refusals(server, sets):
    """Sets of 600,000 items, each in a filter of 2^21 entries that does not grow."""
    for size, iterations in ((1, 20), (2, 20), (2, 500), (4, 20)):
        refused = {}
        for number in sets:
            server.ask("CF.RESERVE", "one", 1 << 21, "BUCKETSIZE", size, "MAXITERATIONS", iterations, "EXPANSION", 0)
            for first in range(0, 600_000, BATCH):
                said = server.ask("CF.INSERT", "one", "ITEMS",
                                  *(f"{number}:item:{i}" for i in range(first, first + BATCH)))
                if -1 in said:
                    refused[number] = refused.get(number, 0) + said.count(-1)
            server.ask("DEL", "one")
        print(f"buckets of {size}, {iterations} iterations: {sum(refused.values())} items of {len(refused)} sets of "
              f"{len(sets)} refused:", *refused, flush=True)


def main(module, *options):
    with Server(module) as server:
        if options and options[0] == "--refusals":
            return refusals(server, [int(option) for option in options[1:]] or range(60))
        rates(server)
        speeds(server)
        stalls(server)


if __name__ == "__main__":
    main(*sys.argv[1:])
