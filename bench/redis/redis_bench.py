#!/usr/bin/env python3
"""The server time that a filter takes, compared with the server's own limits in the same run.

usage: redis_bench.py MODULE [--floor FLOOR.so] [--peer PEER.so] [--capacity N] [--rounds N]
                      [--quick] [--only-floor] [--json FILE]

redis-benchmark sends the commands in pipelines. The processor time of the server's main thread (INFO cpu)
is measured, which depends little on what else runs on the machine; the figures are medians of interleaved
rounds. The limits are PING, GET of a missing key, and SMISMEMBER of 100 members on a set of three.
`one item` is an item that stays in the CPU's cache; the others are anywhere in the filter.

--floor: the module of floor.cpp, whose commands do next to nothing: the cost of a command of any module. The
last lines compare our commands with them round by round. --only-floor: only these commands.
--peer: another module with RedisBloom's commands, measured in the same way in a server of its own.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "module"))
from server import Server  # noqa: E402

ITEMS = 100
KEYSPACE = 200_000_000


def workloads(key):
    """name -> (items per command, commands in a pipeline, words)"""
    many = ["item:__rand_int__"] * ITEMS
    return {
        "PING": (1, 64, ["PING"]),
        "GET of a missing key": (1, 64, ["GET", "none:__rand_int__"]),
        "FLOOR.REPLY": (1, 64, ["FLOOR.REPLY", key, "item:__rand_int__"]),
        "FLOOR.READ": (1, 64, ["FLOOR.READ", key, "item:__rand_int__"]),
        "FLOOR.WRITE": (1, 64, ["FLOOR.WRITE", key, "item:__rand_int__"]),
        "BF.ADD one item": (1, 64, ["BF.ADD", key, "item:1"]),
        "BF.EXISTS one item": (1, 64, ["BF.EXISTS", key, "item:1"]),
        "BF.ADD": (1, 64, ["BF.ADD", key, "item:__rand_int__"]),
        "BF.EXISTS": (1, 64, ["BF.EXISTS", key, "item:__rand_int__"]),
        f"SMISMEMBER {ITEMS}": (ITEMS, 8, ["SMISMEMBER", "set", *many]),
        f"BF.MADD {ITEMS}": (ITEMS, 8, ["BF.MADD", key, *many]),
        f"BF.MEXISTS {ITEMS}": (ITEMS, 8, ["BF.MEXISTS", key, *many]),
    }


def main_thread_seconds(server):
    lines = server.ask("INFO", "cpu").decode().splitlines()
    fields = dict(line.split(":") for line in lines if ":" in line)
    return float(fields["used_cpu_sys_main_thread"]) + float(fields["used_cpu_user_main_thread"])


def measure(server, count, pipeline, words):
    """(seconds of the server's main thread, seconds on the clock)"""
    before, clock = main_thread_seconds(server), time.monotonic()
    subprocess.run(["redis-benchmark", "-s", str(server.directory / "socket"), "-q",
                    "-n", str(count), "-P", str(pipeline), "-c", "8", "-r", str(KEYSPACE),
                    *words], check=True, stdout=subprocess.DEVNULL, timeout=600)
    return main_thread_seconds(server) - before, time.monotonic() - clock


def fill(server, capacity):
    server.ask("SADD", "set", "a", "b", "c")
    server.ask("BF.RESERVE", "filter", "0.01", capacity)
    # A tenth of the capacity touches every page of the bits.
    for _ in range(2):
        measure(server, capacity // 2000, 8, workloads("filter")[f"BF.MADD {ITEMS}"][2])


# Our commands, and the commands of the floor that make the server do the same work.
FLOORS = {"BF.EXISTS one item": "FLOOR.READ", "BF.ADD one item": "FLOOR.WRITE"}


def is_wanted(work, name, options):
    """Whether this command is measured on a server with this module."""
    if options.only_floor:
        return name == "bloomery" and (work in FLOORS or work in FLOORS.values())
    if work.startswith("FLOOR.") and not options.floor:
        return False
    return work.startswith("BF.") or name == "bloomery"


def run(options):
    modules = {"bloomery": [options.module],
               "bloomery keyed": [options.module, "keyed", "yes"],
               "bloomery small pages": [options.module, "huge_pages", "no"],
               "bloomery redisbloom": [options.module, "layout", "redisbloom"]}
    if options.only_floor:
        modules = {"bloomery": modules["bloomery"]}
    elif options.peer:
        modules["peer"] = [options.peer]
    config = ("--loadmodule", pathlib.Path(options.floor).resolve()) if options.floor else ()
    servers = {name: Server(*words, config=config).start() for name, words in modules.items()}
    try:
        for server in servers.values():
            fill(server, options.capacity)
        taken = {}
        for _ in range(options.rounds):
            for work, (items, pipeline, words) in workloads("filter").items():
                for name, server in servers.items():
                    if not is_wanted(work, name, options):
                        continue
                    count = options.items // (10 if items == 1 else items)
                    cpu, clock = measure(server, count, pipeline, words)
                    taken.setdefault((work, name), []).append((count * items / cpu,
                                                               count * items / clock))
        # They are compared round by round, because the machine is not always equally fast.
        beside = {}
        for work, floor in FLOORS.items():
            if (floor, "bloomery") in taken:
                pairs = zip(taken[floor, "bloomery"], taken[work, "bloomery"])
                beside[work] = statistics.median(theirs[0] / ours[0] for theirs, ours in pairs)
        rates = {key: [statistics.median(column) for column in zip(*rounds)]
                 for key, rounds in taken.items()}
        return rates, beside
    finally:
        for server in servers.values():
            server.__exit__()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--floor")
    parser.add_argument("--peer")
    parser.add_argument("--capacity", type=int, default=100_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items", type=int, default=20_000_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only-floor", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.quick:
        options.capacity, options.rounds, options.items = 10_000_000, 3, 3_000_000
    if options.only_floor and not options.floor:
        parser.error("--only-floor needs --floor")
    rates, beside = run(options)
    many = f"SMISMEMBER {ITEMS}"
    limits = {f"BF.MADD {ITEMS}": many, f"BF.MEXISTS {ITEMS}": many}
    for work in ("FLOOR.REPLY", "FLOOR.READ", "FLOOR.WRITE", "BF.ADD one item",
                 "BF.EXISTS one item", "BF.ADD", "BF.EXISTS"):
        limits[work] = "GET of a missing key"
    print(f"{'million a second of':44}{'the main thread':>16}{'the clock':>12}{'of its limit':>14}")
    for (work, name), (cpu, clock) in rates.items():
        limit = rates.get((limits.get(work), "bloomery"))
        share = f"{100 * cpu / limit[0]:.0f} %" if limit else ""
        title = f"{work}, {name}" if work.startswith("BF.") else work
        print(f"{title:44}{cpu / 1e6:16.2f}{clock / 1e6:12.2f}{share:>14}")
    for work, times in beside.items():
        print(f"{work}: {times:.3f} times {FLOORS[work]}, the median of {options.rounds} rounds")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            [{"work": work, "module": name, "per_cpu_second": cpu, "per_second": clock}
             for (work, name), (cpu, clock) in rates.items()], indent=1))


if __name__ == "__main__":
    main()
