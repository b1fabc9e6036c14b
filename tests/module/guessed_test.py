#!/usr/bin/env python3
"""Big filters whose keys are moved, replaced and removed between commands on one item: every answer is right.

usage: guessed_test.py MODULE

The module asks for an item's bits where the key's filter had them last (guess.hpp). Random commands go to a few
names, single ones, in pipelines, in transactions and in scripts, and what must be found is found.
"""

import os
import pathlib
import random
import sys

from server import ReplyError, Server, request

SEED = 20261124
# With a sanitizer in the server fewer: each way and each change still come, a reload too.
STEPS = 120 if "BLOOMERY_SERVER_PRELOAD" in os.environ and not os.environ.get("BLOOMERY_NIGHTLY") else 400
NAMES = ["a", "b", "{a}c", "", "a name that is longer than a word of the machine"]
# Filters above and below the size from which on is guessed; keyed and RedisBloom's are hashed in another way.
KINDS = ((5_000_000,), (5_000_000, "KEYED"), (5_000_000, "LAYOUT", "REDISBLOOM"), (9_000_000,), (1_000,),
         (1_500_000, "COUNTING"))


def main(module):
    draw = random.Random(SEED)
    with Server(pathlib.Path(module).resolve()) as server:
        held = {}  # name -> items of its filter

        def reserve(name):
            server.ask("DEL", name)
            server.ask("BF.RESERVE", name, 0.0001, *draw.choice(KINDS))
            held[name] = set()

        def single(name, item):
            """The words of a command on one item, and what it must not answer."""
            if draw.random() < 0.5:
                held[name].add(item)
                return ("BF.ADD", name, item), None
            return ("bf.exists", name, item), 0 if item in held[name] else None

        def check(commands, said):
            for (words, wrong), one in zip(commands, said):
                if wrong is not None and one == wrong:
                    raise AssertionError(f"{words}: {one!r}, but it was added")

        for name in NAMES:
            reserve(name)
        for step in range(STEPS):
            commands = [single(draw.choice(NAMES), f"item:{draw.randrange(300)}") for _ in range(30)]
            way = draw.choice(("pipeline", "transaction", "script"))
            if way == "pipeline":
                server.connection.socket.sendall(b"".join(request(*words) for words, _ in commands))
                said = [server.connection.read() for _ in commands]
            elif way == "transaction":
                server.ask("MULTI")
                for words, _ in commands:
                    server.ask(*words)
                said = server.ask("EXEC")
            else:
                said = [server.ask("EVAL", "return redis.call(unpack(ARGV, 1))", 1, words[1], *words)
                        for words, _ in commands]
            failed = [one for one in said if isinstance(one, ReplyError)]
            if failed:
                raise AssertionError(f"step {step}: {failed[0]}")
            check(commands, said)
            name, other = draw.sample(NAMES, 2)
            change = draw.choice(("reserve", "rename", "swap", "copy", "clear", "reload", "nothing", "nothing"))
            if change == "reserve":
                reserve(name)
            elif change == "rename":
                server.ask("RENAME", name, other)
                held[other] = held.pop(name)
                reserve(name)
            elif change == "swap":
                server.ask("RENAME", name, "aside")
                server.ask("RENAME", other, name)
                server.ask("RENAME", "aside", other)
                held[name], held[other] = held[other], held[name]
            elif change == "copy":
                server.ask("COPY", name, other, "REPLACE")
                held[other] = set(held[name])
            elif change == "clear":
                server.ask("BF.CLEAR", name)
                held[name] = set()
            elif change == "reload" and step % (STEPS // 40) == 0:
                server.ask("DEBUG", "RELOAD")
        for name, items in held.items():
            said = [server.ask("BF.EXISTS", name, item) for item in items]
            if not all(said):
                raise AssertionError(f"{name}: {said.count(0)} items are gone")


if __name__ == "__main__":
    main(sys.argv[1])
