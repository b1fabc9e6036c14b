#!/usr/bin/env python3
"""How long other clients wait while a filter of a gigabyte is made, saved and freed.

usage: stall_bench.py MODULE [--items N] [--huge-pages]

A process pings at every millisecond, and waits from then on: a ping that could not be sent because
the one before was late has waited too. Another client reserves the filter, adds to it, saves,
clears and frees it; then the same with a string of as many bytes, which is what the server itself
costs. Printed are the pings' waits in each phase, beside those while nothing is done, and what the
server says of the commands (SLOWLOG) and of its fork.
"""

import argparse
import multiprocessing
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "module"))
from server import Connection, Server  # noqa: E402

PERIOD = 0.001


def ping(path, results):
    """Until a word comes; then sends [(when it was due, how long it took), ...] in seconds."""
    connection, waits, due = Connection(path=path), [], time.monotonic()
    while not results.poll():
        due += PERIOD
        time.sleep(max(0, due - time.monotonic()))
        connection.ask("PING")
        waits.append((due, time.monotonic() - due))
    results.send(waits)


def make(server, items):
    server.ask("BF.RESERVE", "big", "0.01", items)
    time.sleep(0.5)


def fill(server):
    for part in range(300):
        server.ask("BF.MADD", "big", *(f"{part}:{i}" for i in range(1000)))


def make_string(server, size):
    """The server's own value of as many bytes."""
    step = 4 << 20
    for offset in range(0, size, step):
        server.ask("SETRANGE", "big", offset, b"x" * min(step, size - offset))


def save(server):
    server.ask("BGSAVE")
    while b"rdb_bgsave_in_progress:1" in server.ask("INFO", "persistence"):
        time.sleep(0.05)


def phases(server, items):
    """(name or None, what is done then), in order."""
    size = lambda: server.ask("BF.INFO", "big", "SIZE")[0]
    yield "reserve", lambda: make(server, items)
    yield "add", lambda: fill(server)
    yield "save", lambda: save(server)
    yield "BF.CLEAR", lambda: server.ask("BF.CLEAR", "big")
    yield None, lambda: fill(server)
    yield "UNLINK", lambda: server.ask("UNLINK", "big")
    yield None, lambda: (make(server, items), fill(server))
    bytes_of_bits = size()
    yield "DEL", lambda: server.ask("DEL", "big")
    yield None, lambda: make_string(server, bytes_of_bits)
    yield "string: save", lambda: save(server)
    yield "string: DEL", lambda: server.ask("DEL", "big")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--items", type=int, default=900_000_000)
    parser.add_argument("--huge-pages", action="store_true")
    options = parser.parse_args()
    arguments = ("huge_pages", "yes") if options.huge_pages else ()
    config = ("--slowlog-log-slower-than", "0", "--slowlog-max-len", "1000000",
              "--proto-max-bulk-len", "4gb")
    forks = {}
    with Server(options.module, *arguments, config=config) as server:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=ping, args=(server.directory / "socket", theirs))
        process.start()
        starts = [(time.monotonic() + 0.5, "idle")]
        time.sleep(5)
        for phase, work in phases(server, options.items):
            starts.append((time.monotonic(), phase or "between"))
            work()
            time.sleep(1)
            if phase and "save" in phase:
                stats = server.ask("INFO", "stats").decode().splitlines()
                forks[phase] = next(line for line in stats if line.startswith("latest_fork_usec"))
        ours.send("enough")
        waits = {}
        for due, wait in ours.recv():
            phase = next((name for start, name in reversed(starts) if due >= start), None)
            waits.setdefault(phase, []).append(wait)
        process.join()
        print(f"{'':12}{'pings':>8}{'median':>10}{'99.9 %':>10}{'worst':>10}  ms")
        for phase in dict.fromkeys(name for _, name in starts):
            took = sorted(waits[phase])
            shown = (took[len(took) // 2], took[int(len(took) * 0.999)], took[-1])
            print(f"{phase:12}{len(took):8}" + "".join(f"{1000 * one:10.2f}" for one in shown))
        for entry in reversed(server.ask("SLOWLOG", "GET", 1000000)):
            if entry[3][0] in (b"BF.RESERVE", b"BF.CLEAR", b"DEL", b"UNLINK"):
                print(f"{entry[3][0].decode():12}{entry[2] / 1000:10.2f} ms in the server")
        for phase, said in forks.items():
            print(f"{phase}: {said}")


if __name__ == "__main__":
    main()
