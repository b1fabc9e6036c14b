#!/usr/bin/env python3
"""How much memory a save takes in addition to the server's: of a window that has a slice to clear, and of a
filter that takes items during the save.

usage: save_bench.py MODULE [--items N] [--huge-pages]

Prints the pages of the server and its child together, each counted once: before the save, and the most that
was seen every 10 ms until its end; how long the save took, and how many items came meanwhile.
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
    """Of a process and its children; shared pages count in parts. A process that has ended has none."""
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


def measure(given, name, make, writing):
    with Server(given.module, "huge_pages", "yes" if given.huge_pages else "no",
                "client_time", "yes") as server:
        make(server, given.items)
        if given.huge_pages:
            time.sleep(3)  # a thread of the module makes them
        before = megabytes(server.process.pid)
        saving = threading.Event()
        saving.set()
        written = 0

        def write(connection):
            nonlocal written
            while saving.is_set():
                first = given.items + written
                connection.ask("BF.MADD", "big", *range(first, first + 1000))
                written += 1000

        writer = threading.Thread(target=write, args=(server.connect(),))
        begin = time.monotonic()
        server.ask("BGSAVE")
        if writing:
            writer.start()
        most = before
        while b"rdb_bgsave_in_progress:1" in (info := server.ask("INFO", "persistence")):
            most = max(most, megabytes(server.process.pid))
            time.sleep(0.01)
        seconds, came = time.monotonic() - begin, written
        saving.clear()
        if writing:
            writer.join()
        if b"rdb_last_bgsave_status:ok" not in info or b"rdb_saves:0" in info:
            raise SystemExit(f"{name}: nothing was saved; read the end of the log:\n{server.log[-1000:]}")
        if writing and came == 0:
            raise SystemExit(f"{name}: nothing was written while it was saved; give it more --items")
        print(f"{name:36} {before:5.0f} MB before, {most:5.0f} MB at most, {seconds:4.1f} s, "
              f"{came:9,} items", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--items", type=int, default=300_000_000)
    parser.add_argument("--huge-pages", action="store_true")
    given = parser.parse_args()
    measure(given, "a window with a slice to clear", make_window, False)
    measure(given, "a filter that takes items meanwhile", make_filter, True)


if __name__ == "__main__":
    main()
