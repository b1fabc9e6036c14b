"""Clocks that step, forward and back, by seconds and by years: windows of time in files and in servers.

clock.c gives the tool, the server and its replica clocks of their own, which stand still between two steps, so that it
is known to the second which items a window has. After each step every item in it must be found, and no more of the
forgotten ones than the rate allows.
"""

import os
import pathlib
import shutil
import subprocess

from replicas import follows
from server import Server, free_port, wait_until
from tool import Tool
from worker import most_false_positives

SLICES = 8
RATE = 1e-6
START = 1_700_000_000
YEAR_2020 = 1_577_836_800


def missing(_):
    return None if shutil.which("cc") else "there is no C compiler"


class Time:
    """The time of day of the programs that are started with `environment`."""

    def __init__(self, folder, now):
        self.file, library = folder / "clock", folder / "clock.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).parent / "clock.c"],
                       check=True)
        self.environment = {"LD_PRELOAD": str(library), "SOAK_CLOCK": str(self.file)}
        self.file.write_bytes(bytes(8))
        self.set(now)

    def set(self, now):
        with open(self.file, "r+b", buffering=0) as file:
            file.write(now.to_bytes(8, "little"))


class Ring:
    """Which items a window has: an item is in it until as many slices have begun after its own as a window has.

    A slice begins with each multiple of its length that the window's time passes. That time follows the clock of the
    clients that add, stands still while the clock is behind, and is set back if it is ahead by more than `patience`,
    but not from `first_set` or later to an earlier time. A server records each second; a file has the time of the first
    addition to its slice, since each change of it is written.
    """

    def __init__(self, length, patience, each_second, first_set=0):
        self.length, self.patience, self.each_second, self.first_set = length, patience, each_second, first_set
        self.time = self.slice = 0
        self.slice_of = {}

    def at(self, clock):
        """The (time, slice) of the window at this clock."""
        if self.time > clock:
            is_set = clock >= self.first_set or self.time < self.first_set
            return (clock if is_set and self.time - clock > self.patience else self.time), self.slice
        begun = clock // self.length - self.time // self.length if self.time else 0
        moves = begun or not self.time or self.each_second
        return (clock if moves else self.time), self.slice + begun

    def add(self, items, clock):
        self.time, self.slice = self.at(clock)
        self.slice_of.update(dict.fromkeys(items, self.slice))

    def parts(self, clock):
        """(items in the window, items that it has forgotten)"""
        now = self.at(clock)[1]
        there = [item for item, slice in self.slice_of.items() if now - slice <= SLICES]
        return there, [item for item, slice in self.slice_of.items() if now - slice > SLICES]


class Clock:
    def __init__(self, run, length):
        self.run, self.length, self.now = run, length, START + run.random.randrange(length)

    def step(self):
        draw, length = self.run.random, self.length
        window = SLICES * length
        size = draw.choice((1, length - 1, length, draw.randrange(length, window), window, window + length,
                            10 * window, draw.randrange(1, 10) * 31_557_600))
        to = self.now + draw.choice((1, 1, -1)) * size
        if draw.random() < 0.3:
            to = to // length * length - draw.choice((0, 1))  # to an edge of slices
        elif draw.random() < 0.1:
            to = draw.choice((START, YEAR_2020, YEAR_2020 - 1))
        self.now = min(max(to, 10**9), 4 * 10**9)
        return self.now


def play(run):
    length = run.random.choice((1, 2, 60, 3600, 262_144))
    if run.number % 2 == 0:
        in_a_file(run, length)
    else:
        in_servers(run, length)


class Items:
    def __init__(self, run):
        self.run, self.made, self.clock_of = run, 0, {}

    def draw(self, ring):
        """New items, and some that are or were in it."""
        count = self.run.random.choice((1, 10, 200))
        self.made += count
        items = [f"{self.run.number}:{i}" for i in range(self.made - count, self.made)]
        if ring.slice_of:
            items += self.run.random.choices(list(ring.slice_of), k=self.run.random.randrange(4))
        return items

    def check(self, ring, clock, found, where):
        """`found(items)`: how many of the items the filter has."""
        there, forgotten = ring.parts(clock)
        self.run.count("comparisons", len(there) + len(forgotten))
        count = found(there)
        self.run.expect(count == len(there), f"{where}: {len(there) - count} of {len(there)} items are missing")
        count = found(forgotten)
        self.run.expect(count < most_false_positives(len(forgotten), RATE) + (not forgotten),
                        f"{where}: {count} of {len(forgotten)} items are not forgotten")


def in_a_file(run, length):
    """The tool waits for a clock that is behind by no more than a window, since two machines may have different clocks,
    and for one that stands before 2020, since it is not set yet."""
    clock, items = Clock(run, length), Items(run)
    ring = Ring(length, SLICES * length, each_second=False, first_set=YEAR_2020)
    path = run.folder / "window.bloom"
    tool = Tool(run)

    time = Time(run.folder, clock.now)
    tool.environment = os.environ | time.environment
    tool.do("create", "-q", path, "--window", f"{SLICES * length}s", "--slices", SLICES, "-n", "100K", "-p", RATE)
    run.expect(tool.info(path)["slice_length"] == length, "the slices have another length than was asked for")
    for _ in run.turns(60):
        run.step("file", length, "clock", clock.step())
        time.set(clock.now)
        if run.chance(0.6):
            drawn = items.draw(ring)
            tool.do("add", "-q", path, "--durability", run.random.choice(("sync", "process", "none")), lines=drawn)
            ring.add(drawn, clock.now)
        items.check(ring, clock.now, lambda lines: tool.found(path, lines) if lines else 0, f"{path} at {clock.now}")
    tool.do("verify", path)


def in_servers(run, length):
    """A server tolerates a clock that is a slice behind. Its replica forgets the same, but answers by a clock of its
    own."""
    clocks = [Clock(run, length) for _ in range(2)]
    ring, items = Ring(length, length, each_second=True), Items(run)
    config = ("--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0",
              "--repl-diskless-sync-delay", "0", "--aof-use-rdb-preamble", run.random.choice(("yes", "no")))
    servers = []
    try:
        for i, clock in enumerate(clocks):
            folder = run.folder / f"server{i}"
            folder.mkdir()
            servers.append(Timed(clock.now, run.options.module, config=config, directory=folder,
                                 port=free_port()).start())
        master, replica = servers
        replica.ask("REPLICAOF", "127.0.0.1", master.port)
        master.ask("BF.RESERVE", "w", RATE, 100_000, "WINDOW", SLICES * length, "SECONDS", "SLICES", SLICES)
        for _ in run.turns(40):
            for server, clock in zip(servers, clocks):
                if run.chance(0.6):
                    run.step("server", length, "clock", clock.step(), server.port)
                    server.set_clock(clock.now)
            if run.chance(0.6):
                drawn = items.draw(ring)
                master.ask("BF.MADD", "w", *drawn)
                run.count("operations")
                ring.add(drawn, clocks[0].now)
            if run.chance(0.1):
                restart(run, master)
            for server, clock in zip(servers, clocks):
                wait_until("the replica follows", lambda: follows(master, replica), 120)
                items.check(ring, clock.now, lambda names: sum(server.ask("BF.MEXISTS", "w", *names)) if names else 0,
                            f"server {server.port} at {clock.now}")
            digests = [server.ask("DEBUG", "DIGEST-VALUE", "w") for server in servers]
            run.expect(digests[0] == digests[1], "the replica has another window than its master")
    finally:
        for server in servers:
            if server.process.poll() is None:
                server.kill()


def restart(run, master):
    run.step("kill the master")
    if run.chance(0.3):
        master.ask("BGREWRITEAOF")
    run.count("kills")
    master.kill()
    master.start()


class Timed(Server):
    """A server with a clock of its own."""

    def __init__(self, now, *arguments, directory, **more):
        super().__init__(*arguments, directory=directory, **more)
        self.time = Time(directory, now)

    def start(self, must_run=True):
        before = dict(os.environ)
        os.environ.update(self.time.environment)
        try:
            return super().start(must_run)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def set_clock(self, now):
        self.time.set(now)
        wait_until("the server reads its clock", lambda: int(self.ask("TIME")[0]) == now)
