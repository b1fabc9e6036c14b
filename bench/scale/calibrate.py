#!/usr/bin/env python3
"""Measures the costs of the simulator on this machine: costs.json beside this file.

usage: calibrate.py MODULE PROBE [--rounds N] [--keys N] [--capacity N] [--out FILE]

MODULE is bloomery.so, PROBE the program scale_probe. Six servers on this machine, filters larger than its
caches, calls of several sizes, few and many shards. The processor time of the servers' main threads and of the
client is explained as a sum over keys, bits, blocks, parts, visits, batches and calls, none of them negative, so
that the relative errors are least. Figures are medians of the rounds.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import sys
import time

import batches
import cluster
import costs
import slots

SERVERS = 6
SHARDS = (6, 48)
CALLS = (32, 1_000, 10_000, 100_000)
RATES = {"strings": {0.01: 6, 0.001: 9}, "module": {0.01: 6}}
BITS_PER_KEY = {0.01: 9.95, 0.001: 15.62}


def filter_of(place, shards, capacity, rate):
    bits = round(capacity * BITS_PER_KEY[rate]) // (512 * shards) * 512 * shards
    hashes = {0.01: 6, 0.001: 9}[rate]
    return batches.Filter(place, shards, bits, hashes, rate, name_of(place, shards, rate))


def name_of(place, shards, rate):
    return f"{place}-{shards}-{rate}"


def keys_of_run(place, call, keys):
    """The number of calls that take about half a second."""
    wanted = keys * (8 if place == "module" and call >= 1000 else 1) // (4 if call < 100 else 1)
    return max(call, wanted // call * call)


def fit(rows, names):
    """The non-negative costs that fit [(counts, seconds)] with the least sum of squares of relative errors."""
    costs_ = {name: 0.0 for name in names}
    columns = {name: [counts[name] / took for counts, took in rows] for name in names}
    squares = {name: sum(x * x for x in column) for name, column in columns.items()}
    left = [1.0] * len(rows)
    for _ in range(20_000):
        for name, column in columns.items():
            if squares[name] == 0:
                continue
            step = sum(x * r for x, r in zip(column, left)) / squares[name]
            step = max(step, -costs_[name])
            costs_[name] += step
            left = [r - step * x for r, x in zip(left, column)]
    return {name: cost for name, cost in costs_.items() if cost > 0}, max(abs(each) for each in left)


def usable_cores(seconds=2.0):
    """How many cores processes get on this machine now: fewer than it has if other programs run."""
    children, got = [], []
    for _ in range(os.cpu_count()):
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                pass
            os.write(write, str(time.process_time()).encode())
            os._exit(0)
        children.append((child, read))
        os.close(write)
    for child, read in children:
        os.waitpid(child, 0)
        got.append(float(os.read(read, 100)))
        os.close(read)
    return sum(got) / seconds


def counts_of_run(filter_, operation, shards_of, call, keys):
    """(costs of servers, costs of the client) for a run of calls."""
    calls = keys / call
    sums = batches.Load()
    for each in batches.call_loads(filter_, operation, shards_of, call):
        sums += each
    servers = {name: count * calls for name, count in costs.counts_of(filter_, sums).items()}
    number = sum(len(group) for group in batches.batches(filter_, len(shards_of), call))
    return servers, servers | {"batch": number * calls, "call": calls}


def runs_of(options):
    """The cases to measure: (filter, operation, keys in a call, keys)."""
    for place, rates in RATES.items():
        for rate in rates:
            for shards in SHARDS:
                filter_ = filter_of(place, shards, options.capacity, rate)
                for operation in ("insert", "look-up"):
                    for call in CALLS:
                        yield filter_, operation, call, keys_of_run(place, call, options.keys)


def make(running, filter_, capacity):
    """Creates the filter, with memory in all of its pages: a module takes pages only as items are added."""
    running.create(filter_.place, shards=filter_.shards, capacity=capacity, fpr=filter_.fpr, name=filter_.name)
    if filter_.place == "module":
        running.run("module", "insert", name=filter_.name, batch=100_000, keys=4_000_000)


class Keys:
    """New keys for every run."""
    def __init__(self):
        self.first = 10**9

    def run(self, running, filter_, operation, call, keys, clients=1):
        measured = running.run(filter_.place, operation, name=filter_.name, batch=call, keys=keys, first=self.first,
                               clients=clients)
        self.first += keys * clients
        measured["server_seconds"] = sum(server["seconds"] for server in measured["servers"])
        return measured


def measure(running, options):
    """[(filter, operation, keys in a call, keys, medians)]: each round runs everything once, since the speed of the
    machine changes from minute to minute."""
    all_, new = list(runs_of(options)), Keys()
    for filter_ in dict.fromkeys(each[0] for each in all_):
        make(running, filter_, options.capacity)
    measured = [[] for _ in all_]
    for round_ in range(options.rounds):
        for each, into in zip(all_, measured):
            into.append(new.run(running, *each))
        print(f"round {round_ + 1} of {options.rounds}", file=sys.stderr)
    rows = []
    for (filter_, operation, call, keys), runs in zip(all_, measured):
        row = {name: statistics.median(run[key] for run in runs) for name, key in
               (("seconds", "seconds"), ("client", "client_seconds"), ("server", "server_seconds"))}
        rows.append((filter_, operation, call, keys, row))
        print(f"{filter_.name} {operation} {call}: client {row['client'] / keys * 1e6:.3f}, servers "
              f"{row['server'] / keys * 1e6:.3f} µs per key, {keys / row['seconds']:.0f} keys/s", file=sys.stderr)
    return rows


def explain(rows):
    """The costs of each place and operation, and the latency of loopback."""
    shards_of = {shards: slots.shards_of_servers(shards, slots.even(SERVERS)) for shards in SHARDS}
    result = {}
    for place in RATES:
        result[place] = {}
        for operation in ("insert", "look-up"):
            mine = [row for row in rows if (row[0].place, row[1]) == (place, operation)]
            counts = [counts_of_run(row[0], operation, shards_of[row[0].shards], row[2], row[3]) for row in mine]
            of = {}
            for who, names, index in (("server", costs.SERVER, 0), ("client", costs.CLIENT, 1)):
                of[who], worst = fit([(each[index], row[4][who]) for each, row in zip(counts, mine)], names)
                print(f"{place} {operation} {who}: explained within {worst:.0%}", file=sys.stderr)
            result[place][operation] = of
    return result, shards_of


def error_of_latency(costs_, rows, shards_of, cores, latency):
    """The sum of squares of the relative errors of the keys per second."""
    sum_ = 0.0
    for filter_, operation, call, keys, row in rows:
        if call > 10_000:
            continue
        calls = max(2, min(20, keys // call))
        rate, _, _ = costs.run(costs_, filter_, operation, shards_of[filter_.shards], call, calls, 1,
                               costs.one_machine(cores, 1, SERVERS), latency)
        sum_ += (rate * row["seconds"] / keys - 1) ** 2
    return sum_


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("probe")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keys", type=int, default=60_000)
    parser.add_argument("--capacity", type=int, default=200_000_000)
    parser.add_argument("--out", default=costs.FILE)
    options = parser.parse_args()
    cores = usable_cores()
    with cluster.started(SERVERS, options.module, options.probe) as running:
        rows = measure(running, options)
    result, shards_of = explain(rows)
    cores = (cores + usable_cores()) / 2
    latencies = [microseconds / 1e6 for microseconds in range(0, 82, 3)]
    latency = min(latencies, key=lambda each: error_of_latency(result, rows, shards_of, cores, each))
    processor = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                     platform.machine())
    result = {"command": "bench/scale/calibrate.py MODULE PROBE " + " ".join(sys.argv[3:]),
              "machine": f"{os.cpu_count()} cores ({cores:.2f} usable), {processor}",
              "date": datetime.date.today().isoformat(), "seconds": "per key, bit, block, part, visit, batch and call",
              "loopback_latency": latency, **result}
    with open(options.out, "w") as out:
        json.dump(result, out, indent=2)
        out.write("\n")


if __name__ == "__main__":
    main()
