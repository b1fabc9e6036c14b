#!/usr/bin/env python3
"""kill -9 of a server with `appendfsync always`: no acknowledged item is missing.

usage: killed_test.py MODULE
"""

import os
import random
import sys
import threading
import time

from server import ReplyError, Server

ROUNDS = 50 if os.environ.get("BLOOMERY_NIGHTLY") else 6
SEED = 99


def writer(server, number, acknowledged, draw):
    connection = server.connect()
    try:
        while True:
            items = [f"{number}:{draw.randrange(10**9)}" for _ in range(draw.choice((1, 20, 200)))]
            key = f"k{draw.randrange(3)}"
            connection.ask("BF.MADD", key, *items)
            acknowledged.append((key, items))
            if draw.randrange(50) == 0:
                connection.ask("BGREWRITEAOF")
    except ReplyError as error:
        if "rewriting already in progress" not in str(error):
            raise
    except OSError:
        pass
    finally:
        connection.close()


def main(module):
    draw = random.Random(SEED)
    config = ("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble",
              draw.choice(("yes", "no")), "--auto-aof-rewrite-percentage", "0")
    acknowledged = []
    with Server(module, config=config) as server:
        for _ in range(ROUNDS):
            threads = [threading.Thread(target=writer, args=(server, number, acknowledged,
                                                             random.Random(draw.random())))
                       for number in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(draw.uniform(0.02, 0.2))
            server.kill()
            for thread in threads:
                thread.join()
            server.start()
            for key, items in acknowledged:
                if not all(server.ask("BF.MEXISTS", key, *items)):
                    raise AssertionError(f"items of {key} are missing")
    items = sum(len(items) for _, items in acknowledged)
    print(f"{ROUNDS} kills, {items} items acknowledged, none missing")
    return 0 if items > 1000 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
