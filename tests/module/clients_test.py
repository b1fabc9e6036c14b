#!/usr/bin/env python3
"""Clients that know RedisBloom do not notice the difference: redis-py drives every command.

usage: clients_test.py MODULE

The examples for redis-py and phpredis run too. If BLOOMERY_NODE_MODULES names a directory in which
`npm install @redis/client @redis/bloom` was run, node-redis (clients_test.mjs) and its example run as
well.
"""

import os
import pathlib
import subprocess
import sys

import redis

from expect import expect
from server import Server


def drive(client):
    bloom = client.bf()
    expect("create", bloom.create("k", 0.01, 1000), True)
    expect("create that grows", bloom.create("grows", 0.01, 10, expansion=4), True)
    expect("create that does not", bloom.create("fixed", 0.01, 10, noScale=True), True)
    expect("add", [bloom.add("k", "a"), bloom.add("k", "a")], [1, 0])
    expect("madd", bloom.madd("k", "a", "b", "c"), [0, 1, 1])
    expect("insert", bloom.insert("new", ["x", "y"], capacity=50, error=0.001, expansion=2), [1, 1])
    expect("insert alone", bloom.insert("k", ["a", "d"], noCreate=True), [0, 1])
    expect("exists", [bloom.exists("k", "a"), bloom.exists("k", "zz")], [1, 0])
    expect("mexists", bloom.mexists("k", "a", "zz", "d"), [1, 0, 1])
    # Words that the client does not know are sent by name; the client reads the replies all the same.
    client.execute_command("BF.RESERVE", "own", "0.01", 100, "LAYOUT", "NATIVE", "KEYED")
    expect("keyed", [bloom.add("own", "a"), bloom.exists("own", "a")], [1, 1])
    if client.config_get("bf.layout")["bf.layout"] == "native":
        expect("keyed by insert", client.execute_command("BF.INSERT", "own 2", "KEYED", "ITEMS",
                                                         "a", "b"), [1, 1])
        expect("insert again", bloom.insert("own 2", ["a", "c"]), [0, 1])
    information = bloom.info("grows")
    expect("info", (information.capacity, information.filterNum, information.insertedNum,
                    information.expansionRate), (10, 1, 0, 4))
    bloom.madd("grows", *range(200))
    iterator, chunks = 0, []
    while True:
        iterator, data = bloom.scandump("grows", iterator)
        if iterator == 0:
            break
        chunks.append((iterator, data))
    for iterator, data in chunks:
        bloom.loadchunk("loaded", iterator, data)
    expect("loaded", bloom.mexists("loaded", *range(200)), [1] * 200)
    expect("card", client.execute_command("BF.CARD", "loaded"),
           client.execute_command("BF.CARD", "grows"))
    with client.pipeline() as pipe:
        pipe.bf().add("p", "x")
        pipe.bf().exists("p", "x")
        expect("pipeline", pipe.execute(), [1, 1])


def run_example(words, directory, socket):
    """Shows three articles, then the one that is new."""
    said = subprocess.run([*words, str(socket)], cwd=directory, check=True, timeout=120, text=True,
                          stdout=subprocess.PIPE).stdout
    lines = [line.replace('"', "'").replace(",", ", ").replace(",  ", ", ")
             for line in said.splitlines()]
    expect(words, lines, ["['a1', 'a2', 'a3']", "['a4']"])


def main(module):
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples" / "redis"
    with Server(module) as server:
        socket = server.directory / "socket"
        programs = [([sys.executable, examples / "feed.py"], examples),
                    (["php", examples / "feed.php"], examples)]
        if modules := os.environ.get("BLOOMERY_NODE_MODULES"):
            programs.append((["node", examples / "feed.mjs"], modules))
        for words, directory in programs:
            server.ask("FLUSHALL", "SYNC")
            run_example(words, directory, socket)
    for arguments in ((), ("layout", "redisbloom")):
        with Server(module, *arguments) as server:
            # Chunks are bytes; the client must not decode them.
            with redis.Redis(unix_socket_path=str(server.directory / "socket")) as client:
                drive(client)
            if modules := os.environ.get("BLOOMERY_NODE_MODULES"):
                program = pathlib.Path(__file__).with_suffix(".mjs").resolve()
                subprocess.run(["node", str(program), str(server.directory / "socket")],
                               cwd=modules, check=True, timeout=120)
    print("every command of redis-py")


if __name__ == "__main__":
    main(sys.argv[1])
