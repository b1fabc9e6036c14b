"""Processor time of clients and servers, as a sum of measured costs; and a run of the engine with it."""

import json
import pathlib

import batches
import engine

FILE = pathlib.Path(__file__).with_name("costs.json")
# The operations that take time. A `bit` is a bit of a key that is set or looked up bit by bit.
SERVER = ("key", "bit", "block", "part", "visit")
CLIENT = (*SERVER, "batch", "call")
# The share of a client's time in which it builds and sends; in the rest it takes replies.
BUILDS = 0.5


def load(path=FILE):
    return json.loads(pathlib.Path(path).read_text())


def counts_of(filter_, load_):
    """How often a server does each operation of SERVER."""
    bits = load_.keys * filter_.hashes if filter_.place == "strings" else 0
    return {"key": load_.keys, "bit": bits, "block": load_.blocks, "part": load_.parts, "visit": load_.visits}


def seconds(costs, counts):
    return sum(costs.get(name, 0) * count for name, count in counts.items())


def plan_of_call(costs, filter_, operation, shards_of, keys, servers):
    """The groups of one call, in the form that engine.Client takes. servers: those of the engine."""
    of = costs[filter_.place][operation]
    asked = sum(1 for count in shards_of if count)
    groups, known = [], {}
    for sizes in batches.batches(filter_, asked, keys):
        group = []
        for size in sizes:
            if size not in known:
                visits, build = [], of["client"].get("batch", 0)
                for server, load_ in zip(servers, batches.loads(filter_, operation, shards_of, size)):
                    counts = counts_of(filter_, load_)
                    client = seconds(of["client"], counts)
                    build += client * BUILDS
                    visits.append((server, seconds(of["server"], counts), load_.sent, load_.received,
                                   client * (1 - BUILDS)))
                known[size] = (build, [visit for visit in visits if visit[1] > 0])
            group.append(known[size])
        groups.append(group)
    call = of["client"].get("call", 0)
    build, visits = groups[0][0]
    return [[(build + call, visits), *groups[0][1:]], *groups[1:]]


def run(costs, filter_, operation, shards_of, call_keys, calls, clients, machines, latency):
    """(keys per second, seconds of each server, seconds of all clients) for clients that call without a pause.

    machines: a function of the events that returns the machines, one for each client and one for each server.
    """
    events = engine.Events()
    of_clients, of_servers = machines(events)
    servers = [engine.Server(machine) for machine in of_servers]
    plan = plan_of_call(costs, filter_, operation, shards_of, call_keys, servers) * calls
    all_ = [engine.Client(events, machine, latency, plan) for machine in of_clients[:clients]]
    for client in all_:
        client.start()
    events.run()
    took = max(client.finished for client in all_)
    return call_keys * calls * clients / took, [server.used for server in servers], sum(each.used for each in all_)


def one_machine(cores, clients, servers):
    """Everything on one machine, as in validate.py."""
    def machines(events):
        machine = engine.Machine(events, cores)
        return [machine] * clients, [machine] * servers
    return machines
