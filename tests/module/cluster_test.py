#!/usr/bin/env python3
"""Filters of many keys over a cluster of three, while slots move: no false negative.

usage: cluster_test.py MODULE
"""

import contextlib
import os
import sys
import time

from server import Connection, ReplyError, Server, free_port

SLOTS = 16384
MOVES = 20 if os.environ.get("BLOOMERY_NIGHTLY") else 4
KEYS = [f"filter:{i}" for i in range(60)]


class Client:
    """Follows MOVED and ASK, as every cluster client does."""

    def __init__(self, servers):
        self.connections = {}
        self.first = servers[0].port
        self.known = {}

    def connection(self, port):
        if port not in self.connections:
            self.connections[port] = Connection(port=port)
        return self.connections[port]

    def ask(self, key, *words):
        port, asking = self.known.get(key, self.first), False
        for _ in range(20):
            connection = self.connection(port)
            if asking:
                connection.ask("ASKING")
            try:
                said = connection.ask(*words)
                if not asking:
                    self.known[key] = port
                return said
            except ReplyError as error:
                kind, *rest = str(error).split()
                if kind not in ("MOVED", "ASK", "TRYAGAIN"):
                    raise
                if kind == "TRYAGAIN":
                    continue
                asking = kind == "ASK"
                port = int(rest[1].rsplit(":", 1)[1])
        raise AssertionError(f"{words[:2]} is sent from node to node")

    def close(self):
        for connection in self.connections.values():
            connection.close()


def until(what, condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within a minute")
        time.sleep(0.02)


def make_cluster(servers):
    share = SLOTS // len(servers) + 1
    for i, server in enumerate(servers):
        last = min(SLOTS, (i + 1) * share) - 1
        server.ask("CLUSTER", "ADDSLOTSRANGE", i * share, last)
        server.ask("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        servers[0].ask("CLUSTER", "MEET", "127.0.0.1", server.port)
    until("the cluster", lambda: all("cluster_state:ok" in s.ask("CLUSTER", "INFO").decode()
                                     and f"cluster_known_nodes:{len(servers)}" in
                                     s.ask("CLUSTER", "INFO").decode() for s in servers))


def view(server):
    """Which node has which slots, and since when, as a node sees it."""
    lines = server.ask("CLUSTER", "NODES").decode().splitlines()
    fields = [line.split() for line in lines]
    return sorted((one[0], one[6], [slots for slots in one[8:] if slots[0] != "["])
                  for one in fields)


def agree(servers):
    """All see the same, and no two masters have one epoch. A slot that moves before this can go back."""
    views = [view(server) for server in servers]
    epochs = [epoch for _, epoch, slots in views[0] if slots]
    return all(one == views[0] for one in views) and len(set(epochs)) == len(epochs)


def move_slot(slot, source, target, others, between):
    ids = {server: server.ask("CLUSTER", "MYID").decode() for server in (source, target)}

    def announce():
        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target])
    announce()
    while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 1):
        between()
        announce()  # Valkey 9 forgets it if it is killed just afterwards
        source.ask("MIGRATE", "127.0.0.1", target.port, keys[0], 0, 30000)
        between()
    # All are told, as redis-cli does: who has old news could give the slot back.
    for server in (target, source, *others):
        server.ask("CLUSTER", "SETSLOT", slot, "NODE", ids[target])


def move_all_slots(source, target, between):
    """As Valkey 9 and later move slots, all at once. False: the server cannot."""
    try:
        ranges = [part for line in source.ask("CLUSTER", "NODES").decode().splitlines() if "myself" in line
                  for part in line.split()[8:]]
        words = [word for part in ranges for word in (part.split("-") * 2)[:2]]
        source.ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", *words, "NODE", target.ask("CLUSTER", "MYID"))
    except ReplyError as error:
        if "unknown subcommand" in str(error):
            return False
        raise

    def state():
        job = source.ask("CLUSTER", "GETSLOTMIGRATIONS")[0]
        return dict(zip(job[::2], job[1::2]))
    while (now := state())[b"state"] != b"success":
        if now[b"state"] in (b"failed", b"cancelled"):
            raise AssertionError(f"the slots did not move: {now}")
        between()
    until("the source drops what it no longer has", lambda: source.ask("DBSIZE") == 0)
    return True


def main(module):
    # A node that has no slots left stays what it is.
    config = ("--cluster-enabled", "yes", "--cluster-node-timeout", "3000", "--cluster-allow-replica-migration", "no")
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(module, port=free_port(), config=config))
                   for _ in range(3)]
        make_cluster(servers)
        for server in servers:  # one that a busy machine holds up is not dead
            server.ask("CONFIG", "SET", "cluster-node-timeout", 15_000)
        client = Client(servers)
        added = {key: 0 for key in KEYS}

        def load(keys):
            for key in keys:
                items = [f"{key}:{added[key] + i}" for i in range(25)]
                client.ask(key, "BF.MADD", key, *items)
                added[key] += 25
                if not all(client.ask(key, "BF.MEXISTS", key, *items)):
                    raise AssertionError(f"items of {key} are missing at once")

        load(KEYS)
        for i, key in enumerate(KEYS[:MOVES]):
            until("agreement", lambda: agree(servers))
            slot = servers[0].ask("CLUSTER", "KEYSLOT", key)
            source = next(s for s in servers if s.ask("CLUSTER", "COUNTKEYSINSLOT", slot))
            target = servers[(servers.index(source) + 1) % 3]
            others = [s for s in servers if s not in (source, target)]
            move_slot(slot, source, target, others, lambda: load([key, KEYS[-1 - i]]))
        until("agreement", lambda: agree(servers))
        at_once = move_all_slots(servers[1], servers[2], lambda: load(KEYS))
        load(KEYS)
        for key in KEYS:
            items = [f"{key}:{i}" for i in range(added[key])]
            if not all(client.ask(key, "BF.MEXISTS", key, *items)):
                raise AssertionError(f"items of {key} are missing in the end")
        client.close()
        held = [len(server.ask("KEYS", "*")) for server in servers]
        if (held.count(0), sum(held)) != (int(at_once), len(KEYS)):
            raise AssertionError(f"filters are spread as {held}")
    print(f"{sum(added.values())} items in {len(KEYS)} filters on {held}, {MOVES} slots moved")


if __name__ == "__main__":
    main(sys.argv[1])
