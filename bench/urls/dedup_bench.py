#!/usr/bin/env python3
"""`bloomery dedup` and other tools remove the repeats from a long stream of URLs.

    bench/urls/dedup_bench.py BUILD [--lines N] [--rounds R] [--json FILE] [--directory D]

BUILD is a build directory with the tool and make_urls. The contestants take turns, from a
file to a file, so that a disturbance hits all of them; the table shows the medians. `wc -l`,
which only reads, is the limit of any such tool. A second table measures parts of dedup's work:
without its output, with its output thrown away, and the output alone.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

OURS = "bloomery dedup"
WITHOUT_OUTPUT = "bloomery dedup -c"


def contestants(tool, unique_bytes):
    """Name, command (the stream's path comes last), and whether the output goes to a file."""
    dedup = [str(tool), "dedup", "-q"]
    return {
        "wc -l": (["wc", "-l"], True),
        OURS: (dedup, True),
        "LC_ALL=C sort -u": (["sort", "-u"], True),
        "mawk '!seen[$0]++'": (["mawk", "!seen[$0]++"], True),
        WITHOUT_OUTPUT: ([*dedup, "-c"], True),
        "bloomery dedup >/dev/null": (dedup, False),
        "head -c, as many bytes out": (["head", "-c", str(unique_bytes)], True),
    }


SLOW = ("LC_ALL=C sort -u", "mawk '!seen[$0]++'")
PARTS = ("wc -l", WITHOUT_OUTPUT, "bloomery dedup >/dev/null", "head -c, as many bytes out", OURS)


def machine():
    """The machine, in the words of the other benches."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(": ", 1)[1].strip() for line in file if line.startswith("model name")]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") / 2**30
    return (f"{names[0] if names else 'unknown'}, {os.cpu_count()} CPUs, {memory:.0f} GiB, "
            f"Linux {platform.release()}")


def run(command, stream, out):
    """Seconds on the clock, in user and in system code, and peak memory in MiB, of one run."""
    start = time.monotonic()
    with open(out, "wb") as target:
        child = subprocess.Popen(
            [*command, stream], stdout=target, stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"})
        _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]} failed: {child.returncode}")
    return seconds, usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024


def lines_of(path):
    return int(subprocess.run(["wc", "-l", path], capture_output=True, check=True).stdout.split()[0])


def contest(tool, stream, directory, rounds):
    """The first round warms up and tells the size of the output; the slow tools skip it."""
    out = directory / "out"
    run([str(tool), "dedup", "-q"], stream, out)
    entries = contestants(tool, out.stat().st_size)
    results = {name: [] for name in entries}
    kept = {}
    for _ in range(rounds):
        for name, (command, keep) in entries.items():
            out.unlink(missing_ok=True)
            results[name].append(run(command, stream, out if keep else os.devnull))
            if name in (OURS, *SLOW) and name not in kept:
                kept[name] = lines_of(out)
    rows = {}
    for name, runs in results.items():
        seconds, user, system, memory = (statistics.median(column) for column in zip(*runs))
        rows[name] = {"seconds": seconds, "user_seconds": user, "system_seconds": system,
                      "peak_mib": memory, "lines_out": kept.get(name),
                      "all_seconds": [run[0] for run in runs]}
    return rows


def print_rows(rows, names):
    print(f"{'':<28} {'seconds':>8} {'times dedup':>11} {'user s':>7} {'system s':>8} "
          f"{'peak MiB':>8} {'lines out':>11}")
    for name in names:
        row = rows[name]
        out = "" if row["lines_out"] is None else f"{row['lines_out']:,}"
        print(f"{name:<28} {row['seconds']:>8.2f} {row['seconds'] / rows[OURS]['seconds']:>11.2f} "
              f"{row['user_seconds']:>7.2f} {row['system_seconds']:>8.2f} {row['peak_mib']:>8.0f} {out:>11}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=14_650_000)
    parser.add_argument("--repeats", type=int, default=50, help="percent")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--directory", type=pathlib.Path, help="where the files go")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as name:
        directory = pathlib.Path(name)
        stream = directory / "urls"
        with open(stream, "wb") as target:
            subprocess.run([build / "bench/urls/make_urls", str(arguments.lines), str(arguments.repeats)],
                           stdout=target, check=True)
        size = stream.stat().st_size
        rows = contest(build / "bloomery", stream, directory, arguments.rounds)
    print(f"dedup_bench: {machine()}\n")
    print(f"{arguments.lines:,} URLs, {size / 1e9:.2f} GB, {arguments.repeats} % repeats, file to file; "
          f"medians of {arguments.rounds}")
    print_rows(rows, ("wc -l", OURS, *SLOW))
    print("\nwhere the time of dedup goes")
    print_rows(rows, PARTS)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(
            {"bench": "dedup_bench", "machine": machine(), "lines": arguments.lines, "bytes": size,
             "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
