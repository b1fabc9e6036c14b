#!/usr/bin/env python3
"""Loading a big list: `bloomery add` into files, and `dedup` of a pipe, whose length nobody knows.

    bench/urls/load_bench.py BUILD [--lines N] [--addresses N] [--rounds R] [--piped N...] [--json FILE]
                             [--directory D] [--old TOOL]

BUILD is a build directory with the tool. N short lines go into a fresh file of each kind at each durability, and
through `dedup -n N -c`, which needs no file; then addresses go into a plain file by `add`, and into the same file by
`rebuild`. The rows take turns; the tables show medians, and what was written to the device. Then so many lines
(--piped) go through `dedup -c` in a pipe; the memory at the peak stands beside that of a filter of the right size, also
without what the tool takes for as many lines that are all the same. The worst numbers of lines are a little above a
million times a power of two, when the filter has just become twice as large. --old is another build of the tool, for
rows of its own.
"""

import argparse
import os
import pathlib
import subprocess

import report

KINDS = {"plain": ("plain", None), "counting": ("counting", None), "window": ("window", None),
         "scalable from 1,000": ("scalable", 1000)}
DEDUP = "dedup -n"
ADD, REBUILD = "addresses: add, sync", "addresses: rebuild"


def goals(counts):
    """One table of all goals, for report.print_goals; `counts`: the numbers of lines in pipes."""
    return [
        *((f"{kind}, sync: user time, times dedup's", (f"{kind}, sync", "user_seconds"), (DEDUP, "user_seconds"),
           "≤", 2) for kind in KINDS),
        *((f"{kind}, process: time, times dedup's", (f"{kind}, process", "seconds"), (DEDUP, "seconds"),
           "≤", 1.3) for kind in KINDS),
        ("addresses: time of add, times rebuild's", (ADD, "seconds"), (REBUILD, "seconds"), "≤", None),
        *((f"{count:,} lines in a pipe: memory, times the right size", (f"{count:,}", "filter_mib"),
           (f"{count:,}", "right_mib"), "≤", 2.3) for count in counts),
        *((f"{count:,} lines in a pipe: time, times the old tool's", (f"{count:,}", "seconds"),
           (f"old: {count:,}", "seconds"), "≤", 1.3) for count in counts),
    ]


def create(tool, path, kind, count):
    name, first = KINDS[kind]
    path.unlink(missing_ok=True)
    size = ["--window", str(count)] if name == "window" else ["-n", str(first or count), "--kind", name]
    subprocess.run([tool, "create", "-q", path, *size, "-p", "1%"], check=True)


class Bench:
    def __init__(self, build, tools, directory):
        self.build, self.tools, self.filter = build, tools, directory / "f.bloom"
        self.lines, self.addresses = directory / "lines", directory / "addresses"
        self.runs = {}

    def take(self, row, command):
        self.runs.setdefault(row, []).append(report.run(self.build, command))

    def add(self, row, tool, lines, durability="sync"):
        self.take(row, [tool, "add", "-q", "--durability", durability, self.filter, lines])

    def loads(self, count, addresses, rounds):
        texts = {self.lines: [str(count)], self.addresses: ["-f", "user%.0f@example.org", str(addresses)]}
        for path, words in texts.items():
            with open(path, "w") as target:
                subprocess.run(["seq", *words], stdout=target, check=True)
        for _ in range(rounds):
            for prefix, tool in self.tools.items():
                self.take(prefix + DEDUP, [tool, "dedup", "-q", "-c", "-n", str(count), self.lines])
                for kind in KINDS:
                    for durability in ("none", "process", "sync"):
                        create(tool, self.filter, kind, count)
                        self.add(f"{prefix}{kind}, {durability}", tool, self.lines, durability)
                create(tool, self.filter, "plain", addresses)
                self.add(prefix + ADD, tool, self.addresses)
                self.take(prefix + REBUILD, [tool, "rebuild", "-q", self.filter, self.addresses])
        return {row: report.medians(runs) for row, runs in self.runs.items()}

    def piped(self, tool, count, word):
        """`count` lines: numbers, or all of them the word."""
        lines = f"yes {word} | head -n {count}" if word else f"seq {count}"
        with subprocess.Popen(lines, shell=True, stdout=subprocess.PIPE) as source:
            return report.medians([report.run(self.build, [tool, "dedup", "-q", "-c"], source=source.stdout)])

    def pipes(self, counts):
        rows = {}
        for prefix, tool in self.tools.items():
            for count in counts:
                row, own = self.piped(tool, count, None), self.piped(tool, count, "line")["peak_mib"]
                rows[f"{prefix}{count:,}"] = {**row, "right_mib": report.filter_mib(tool, count), "own_mib": own,
                                              "filter_mib": row["peak_mib"] - own}
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--addresses", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--piped", type=int, nargs="*",
                        default=[1_000_000, 2_100_000, 8_400_000, 10_000_000, 30_000_000, 100_000_000])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--directory", type=pathlib.Path, help="where the files go")
    parser.add_argument("--old", type=pathlib.Path, help="another build of the tool")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    tools = {"": build / "bloomery"}
    if arguments.old:
        tools = {"old: ": arguments.old.resolve(), **tools}
    busy = os.getloadavg()[0]
    with report.scratch(arguments.directory) as name:
        bench = Bench(build, tools, pathlib.Path(name))
        table = bench.loads(arguments.lines, arguments.addresses, arguments.rounds)
        piped = bench.pipes(arguments.piped)
    print(f"load_bench: {report.machine()}, load {busy:.1f}\n")
    print(f"{arguments.lines:,} lines, {arguments.addresses:,} addresses; medians of {arguments.rounds}")
    print(f"{'':<32} {'seconds':>8} {'user s':>7} {'times dedup':>12} {'peak MiB':>9} {'MB written':>11}")
    for row, of in table.items():
        times = "" if "addresses" in row else f"{of['user_seconds'] / table[DEDUP]['user_seconds']:.2f}"
        print(f"{row:<32} {of['seconds']:>8.2f} {of['user_seconds']:>7.2f} {times:>12} {of['peak_mib']:>9.0f} "
              f"{of['written_mb']:>11.0f}")
    print(f"\n{'dedup of a pipe, lines':<32} {'seconds':>8} {'peak MiB':>9} {'right size, MiB':>16} {'times':>6} "
          f"{'without the tool (MiB)':>23}")
    for row, of in piped.items():
        times, without_tool = (of[column] / of["right_mib"] for column in ("peak_mib", "filter_mib"))
        print(f"{row:<32} {of['seconds']:>8.2f} {of['peak_mib']:>9.0f} {of['right_mib']:>16.0f} {times:>6.2f} "
              f"{without_tool:>17.2f} ({of['own_mib']:.0f})")
    reached = report.print_goals(goals(arguments.piped), {**table, **piped})
    report.write_json(arguments.json, {"bench": "load_bench", "machine": report.machine(), "load": busy,
                                       "lines": arguments.lines, "addresses": arguments.addresses, "loads": table,
                                       "pipes": piped, "goals": reached})


if __name__ == "__main__":
    main()
