#!/usr/bin/env python3
"""With a real RedisBloom: replicas in both directions, and the way from RedisBloom and back.

usage: redisbloom_test.py MODULE [REDISBLOOM]

REDISBLOOM is RedisBloom's module; without it the environment variable BLOOMERY_REDISBLOOM names it. Debian has no
package of it, so where neither does, the test is skipped. Random commands run before and after each full
synchronisation; then every filter must have the same dump, information and answers on both sides.
"""

import os
import pathlib
import random
import sys

from redisbloom_words import ITEMS, Writer, differences, missing, state
from expect import expect
from replicated_test import attach, follow
from server import Server, dumped, free_port, wait_until

SEED = 20260117
ROUNDS = 20000 if os.environ.get("BLOOMERY_NIGHTLY") else 6000
SKIPPED = 77
SETTINGS = ("ERROR_RATE", "0.02", "INITIAL_SIZE", "50", "CF_MAX_EXPANSIONS", "16")
REPLICATION = ("--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "3600")


def state_of(server):
    """In the words of both protocols."""
    states = {}
    for protocol in (2, 3):
        connection = server.connect()
        connection.ask("HELLO", protocol)
        states |= {f"{key} in RESP{protocol}": of_key for key, of_key in state(connection).items()}
        connection.close()
    return states


def expect_alike(what, one, other):
    found = list(differences(one, other))
    expect(f"{what}: {len(found)} differences", "\n".join(found[:5]), "")


def alike(what, one, other):
    """The same filters on two servers; how many."""
    expect_alike(what, state_of(one), state_of(other))
    return one.ask("DBSIZE")


# ---- replicas -----------------------------------------------------------------------------------

def big(server):
    """Filters of more than one chunk of 16 MiB."""
    server.ask("BF.RESERVE", "b big", "0.0001", 8_000_000, "NONSCALING")
    server.ask("CF.RESERVE", "c big", 2**25)
    server.ask("BF.MADD", "b big", *ITEMS)
    server.ask("CF.INSERT", "c big", "ITEMS", *ITEMS)


def half_loaded(master):
    """Loads the first half of big dumps; the commands that bring the other."""
    rest = []
    for family, key in (("BF", "b big"), ("CF", "c big")):
        chunks = dumped(master, key, family)
        expect(f"{key} has chunks", len(chunks) >= 3, True)
        for at, chunk in chunks[:2]:
            master.ask(f"{family}.LOADCHUNK", f"{key} half", at, chunk)
        rest += [(f"{family}.LOADCHUNK", f"{key} half", at, chunk) for at, chunk in chunks[2:]]
    return rest


def errors_to_master(replica):
    """RedisBloom sends its replicas items that it refused, and they refuse them too: those do not count."""
    return [line for line in replica.log.splitlines()
            if "sending an error to its master" in line and "'-ERR non scaling filter is full'" not in line]


def replicated(title, of_master, of_replica):
    """Every filter of a master is on its replica, from the RDB file and from the stream."""
    with Server(*of_master, port=free_port(), config=REPLICATION) as master, Server(*of_replica) as replica:
        writer = Writer(random.Random(SEED), master)
        writer.write(ROUNDS // 2)
        big(master)
        rest = half_loaded(master)
        attach(replica, master)
        alike(f"{title}: the full synchronisation", master, replica)
        for words in rest:
            expect("the other half", master.ask(*words), "OK")
        writer.write(ROUNDS // 2)
        follow(master, replica)
        alike(f"{title}: the stream", master, replica)
        attach(replica, master)
        keys = alike(f"{title}: another full synchronisation", master, replica)
        expect(f"{title}: on the replica", list(missing(writer, replica)), [])
        expect(f"{title}: refused by the replica", errors_to_master(replica), [])
    print(f"{title}: {ROUNDS} commands, {writer.loads} dumps loaded, {keys} filters alike")


def refused_by_redisbloom(ours, peer):
    """RedisBloom cannot follow filters of the layout `native`, and its log says so."""
    with Server(ours, port=free_port(), config=REPLICATION) as master:
        with Server(peer) as replica:
            replica.ask("REPLICAOF", "127.0.0.1", master.port)
            follow(master, replica)
            master.ask("BF.ADD", "b", "x")
            follow(master, replica)
            expect("a header in the stream", [line.split("'")[1] for line in errors_to_master(replica)],
                   ["-ERR received bad data"])
        with Server(peer) as replica:
            replica.ask("REPLICAOF", "127.0.0.1", master.port)
            wait_until("the replica ends", lambda: replica.process.poll() is not None)
            expect("why", "no matching module type 'bloomery-'" in replica.log, True)
    print("master bloomery, layout native, replica RedisBloom: refused, in the stream and in the RDB file")


# ---- from RedisBloom, and back ------------------------------------------------------------------

def drill(ours, peer, appendonly, preamble):
    """A server changes from RedisBloom to the module and back, each time on the files that the other left."""
    config = ("--appendonly", appendonly, "--aof-use-rdb-preamble", preamble)
    redisbloom, bloomery = (peer, *SETTINGS), (ours, *SETTINGS, "layout", "redisbloom")
    with Server(*redisbloom, config=config) as server:
        writer = Writer(random.Random(SEED), server)
        kinds(writer)
        for i, (module, *arguments) in enumerate((bloomery, redisbloom, bloomery, redisbloom)):
            if appendonly == "yes":
                rewrite(server)
            writer.write(ROUNDS // 8)
            before = state_of(server)
            change_module(server, module, *arguments)
            writer.connection = server
            expect_alike(f"AOF {appendonly}, preamble {preamble}, change {i}", before, state_of(server))
            expect("nothing is missing", list(missing(writer, server)), [])
        keys = server.ask("DBSIZE")
    print(f"from RedisBloom and back, twice (appendonly {appendonly}, preamble {preamble}): {keys} filters alike")


def kinds(writer):
    """One filter of each kind at least, beside the random ones."""
    server = writer.connection
    for key, words in (("b plain", ("0.001", 5000)), ("b scaling", ("0.01", 50, "EXPANSION", 3)),
                       ("b nonscaling", ("0.01", 1500, "NONSCALING")), ("b full", ("0.01", 1400, "NONSCALING"))):
        server.ask("BF.RESERVE", key, *words)
        writer.note(["BF.MADD", key, *ITEMS], server.ask("BF.MADD", key, *ITEMS))
    for key, words in (("c one", (5000,)), ("c many", (100, "BUCKETSIZE", 4, "EXPANSION", 2))):
        server.ask("CF.RESERVE", key, *words)
        server.ask("CF.INSERT", key, "ITEMS", *ITEMS)
        for item in ITEMS[::3]:
            server.ask("CF.DEL", key, item)


def rewrite(server):
    """The AOF begins with what is there, as RDB or as commands; what comes later follows as commands."""
    def is_done():
        told = server.ask("INFO", "persistence").decode()
        return "aof_rewrite_in_progress:0" in told and "aof_rewrite_scheduled:0" in told
    wait_until("no rewrite", is_done)
    server.ask("BGREWRITEAOF")
    wait_until("the AOF is rewritten", is_done)
    expect("rewritten", "aof_last_bgrewrite_status:ok" in server.ask("INFO", "persistence").decode(), True)


def change_module(server, module, *arguments):
    """The same files, another module."""
    server.ask("SAVE")
    server.stop()
    server.module, server.arguments = pathlib.Path(module).resolve(), list(arguments)
    server.start()


def drill_by_replica(ours, peer):
    """As docs/operations.md says: replicas with the other module become masters, there and back."""
    redisbloom, bloomery = (peer, *SETTINGS), (ours, *SETTINGS, "layout", "redisbloom")
    with Server(*redisbloom, port=free_port(), config=REPLICATION) as first, \
            Server(*bloomery, port=free_port(), config=REPLICATION) as second, \
            Server(*redisbloom, port=free_port(), config=REPLICATION) as third:
        writer = Writer(random.Random(SEED), first)
        kinds(writer)
        for master, replica in ((first, second), (second, third)):
            writer.connection = master
            writer.write(ROUNDS // 8)
            attach(replica, master)
            writer.write(ROUNDS // 8)
            follow(master, replica)
            alike("before the roles change", master, replica)
            replica.ask("REPLICAOF", "NO", "ONE")
            master.stop()
        writer.connection = third
        writer.write(ROUNDS // 8)
        expect("nothing is missing", list(missing(writer, third)), [])
        keys = third.ask("DBSIZE")
    print(f"from RedisBloom and back by replicas: {keys} filters alike")


def main(module, peer=os.environ.get("BLOOMERY_REDISBLOOM")):
    if not peer:
        print("skipped: name RedisBloom's module, as the second argument or in BLOOMERY_REDISBLOOM")
        return SKIPPED
    redisbloom, bloomery = (peer, *SETTINGS), (module, *SETTINGS, "layout", "redisbloom")
    replicated("master RedisBloom, replica bloomery", redisbloom, bloomery)
    replicated("master bloomery, replica RedisBloom", bloomery, redisbloom)
    replicated("the same, layout native", redisbloom, (module, *SETTINGS, "keyed", "yes"))
    refused_by_redisbloom(module, peer)
    for appendonly, preamble in (("no", "yes"), ("yes", "yes"), ("yes", "no")):
        drill(module, peer, appendonly, preamble)
    drill_by_replica(module, peer)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
