"""One of several writers of a plain file, in the Python package. usage: shared_writer.py PACKAGE FILE PREFIX SEED

Adds PREFIX:0, PREFIX:1 and so on, and prints how many are acknowledged, until it is killed or its input ends.
"""

import os
import random
import select
import sys

sys.path.insert(0, sys.argv[1])

import bloomery  # noqa: E402


def main(path, prefix, seed):
    draw, done = random.Random(seed), 0
    with bloomery.open(path, "w", shared=True) as file:
        os.write(1, b"0\n")
        while not select.select([0], [], [], draw.choice((0, 0, 0, 0.001)))[0]:
            count = draw.choice((1, 1, 5, 200))
            if count == 1:
                file.add(f"{prefix}:{done}")
            else:
                file.update(f"{prefix}:{i}" for i in range(done, done + count))
            done += count
            os.write(1, b"%d\n" % done)


if __name__ == "__main__":
    main(*sys.argv[2:])
