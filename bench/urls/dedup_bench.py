#!/usr/bin/env python3
"""The repeats of a long stream of URLs removed by `bloomery dedup` and by other tools.

    bench/urls/dedup_bench.py BUILD [--lines N] [--rounds R] [--json FILE] [--directory D]

BUILD is a build directory with the tool and make_urls. The contestants take turns, from a
file to a file, so that what disturbs the machine disturbs all of them; the table shows the
medians. `wc -l`, which only reads, is the limit of any such tool.
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

CONTESTANTS = {
    "wc -l": ["wc", "-l"],
    "bloomery dedup": None,
    "LC_ALL=C sort -u": ["sort", "-u"],
    "mawk '!seen[$0]++'": ["mawk", "!seen[$0]++"],
}


def run(command, stream, out):
    """Seconds on the clock, processor seconds, and peak memory in MiB, of one run."""
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
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def lines_of(path):
    return int(subprocess.run(["wc", "-l", path], capture_output=True, check=True).stdout.split()[0])


def contest(contestants, stream, directory, rounds):
    results = {name: [] for name in contestants}
    kept = {}
    for _ in range(rounds):
        for name, command in contestants.items():
            out = directory / "out"
            out.unlink(missing_ok=True)
            results[name].append(run(command, stream, out))
            kept[name] = lines_of(out)
    rows = []
    for name, runs in results.items():
        seconds, processor, memory = (statistics.median(column) for column in zip(*runs))
        rows.append({"tool": name, "seconds": seconds, "processor_seconds": processor,
                     "peak_mib": memory, "lines_out": kept[name],
                     "all_seconds": [run[0] for run in runs]})
    return rows


def print_table(rows, lines, size):
    ours = next(row for row in rows if row["tool"] == "bloomery dedup")
    print(f"{lines:,} lines, {size / 1e9:.2f} GB, file to file; medians\n")
    print(f"{'tool':<20} {'seconds':>8} {'times ours':>10} {'processor s':>11} {'peak MiB':>9} {'lines out':>11}")
    for row in rows:
        print(f"{row['tool']:<20} {row['seconds']:>8.2f} {row['seconds'] / ours['seconds']:>10.2f} "
              f"{row['processor_seconds']:>11.2f} {row['peak_mib']:>9.0f} "
              f"{row['lines_out'] if row['tool'] != 'wc -l' else lines:>11,}")


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
    contestants = {**CONTESTANTS, "bloomery dedup": [str(build / "bloomery"), "dedup", "-q"]}
    with tempfile.TemporaryDirectory(dir=arguments.directory) as name:
        directory = pathlib.Path(name)
        stream = directory / "urls"
        with open(stream, "wb") as target:
            subprocess.run([build / "bench/urls/make_urls", str(arguments.lines), str(arguments.repeats)],
                           stdout=target, check=True)
        rows = contest(contestants, stream, directory, arguments.rounds)
        print_table(rows, arguments.lines, stream.stat().st_size)
    if arguments.json:
        arguments.json.write_text(json.dumps({"lines": arguments.lines, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
