#!/usr/bin/env python3
"""Holds the simulator against a real cluster of six servers on this machine.

usage: validate.py MODULE PROBE [--rounds N]

Nothing that calibrate.py measured is asked for: other shards, calls, rates, numbers of clients, and slots that are
spread unevenly. The speed of a machine that others use changes from minute to minute. So each round first measures
four runs of the calibration again: the factor by which they take longer is printed and multiplies all costs. The
cores that processes get at the time are measured too. Prints medians of the rounds: keys per second, and the load
of the busiest server by the mean, in bytes and in processor time. Exits with 1 if something is off by more than 20 %.
"""

import argparse
import statistics
import sys

import batches
import calibrate
import cluster
import costs
import slots

SERVERS = calibrate.SERVERS
CLOSE = 0.20
EVEN, UNEVEN = [1] * SERVERS, [4, 1, 2, 1, 1, 3]
# The weights of the slots, the rate, the shards, the keys in a call, the clients; for strings and for a module.
CASES = [
    ("strings", EVEN, 0.01, 12, 300, 1),
    ("strings", EVEN, 0.01, 24, 3_000, 1),
    ("strings", EVEN, 0.001, 12, 30_000, 2),
    ("strings", EVEN, 0.01, 7, 5_000, 1),
    ("strings", UNEVEN, 0.01, 24, 5_000, 2),
    ("module", EVEN, 0.01, 12, 500, 1),
    ("module", EVEN, 0.001, 24, 5_000, 1),
    ("module", EVEN, 0.01, 12, 50_000, 2),
    ("module", EVEN, 0.01, 7, 20_000, 1),
    ("module", UNEVEN, 0.001, 24, 30_000, 2),
]
REFERENCE = 48, 10_000  # shards, keys in a call


def filter_of(place, shards, capacity, rate, name):
    same = calibrate.filter_of(place, shards, capacity, rate)
    return batches.Filter(place, shards, same.bits, same.hashes, rate, name)


def scaled(costs_, factor):
    if isinstance(costs_, dict):
        return {name: scaled(cost, factor) for name, cost in costs_.items()}
    return costs_ * factor if isinstance(costs_, float) else costs_


def slowdown(costs_, running, references, owners, new):
    """How many times longer than in the calibration the processors take now."""
    factors = []
    for filter_ in references:
        shards_of = slots.shards_of_servers(filter_.shards, owners, SERVERS)
        for operation in ("insert", "look-up"):
            keys = calibrate.keys_of_run(filter_.place, REFERENCE[1], 60_000)
            run = new.run(running, filter_, operation, REFERENCE[1], keys)
            servers, client = calibrate.counts_of_run(filter_, operation, shards_of, REFERENCE[1], keys)
            of = costs_[filter_.place][operation]
            expected = costs.seconds(of["server"], servers) + costs.seconds(of["client"], client)
            factors.append((run["server_seconds"] + run["client_seconds"]) / expected)
    return statistics.median(factors)


def predict(costs_, latency, filter_, operation, shards_of, call, calls, clients, cores):
    rate, servers, used = costs.run(costs_, filter_, operation, shards_of, call, calls, clients,
                                    costs.one_machine(cores, clients, SERVERS), latency)
    loads = batches.call_loads(filter_, operation, shards_of, call)
    time = call * calls * clients / rate
    shares = {"all cores": (sum(servers) + used) / (cores * time), "the client": used / clients / time,
              "a server": max(servers) / time}
    return {"rate": rate, "bytes": slots.skew([each.sent for each in loads]), "time": slots.skew(servers),
            "limit": max(shares, key=shares.get)}


def observed(run):
    return {"rate": run["keys"] / run["seconds"], "bytes": slots.skew([each["sent"] for each in run["servers"]]),
            "time": slots.skew([each["seconds"] for each in run["servers"]])}


def run_cases(options, costs_, latency, running, weights, results):
    owners = slots.weighted(weights)
    running.give(owners)
    new = calibrate.Keys()
    references = [filter_of(place, REFERENCE[0], options.capacity, 0.01, f"{place}-reference")
                  for place in ("strings", "module")]
    cases = [(filter_of(place, shards, options.capacity, rate, f"{place}-{number}"), call, clients)
             for number, (place, each, rate, shards, call, clients) in enumerate(CASES) if each == weights]
    for filter_ in references + [case[0] for case in cases]:
        calibrate.make(running, filter_, options.capacity)
    for _ in range(options.rounds):
        cores = calibrate.usable_cores()
        factor = slowdown(costs_, running, references, owners, new)
        print(f"the machine takes {factor:.2f} times as long as in the calibration, with {cores:.2f} cores",
              file=sys.stderr)
        for filter_, call, clients in cases:
            shards_of = slots.shards_of_servers(filter_.shards, owners, SERVERS)
            for operation in ("insert", "look-up"):
                keys = calibrate.keys_of_run(filter_.place, call, 60_000)
                said = observed(new.run(running, filter_, operation, call, keys, clients))
                predicted = predict(scaled(costs_, factor), latency, filter_, operation, shards_of, call, keys // call,
                                    clients, cores)
                case = (filter_.place, operation, filter_.shards, call, clients, "yes" if weights == EVEN else "no")
                results.setdefault(case, []).append((predicted, said))


def show(results):
    """Prints the table; returns how many values are off by too much."""
    print("| place | operation | shards | keys in a call | clients | even slots | keys/s predicted | measured | ratio "
          "| skew of bytes | measured | skew of time | measured | the limit |")
    print("|" + "---|" * 14)
    off = 0
    for case, rounds in results.items():
        def middle(which, name):
            return statistics.median(each[which][name] for each in rounds)
        ratio = statistics.median(each[0]["rate"] / each[1]["rate"] for each in rounds)
        cells = [f"{middle(0, 'rate'):,.0f}", f"{middle(1, 'rate'):,.0f}", f"{ratio:.2f}"]
        off += abs(ratio - 1) > CLOSE
        for name in ("bytes", "time"):
            cells += [f"{middle(0, name):.2f}", f"{middle(1, name):.2f}"]
            off += abs(middle(0, name) / middle(1, name) - 1) > CLOSE
        limits = [each[0]["limit"] for each in rounds]
        cells.append(max(limits, key=limits.count))
        print("| " + " | ".join([*map(str, case), *cells]) + " |")
    print(f"\n{3 * len(results) - off} of {3 * len(results)} values are within {CLOSE:.0%}.")
    return off


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("probe")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--capacity", type=int, default=200_000_000)
    options = parser.parse_args()
    model = costs.load()
    costs_ = {place: model[place] for place in ("strings", "module")}
    results = {}
    with cluster.started(SERVERS, options.module, options.probe) as running:
        for weights in (EVEN, UNEVEN):
            run_cases(options, costs_, model["loopback_latency"], running, weights, results)
    return 1 if show(results) else 0


if __name__ == "__main__":
    sys.exit(main())
