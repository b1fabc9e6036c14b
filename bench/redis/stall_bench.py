#!/usr/bin/env python3
"""How long other clients wait while a filter of a gigabyte is made, saved and freed.

usage: stall_bench.py MODULE [--items N]

One client pings every half millisecond; another reserves the filter, fills some of it, saves and
frees it. Printed are the pings' latencies in each phase, and what the server itself says of the
commands (SLOWLOG) and of its fork.
"""

import argparse
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "module"))
from server import Server  # noqa: E402


class Pings(threading.Thread):
    def __init__(self, server):
        super().__init__(daemon=True)
        self.connection, self.phase, self.waits = server.connect(), "idle", {}

    def run(self):
        while self.phase:
            start = time.monotonic()
            self.connection.ask("PING")
            self.waits.setdefault(self.phase, []).append(time.monotonic() - start)
            time.sleep(0.0005)


def make(server, items):
    server.ask("BF.RESERVE", "big", "0.01", items)
    time.sleep(0.5)


def fill(server):
    for part in range(300):
        server.ask("BF.MADD", "big", *(f"{part}:{i}" for i in range(1000)))


def save(server):
    server.ask("BGSAVE")
    while b"rdb_bgsave_in_progress:1" in server.ask("INFO", "persistence"):
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--items", type=int, default=900_000_000)
    options = parser.parse_args()
    with Server(options.module, config=("--slowlog-log-slower-than", "0", "--slowlog-max-len",
                                        "2000")) as server:
        pings = Pings(server)
        pings.start()
        time.sleep(2)
        for phase, work in (("BF.RESERVE", lambda: make(server, options.items)),
                            ("BF.MADD", lambda: fill(server)), ("BGSAVE", lambda: save(server)),
                            ("UNLINK", lambda: server.ask("UNLINK", "big")),
                            ("idle", lambda: (make(server, options.items), fill(server))),
                            ("DEL", lambda: server.ask("DEL", "big"))):
            pings.phase = phase
            work()
            time.sleep(0.5)
        pings.phase = None
        pings.join()
        print(f"{'':12}{'pings':>8}{'median':>10}{'99.9 %':>10}{'worst':>10}  ms")
        for phase, waits in pings.waits.items():
            waits.sort()
            shown = (waits[len(waits) // 2], waits[int(len(waits) * 0.999)], waits[-1])
            print(f"{phase:12}{len(waits):8}" + "".join(f"{1000 * one:10.2f}" for one in shown))
        for entry in server.ask("SLOWLOG", "GET", 2000):
            if entry[3][0] in (b"BF.RESERVE", b"DEL", b"UNLINK"):
                print(f"{entry[3][0].decode():12}{entry[2] / 1000:10.2f} ms in the server")
        stats = server.ask("INFO", "stats").decode().splitlines()
        print(next(line for line in stats if line.startswith("latest_fork_usec")))


if __name__ == "__main__":
    main()
