#!/usr/bin/env python3
"""Loading a big list: `bloomery add` into files, and `dedup` of a pipe, whose length nobody knows.

    bench/urls/load_bench.py BUILD [--lines N] [--rounds R] [--piped N...] [--json FILE] [--directory D] [--old TOOL]

BUILD is a build directory with the tool. N short lines go into a fresh file of each kind at each durability, and
through `dedup -n N -c`, which needs no file. The rows take turns; the table shows medians, and what was written to the
device. Then so many lines (--piped) go through `dedup -c` in a pipe; the memory at the peak stands beside that of a
filter of the right size, also without what the tool takes for one line. The worst numbers of lines are a little above a
million times a power of two, when the filter has just become twice as large. --old is another build of the tool, for
rows of its own.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from dedup_bench import machine

KINDS = {"plain": ("plain", None), "counting": ("counting", None), "window": ("window", None),
         "scalable from 1,000": ("scalable", 1000)}
DEDUP = "dedup -n"


def measured(command, source=None):
    """Seconds on the clock and of user code, peak memory in MiB, and MB written, of one run."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: {child.returncode}")
    return seconds, usage.ru_utime, usage.ru_maxrss / 1024, usage.ru_oublock * 512 / 1e6


def load(tool, lines, count, directory, kind, durability):
    name, first = KINDS[kind]
    filter_ = directory / "f.bloom"
    filter_.unlink(missing_ok=True)
    size = ["--window", str(count)] if name == "window" else ["-n", str(first or count), "--kind", name]
    subprocess.run([tool, "create", "-q", filter_, *size, "-p", "1%"], check=True)
    return measured([tool, "add", "-q", "--durability", durability, filter_, lines])


def loads(tools, count, rounds, directory):
    lines = directory / "lines"
    with open(lines, "w") as target:
        subprocess.run(["seq", str(count)], stdout=target, check=True)
    results = {}
    for _ in range(rounds):
        for prefix, tool in tools.items():
            run = measured([tool, "dedup", "-q", "-c", "-n", str(count), lines])
            results.setdefault(prefix + DEDUP, []).append(run)
            for kind in KINDS:
                for durability in ("none", "process", "sync"):
                    run = load(tool, lines, count, directory, kind, durability)
                    results.setdefault(f"{prefix}{kind}, {durability}", []).append(run)
    return {row: [statistics.median(column) for column in zip(*runs)] for row, runs in results.items()}


def right_size(tool, count):
    """MiB of a filter for so many lines at the default rate of dedup."""
    made = subprocess.run([tool, "plan", "--json", "-n", str(count), "-p", "1e-6"], capture_output=True, check=True)
    layouts = {plan["layout"]: plan["bytes"] for plan in json.loads(made.stdout)["layouts"]}
    return layouts["blocked2"] / 2**20  # dedup's layout at that rate


def piped_run(tool, count):
    with subprocess.Popen(["seq", str(count)], stdout=subprocess.PIPE) as source:
        return measured([tool, "dedup", "-q", "-c"], source.stdout)


def pipes(tools, counts):
    rows = {}
    for prefix, tool in tools.items():
        own = piped_run(tool, 1)[2]
        for count in counts:
            run = piped_run(tool, count)
            rows[f"{prefix}{count:,}"] = {"seconds": run[0], "peak_mib": run[2], "right_mib": right_size(tool, count),
                                          "own_mib": own}
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--piped", type=int, nargs="*",
                        default=[1_000_000, 2_100_000, 8_400_000, 10_000_000, 30_000_000, 100_000_000])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--directory", type=pathlib.Path, help="where the files go")
    parser.add_argument("--old", type=pathlib.Path, help="another build of the tool")
    arguments = parser.parse_args()
    tools = {"": arguments.build.resolve() / "bloomery"}
    if arguments.old:
        tools = {"old: ": arguments.old.resolve(), **tools}
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=arguments.directory) as name:
        table = loads(tools, arguments.lines, arguments.rounds, pathlib.Path(name))
    piped = pipes(tools, arguments.piped)
    print(f"load_bench: {machine()}, load {busy:.1f}\n")
    print(f"{'':<32} {'seconds':>8} {'user s':>7} {'times dedup':>12} {'peak MiB':>9} {'MB written':>11}")
    for row, (seconds, user, peak, written) in table.items():
        print(f"{row:<32} {seconds:>8.2f} {user:>7.2f} {user / table[DEDUP][1]:>12.2f} {peak:>9.0f} {written:>11.0f}")
    print(f"\n{'dedup of a pipe, lines':<32} {'seconds':>8} {'peak MiB':>9} {'right size, MiB':>16} {'times':>6} "
          f"{'without the tool (MiB)':>23}")
    for row, run in piped.items():
        print(f"{row:<32} {run['seconds']:>8.2f} {run['peak_mib']:>9.0f} {run['right_mib']:>16.0f} "
              f"{run['peak_mib'] / run['right_mib']:>6.2f} "
              f"{(run['peak_mib'] - run['own_mib']) / run['right_mib']:>17.2f} ({run['own_mib']:.0f})")
    if arguments.json:
        arguments.json.write_text(json.dumps(
            {"bench": "load_bench", "machine": machine(), "load": busy, "lines": arguments.lines,
             "loads": table, "pipes": piped}, indent=1))


if __name__ == "__main__":
    main()
