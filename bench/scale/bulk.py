#!/usr/bin/env python3
"""Measures what is done with whole shards on this machine: bulk.json beside this file.

usage: bulk.py MODULE PROBE TOOL [--mib N] [--lines N]

A shard, full to its capacity so that it cannot be compressed, is moved to another server by MIGRATE, saved, and
loaded again; the server forks. A master takes keys with and without a replica, and is killed. A frozen filter of so
many lines is built by TOOL, the program bloomery. Seconds per byte (of building: per key) are medians of three.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import cluster
import slots

FILE = pathlib.Path(__file__).with_name("bulk.json")
BITS_PER_KEY = 9.95
ROUNDS = 3


def load(path=FILE):
    return json.loads(path.read_text())


def timed(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def make(running, place, mib):
    """Makes a filter in one shard of so many MiB, filled to its capacity; returns its key."""
    keys = int(mib * 2**23 / BITS_PER_KEY)
    running.create(place, shards=1, capacity=keys, fpr=0.01, name=place)
    key = f"{place}:{{0}}"
    holder = next(server for server in running.servers if server.ask("CLUSTER", "COUNTKEYSINSLOT", slots.slot_of(key)))
    if place == "module":
        running.run(place, "insert", name=place, batch=100_000, keys=keys)
        return holder, key
    # Half of a full filter's bits are ones, in random order.
    for at in range(128, mib << 20, 1 << 20):
        holder.ask("SETRANGE", key, at, os.urandom(min(1 << 20, (mib << 20) - at)))
    return holder, key


def migrate(running, source, key):
    """The mean of one move there and one back. Both servers have to know that the slot moves."""
    slot = slots.slot_of(key)
    target = next(server for server in running.servers if server is not source)
    took = []
    for begin, end in ((source, target), (target, source)):
        names = [server.ask("CLUSTER", "MYID").decode() for server in (begin, end)]
        end.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", names[0])
        begin.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", names[1])
        for name in begin.ask("CLUSTER", "GETKEYSINSLOT", slot, 10):
            took.append(timed(lambda: begin.ask("MIGRATE", "127.0.0.1", end.port, name, 0, 100_000)))
        for server in (end, begin):
            server.ask("CLUSTER", "SETSLOT", slot, "NODE", names[1])
    return sum(took) / 2


def fork(server):
    server.ask("BGSAVE")
    cluster.wait_until("a save", lambda: b"rdb_bgsave_in_progress:0" in server.ask("INFO", "persistence"), 120)
    info = server.ask("INFO", "stats").decode()
    return next(int(line.split(":")[1]) for line in info.splitlines() if line.startswith("latest_fork_usec")) / 1e6


def of_place(running, place, mib):
    source, key = make(running, place, mib)
    size = mib << 20
    middle = lambda action: statistics.median(action() for _ in range(ROUNDS)) / size
    return {"migrate": middle(lambda: migrate(running, source, key)),
            "save": middle(lambda: timed(lambda: source.ask("SAVE"))),
            "load": middle(lambda: timed(lambda: source.ask("DEBUG", "RELOAD", "NOSAVE"))),
            "fork": middle(lambda: fork(source))}


def replica(running):
    """How many times longer inserts take on a master with a replica than on one without; and the seconds from its death
    until the replica is master, beyond cluster-node-timeout."""
    master, follower, alone = running.servers[:3]
    follower.ask("CLUSTER", "REPLICATE", master.ask("CLUSTER", "MYID"))
    cluster.wait_until("a replica", lambda: b"state=online" in master.ask("INFO", "replication"), 120)
    result = {}
    for place, keys in (("strings", 200_000), ("module", 4_000_000)):
        running.create(place, shards=4, capacity=100_000_000, fpr=0.001, name=place)
        factors = []
        for round_ in range(ROUNDS + 1):
            run = running.run(place, "insert", name=place, batch=10_000, keys=keys, first=round_ * keys)
            factors.append(run["servers"][0]["seconds"] / run["servers"][2]["seconds"])
        result[place] = statistics.median(factors[1:])  # the first run touches new pages
    timeout = 2.0
    for server in (follower, alone, running.servers[3]):
        server.ask("CONFIG", "SET", "cluster-node-timeout", int(timeout * 1000))
    master.kill()
    result["election"] = timed(lambda: cluster.wait_until(
        "a failover", lambda: follower.ask("ROLE")[0] == b"master", 60)) - timeout
    return result


def frozen(tool, lines):
    """Seconds per key to build a frozen filter at 0.1 % on one core, including reading the lines."""
    with tempfile.TemporaryDirectory() as directory:
        names = pathlib.Path(directory) / "lines"
        with open(names, "w") as out:
            subprocess.run(["seq", "-f", "%.0f", str(10**15), str(10**15 + lines - 1)], stdout=out, check=True)
        built = str(pathlib.Path(directory) / "known.bloom")
        command = ["taskset", "-c", "0", tool, "create", "--kind", "frozen", "-p", "0.1%", "-q", "--force", built,
                   str(names)]
        return statistics.median(timed(lambda: subprocess.run(command, check=True)) for _ in range(ROUNDS)) / lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("probe")
    parser.add_argument("tool")
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--lines", type=int, default=40_000_000)
    options = parser.parse_args()
    result = {"command": "bench/scale/bulk.py MODULE PROBE TOOL", "date": datetime.date.today().isoformat(),
              "seconds": "per byte; of frozen: per key"}
    with cluster.started(2, options.module, options.probe) as running:
        for place in ("strings", "module"):
            result[place] = of_place(running, place, options.mib)
    # The third and the fourth server can agree that the first one is down.
    with cluster.started(4, options.module, options.probe, slots.weighted([8_191, 0, 8_191, 2])) as running:
        result["replica"] = replica(running)
    result["frozen"] = {"build": frozen(options.tool, options.lines)}
    FILE.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
