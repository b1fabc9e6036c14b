#!/usr/bin/env python3
"""What a filter of many keys takes on many nodes.

usage: simulate.py tables [--keys N ...] [--rate P] [assumptions]
       simulate.py batches [assumptions]      keys per second, bytes and visits, by the keys in a call
       simulate.py skew [--masters N]         the load of the busiest server, by shards, and what moves
       simulate.py down [--keys N] [assumptions]   a node that is down

Assumptions, with their defaults: --memory 64 (GB of a node) --used 0.5 (its share for filters) --cores 16
--link 10 (Gbit/s) --latency 100 (µs one way) --servers 8 (of a node) --replicas 1 --clients 64 (threads)
--call 100000 (keys in a call) --speed 1 (of a core, by that of the machine of costs.json).
"""

import argparse
import dataclasses
import math

import batches
import bulk
import costs
import engine
import plans
import slots

PLACES = ("strings", "module")
NODE_TIMEOUT = 15.0  # cluster-node-timeout, seconds
SETS = (10**10, 10**11, 10**12)


def away(moves):
    """Seconds from the death of a master until its replica answers."""
    return NODE_TIMEOUT + moves["replica"]["election"]


def time_text(seconds):
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1e3:.1f} ms"


def size_text(size):
    for unit, many in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= many:
            return f"{size / many:.3g} {unit}"
    return f"{size:.0f} B"


def count_text(count):
    for unit, many in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= many:
            return f"{count / many:.3g} {unit}"
    return f"{count:.3g}"


def power(keys):
    return f"10^{round(math.log10(keys))}"


@dataclasses.dataclass(frozen=True)
class Reached:
    rate: float       # keys per second
    limit: str        # the busiest part
    share: float      # its share of the time
    sent: float       # bytes per key, to the servers
    received: float
    waits: float      # round trips per key: how often a client waits, by its keys
    visits: float     # per key


def machines_of(fleet, masters):
    """Clients on machines of their own, with one thread per core; the machines of masters are the nodes."""
    def machines(events):
        clients = [engine.Machine(events, fleet.cores, fleet.link)
                   for _ in range(math.ceil(fleet.clients / fleet.cores))]
        of_node = fleet.servers_of_node // (1 + fleet.replicas)
        nodes = [engine.Machine(events, fleet.cores, fleet.link) for _ in range(math.ceil(masters / of_node))]
        return ([clients[i // fleet.cores] for i in range(fleet.clients)], [nodes[i // of_node] for i in range(masters)])
    return machines


def scaled(of, client, server):
    return {"client": {name: cost * client for name, cost in of["client"].items()},
            "server": {name: cost * server for name, cost in of["server"].items()}}


def reach(model, moves, spread, operation, fleet, call=None):
    """The speed of all clients together if each calls without a pause. Keys are those of one filter of the set."""
    call = call or fleet.keys_of_call
    place, slower = spread.filter_.place, 1 / fleet.speed
    copies = 1 + fleet.replicas if operation == "insert" else 1
    of_replicas = 1 + (moves["replica"][place] - 1) * (copies - 1)
    here = {place: {operation: scaled(model[place][operation], slower, slower * of_replicas)}}
    most = batches.most_keys(spread.masters, spread.filter_.shards)
    calls = min(20, max(3, math.ceil(2 * most / call)))
    rate, used, clients = costs.run(here, spread.filter_, operation, spread.shards_of, call, calls, fleet.clients,
                                    machines_of(fleet, spread.masters), fleet.latency)
    keys = call * calls * fleet.clients
    time = keys / rate
    loads = batches.call_loads(spread.filter_, operation, spread.shards_of, call)
    sent, received = sum(each.sent for each in loads) / call, sum(each.received for each in loads) / call
    machines = math.ceil(fleet.clients / fleet.cores)
    shares = {"clients": clients / fleet.clients / time, "servers": max(used) / time,
              "links of clients": max(sent, received) * rate / machines / fleet.link,
              # A node takes as much again as the replica of another node as it takes from clients.
              "links of nodes": max(sent * copies, received) * rate / spread.nodes / fleet.link}
    limit = max(shares, key=shares.get)
    if shares["links of nodes"] > 1:
        rate /= shares["links of nodes"]
    groups = batches.batches(spread.filter_, spread.masters, call)
    return Reached(rate, limit if shares[limit] > 0.6 else "waiting", shares[limit], sent, received,
                   sum(len(group) for group in groups) / call, sum(each.visits for each in loads) / call)


def migrated(moves, spread, fleet):
    """(shards that move when a quarter is added, seconds one after the other, seconds that a shard blocks)"""
    masters = math.ceil(spread.masters * 1.25)
    before = slots.even(spread.masters)
    after = slots.grown(before, masters)
    count = slots.moved(spread.filter_.shards, before, after) * spread.filters
    size = spread.filter_.bits / 8 / spread.filter_.shards
    each = size * (moves[spread.filter_.place]["migrate"] / fleet.speed + 1 / fleet.link)
    return count, count * each, each


def table_of_keys(model, moves, keys, rate, fleet):
    columns = [column_of_place(model, moves, keys, rate, place, fleet) for place in PLACES]
    columns.append(column_of_frozen(moves, keys, rate, fleet))
    print(f"\n| {power(keys)} keys at {rate * 100:g} % | strings | module | frozen files on every node |\n|---|---|---|---|")
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(column[name] for column in columns).rstrip() + " |")


def column_of_place(model, moves, keys, rate, place, fleet):
    it = plans.spread(keys, rate, place, fleet)
    insert, look_up = (reach(model, moves, it, operation, fleet) for operation in ("insert", "look-up"))
    moving, all_moves, one_move = migrated(moves, it, fleet)
    reload = it.bytes / it.masters * moves[place]["load"] / fleet.speed
    return {
        "filters × shards": f"{it.filters} × {it.filter_.shards}",
        "memory, with replicas": f"{size_text(it.bytes)}, {size_text(it.bytes * (1 + fleet.replicas))}",
        "nodes, masters": f"{it.nodes}, {it.masters}",
        "keys per second, insert": f"{count_text(insert.rate)} ({insert.limit})",
        "keys per second, look up": f"{count_text(look_up.rate)} ({look_up.limit})",
        "round trips per 1,000 keys": f"{look_up.waits * 1000:.2g}",
        "bytes per key, insert": f"{insert.sent:.0f} + {insert.received:.0f}",
        "bytes per key, look up": f"{look_up.sent:.0f} + {look_up.received:.0f}",
        "to load": time_text(keys / insert.rate),
        "to rebuild": f"{time_text(keys / insert.rate)}, twice the memory",
        "to add a quarter of masters": f"{moving} shards, {time_text(all_moves)}; each blocks two servers "
                                       f"{time_text(one_move)}",
        "to read a master's file again": time_text(reload),
        "a node is down": f"{1 / it.nodes:.3g} of the keys: errors for {time_text(away(moves))}",
    }


def column_of_frozen(moves, keys, rate, fleet):
    size = keys * plans.FROZEN[rate] / 8
    files = math.ceil(keys / plans.MOST_FROZEN_KEYS)
    fits = size <= fleet.memory * fleet.used
    groups = 1 if fits else math.ceil(size / (fleet.memory * fleet.used))
    build = keys * moves["frozen"]["build"] / fleet.speed
    ship = size / groups / fleet.link
    return {
        "filters × shards": f"{files} file" + ("s" if files > 1 else ""),
        "memory, with replicas": f"{size_text(size)} on " + ("each node" if fits else f"{groups} nodes together"),
        "nodes, masters": "those that ask" if fits else f"{groups} that each have a part of the files",
        "keys per second, insert": "none (a delta takes some)",
        "keys per second, look up": f"{count_text(fleet.cores / (plans.FROZEN_LOOK_UP / fleet.speed))} per node",
        "round trips per 1,000 keys": "0" if fits else "that of the caller's own protocol",
        "bytes per key, insert": "",
        "bytes per key, look up": "0" if fits else "that of the caller's own protocol",
        "to load": f"{time_text(build)} on one core, {time_text(build / files)} on {files}" if files > 1 else
                   f"{time_text(build)} on one core",
        "to rebuild": f"the same, and {time_text(ship)} to copy to a node",
        "to add a quarter of masters": f"{time_text(ship)} to copy to a new node",
        "to read a master's file again": "mapped at once",
        "a node is down": "the others answer all" if fits else f"{1 / groups:.2g} of the keys, until another has its files",
    }


def tables(options, fleet):
    model, moves = costs.load(), bulk.load()
    for keys in options.keys or SETS:
        table_of_keys(model, moves, keys, options.rate, fleet)


def by_calls(options, fleet):
    """One client, then all of them, with a filter of 10^10 keys."""
    model, moves = costs.load(), bulk.load()
    print("| place | operation | keys in a call | bytes per key | round trips per 1,000 keys | visits per 1,000 keys "
          "| keys/s, one client | all clients | the limit |\n|" + "---|" * 9)
    for place in PLACES:
        it = plans.spread(SETS[0], options.rate, place, fleet)
        for operation in ("insert", "look-up"):
            for call in (1, 64, 1_000, 10_000, 100_000):
                one = reach(model, moves, it, operation, dataclasses.replace(fleet, clients=1), call)
                all_ = reach(model, moves, it, operation, fleet, call)
                print(f"| {place} | {operation} | {call:,} | {one.sent:.0f} + {one.received:.0f} "
                      f"| {one.waits * 1000:.3g} | {one.visits * 1000:.3g} | {count_text(one.rate)} "
                      f"| {count_text(all_.rate)} | {all_.limit} |")


def skews(options, _):
    masters = options.masters
    print(f"{masters} masters\n\n| shards | most, least on a master | skew | with one master more | a quarter more |\n"
          "|---|---|---|---|---|")
    for shards in sorted({masters, masters + 1, 2 * masters, 4 * masters, 8 * masters, 16 * masters}):
        counts = slots.shards_of_servers(shards, slots.even(masters))
        cells = []
        for more in (1, math.ceil(masters / 4)):
            before = slots.even(masters)
            after = slots.grown(before, masters + more)
            there = slots.shards_of_servers(shards, after, masters + more)
            cells.append(f"{slots.moved(shards, before, after)} move, skew {slots.skew(there):.2f}")
        print(f"| {shards} | {max(counts)}, {min(counts)} | {slots.skew(counts):.2f} | {cells[0]} | {cells[1]} |")


def down(options, fleet):
    """Shares of calls that fail, and keys that are lost, by place."""
    model, moves = costs.load(), bulk.load()
    keys = (options.keys or SETS)[0]
    for place in PLACES:
        it = plans.spread(keys, options.rate, place, fleet)
        share = 1 / it.nodes
        print(f"\n{place}, {power(keys)} keys on {it.nodes} nodes; one is down, with {share:.1%} of the keys\n")
        print("| keys in a call | calls that are errors |\n|---|---|")
        for call in (1, 10, 100, 1_000):
            print(f"| {call:,} | {1 - (1 - share) ** call:.1%} |")
        insert = reach(model, moves, it, "insert", fleet)
        node = insert.rate * share
        print(f"\nerrors for {time_text(away(moves))} with a replica; the node took {count_text(node)} keys/s: "
              f"so many acknowledged keys are lost\nper second that its replicas were behind; with an append-only file "
              f"that is synced every second and no replica\nat most {count_text(2 * node)} when the machine loses power, "
              f"and without either the node's {count_text(keys * share)} keys")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tables", "batches", "skew", "down"))
    parser.add_argument("--keys", type=lambda text: int(float(text)), nargs="*")
    parser.add_argument("--rate", type=float, default=0.001, choices=sorted(plans.PLAIN))
    parser.add_argument("--masters", type=int, default=12)
    for name, default in (("memory", 64), ("used", 0.5), ("cores", 16), ("link", 10), ("latency", 100), ("servers", 8),
                          ("replicas", 1), ("clients", 64), ("call", 100_000), ("speed", 1)):
        parser.add_argument("--" + name, type=type(default) if name != "speed" else float, default=default)
    options = parser.parse_args()
    fleet = plans.Fleet(options.memory * plans.GB, options.used, options.cores, options.link * 1e9 / 8,
                        options.latency / 1e6, options.servers, options.replicas, options.clients, options.call,
                        options.speed)
    {"tables": tables, "batches": by_calls, "skew": skews, "down": down}[options.what](options, fleet)


if __name__ == "__main__":
    main()
