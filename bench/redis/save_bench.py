#!/usr/bin/env python3
"""How much memory a save takes beside the server's: of a window of which a slice is to be cleared, and
of a filter that takes items meanwhile.

usage: save_bench.py MODULE [--items N]

Printed are the pages of the server and of its child together, each counted once: before the save, and
the most of what was seen every 10 ms until its end.
"""

import argparse
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "module"))
from server import Server  # noqa: E402

BATCH = 100_000


def megabytes(process):
    """Of it and of its children; a page of several counts in parts. What has ended has none."""
    total = 0
    try:
        for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total = int(line.split()[1]) / 1024
        children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return total + sum(megabytes(child) for child in children)
    except OSError:
        return total


def fill(server, items):
    for first in range(0, items, BATCH):
        server.ask("BF.MADD", "big", *range(first, first + BATCH))


def make_window(server, items):
    now = int(time.time())
    server.ask("BF.RESERVE", "big", "0.01", items // 2, "WINDOW", 8000, "SECONDS", "SLICES", 8)
    server.ask("BF.ADVANCE", "big", now)
    fill(server, items // 100)
    for later in (1000, 9000):  # all slices but this one begin anew
        server.ask("BF.ADVANCE", "big", now + later)


def make_filter(server, items):
    server.ask("BF.RESERVE", "big", "0.01", items, "NONSCALING")
    fill(server, items // 100)


def measure(module, name, make, items, writing):
    with Server(module) as server:
        make(server, items)
        before = megabytes(server.process.pid)
        saving = threading.Event()
        saving.set()

        def write(connection):
            first = items
            while saving.is_set():
                connection.ask("BF.MADD", "big", *range(first, first + 1000))
                first += 1000

        writer = threading.Thread(target=write, args=(server.connect(),))
        server.ask("BGSAVE")
        if writing:
            writer.start()
        most = before
        while b"rdb_bgsave_in_progress:1" in server.ask("INFO", "persistence"):
            most = max(most, megabytes(server.process.pid))
            time.sleep(0.01)
        saving.clear()
        if writing:
            writer.join()
        print(f"{name:42} {before:6.0f} MB before, {most:6.0f} MB at most")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--items", type=int, default=300_000_000)
    given = parser.parse_args()
    measure(given.module, "a window with a slice to clear", make_window, given.items, False)
    measure(given.module, "a filter that takes items meanwhile", make_filter, given.items, True)


if __name__ == "__main__":
    main()
