#!/usr/bin/env python3
"""The cost of a save for a server: memory, and the time of clients that write and read meanwhile; with small pages and
with huge ones, in turns.

usage: save_bench.py MODULE [--items N] [--rounds N]

First a window that has a slice to clear: the memory of the server and its child together, each page counted
once, before the save and the most that was seen until its end. Then a filter into which redis-benchmark
inserts random items in pipelines of 64 as fast as it can, and which is saved meanwhile: medians of the
rounds, before and during the save, of the items per second, of the 99.9th percentile of a ping per
millisecond, and of the memory; and how long the fork took.
"""

import argparse
import multiprocessing
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from stall_bench import ping

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "module"))
from server import Server  # noqa: E402

BATCH = 100_000


def megabytes(process):
    """The memory of a process and its children; shared pages count in proportion. A process that has ended has none."""
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
    for later in (1000, 9000):  # all slices except this one begin again
        server.ask("BF.ADVANCE", "big", now + later)


def wait_for_save(server, most):
    """The most memory that was seen until the end of the save; each measurement stops the server for a moment."""
    while b"rdb_bgsave_in_progress:1" in (info := server.ask("INFO", "persistence")):
        most = max(most, megabytes(server.process.pid))
        time.sleep(0.1)
    if b"rdb_last_bgsave_status:ok" not in info or b"rdb_saves:0" in info:
        raise SystemExit(f"nothing was saved; read the end of the log:\n{server.log[-1000:]}")
    return most


def save_window(module, items, pages):
    with Server(module, "huge_pages", pages, "client_time", "yes") as server:
        make_window(server, items)
        time.sleep(3)  # a thread of the module makes the huge pages
        before = megabytes(server.process.pid)
        begin = time.monotonic()
        server.ask("BGSAVE")
        most = wait_for_save(server, before)
        print(f"a window with a slice to clear, huge pages {pages:3}: {before:5.0f} MB before, {most:5.0f} MB at "
              f"most, {time.monotonic() - begin:4.1f} s", flush=True)


def added(server):
    for line in server.ask("INFO", "commandstats").split(b"\r\n"):
        if line.lower().startswith(b"cmdstat_bf.add:"):
            return int(line.split(b"calls=")[1].split(b",")[0])
    return 0


def slowest(waits, begin, end):
    """The 99.9th percentile, in milliseconds."""
    taken = sorted(took for due, took in waits if begin <= due < end)
    return taken[int(len(taken) * 0.999)] * 1000


def save_beside_writers(module, items, pages):
    """The values in the columns of the table."""
    with Server(module, "huge_pages", pages) as server:
        server.ask("BF.RESERVE", "big", "0.01", items, "NONSCALING")
        fill(server, 1_000_000)
        time.sleep(3)
        ours, theirs = multiprocessing.Pipe()
        pings = multiprocessing.Process(target=ping, args=(server.directory / "socket", theirs))
        writer = subprocess.Popen(
            ["redis-benchmark", "-s", server.directory / "socket", "-P", "64", "-c", "1", "-l", "-q",
             "-r", "2000000000", "BF.ADD", "big", "__rand_int__"], stdout=subprocess.DEVNULL)
        pings.start()
        time.sleep(1)
        begin, first, before = time.monotonic(), added(server), megabytes(server.process.pid)
        time.sleep(5)
        middle, second = time.monotonic(), added(server)
        server.ask("BGSAVE")
        most = wait_for_save(server, before)
        end, third = time.monotonic(), added(server)
        ours.send("stop")
        waits = ours.recv()
        pings.join()
        writer.kill()
        writer.wait()
        fork = int(server.ask("INFO", "stats").split(b"latest_fork_usec:")[1].split(b"\r")[0]) / 1000
        return ((second - first) / (middle - begin) / 1e6, (third - second) / (end - middle) / 1e6,
                slowest(waits, begin, middle), slowest(waits, middle, end), before, most, fork, end - middle)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--items", type=int, default=900_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if shutil.which("redis-benchmark") is None:
        raise SystemExit("redis-benchmark is not there; install redis-tools")
    for pages in ("no", "yes"):
        save_window(given.module, given.items // 3, pages)
    rounds = {"no": [], "yes": []}
    for _ in range(given.rounds):
        for pages, results in rounds.items():
            results.append(save_beside_writers(given.module, given.items, pages))
    print("a filter beside writers: million items/s, before and during the save; 99.9th percentile of the pings, "
          "ms, before and during; MB before and at most; fork, ms; save, s")
    for pages, results in rounds.items():
        columns = [statistics.median(column) for column in zip(*results)]
        print(f"  huge pages {pages:3} " + " ".join(f"{value:9.2f}" for value in columns), flush=True)


if __name__ == "__main__":
    main()
