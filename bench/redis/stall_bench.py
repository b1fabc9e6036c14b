#!/usr/bin/env python3
"""How long other clients wait while a filter of a gigabyte is made, saved and freed; and how long the server takes for
commands that read or write a whole filter.

usage: stall_bench.py MODULE [--items N] [--small-pages]
       stall_bench.py MODULE --whole [--items N]

A process sends a ping every millisecond. A ping waits from the time it is due: one that could not be sent
because the one before it was late has waited too. Another client reserves the filter, adds to it, saves it,
clears it and frees it, and then does the same with a string of as many bytes, which shows what the server
itself costs. Prints the waits in each phase and while nothing happens, and what the server reports about the
commands (SLOWLOG) and its fork.
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
    """Pings until a word comes; then sends [(when it was due, how long it took), ...] in seconds."""
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
    """The server's own string of as many bytes."""
    step = 4 << 20
    for offset in range(0, size, step):
        server.ask("SETRANGE", "big", offset, b"x" * min(step, size - offset))


def save(server):
    server.ask("BGSAVE")
    while b"rdb_bgsave_in_progress:1" in server.ask("INFO", "persistence"):
        time.sleep(0.05)


def phases(server, items):
    """(name or None, the action), in order."""
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


def milliseconds(server, *words):
    """The time that a command took in the server."""
    server.ask("SLOWLOG", "RESET")
    server.ask(*words)
    return next(entry[2] / 1000 for entry in server.ask("SLOWLOG", "GET", 100)
                if entry[3][0].decode() == words[0])


def window_commands(server, items):
    """A window filter of as many bytes: its slices begin, and in the end all of it has expired."""
    server.ask("BF.RESERVE", "big", "0.01", items * 6 // 11, "WINDOW", 8000, "SECONDS")
    now = int(time.time())
    for _ in range(10):
        fill(server)
        now += 1000
        server.ask("BF.ADVANCE", "big", now)
    fill(server)
    yield "BF.ADVANCE, a slice", milliseconds(server, "BF.ADVANCE", "big", now + 1000)
    yield "BF.ADVANCE, the next after 1 command", milliseconds(server, "BF.ADVANCE", "big", now + 2000)
    singles = [milliseconds(server, "BF.ADD", "big", f"single {i}") for i in range(2000)]
    yield "BF.ADD, of 2,000 after it the slowest", max(singles)
    yield "BF.ADVANCE, the whole window", milliseconds(server, "BF.ADVANCE", "big", now + 20000)
    fill(server)
    yield "BF.CLEAR", milliseconds(server, "BF.CLEAR", "big")


def whole_commands(server, items):
    make(server, items)
    fill(server)
    yield "plain", None
    yield "COPY", milliseconds(server, "COPY", "big", "other")
    yield "BF.MERGE into one as full", milliseconds(server, "BF.MERGE", "other", "big")
    server.ask("BF.CLEAR", "other")
    yield "BF.MERGE into an empty one", milliseconds(server, "BF.MERGE", "other", "big")
    yield "DEBUG DIGEST-VALUE", milliseconds(server, "DEBUG", "DIGEST-VALUE", "big")
    yield "BF.SCANDUMP, a chunk", milliseconds(server, "BF.SCANDUMP", "big", 1)
    yield "BF.CLEAR", milliseconds(server, "BF.CLEAR", "big")
    server.ask("BF.CLEAR", "other")
    yield "COPY of an empty one", milliseconds(server, "COPY", "other", "third")
    server.ask("DEL", "big", "other", "third")
    server.ask("BF.RESERVE", "big", "0.01", items // 5, "COUNTING")
    fill(server)
    yield "counting", None
    yield "COPY", milliseconds(server, "COPY", "big", "other")
    yield "BF.MERGE into one as full", milliseconds(server, "BF.MERGE", "other", "big")
    yield "BF.CLEAR", milliseconds(server, "BF.CLEAR", "big")
    server.ask("DEL", "big", "other")
    yield "window", None
    yield from window_commands(server, items)


def print_whole(module, items):
    config = ("--slowlog-log-slower-than", "0")
    with Server(module, "client_time", "yes", config=config) as server:
        for name, took in whole_commands(server, items):
            if took is None:
                print(f"{name}:")
            else:
                print(f"  {name:40}{took:10.2f} ms in the server", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--items", type=int, default=900_000_000)
    parser.add_argument("--small-pages", action="store_true")
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    if options.whole:
        return print_whole(options.module, options.items)
    arguments = ("huge_pages", "no") if options.small_pages else ()
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
