#!/usr/bin/env python3
"""`bloomery dedup` and other tools remove the repeats from a long stream of URLs.

    bench/urls/dedup_bench.py BUILD [--lines N] [--rounds R] [--json FILE] [--directory D]

BUILD is a build directory with the tool and make_urls. The contestants take turns, from a
file to a file, so that a disturbance hits all of them; the table shows the medians. `wc -l`,
which only reads, is the limit of any such tool. A second table measures parts of dedup's work:
without its output, with its output thrown away, and the output alone.
"""

import argparse
import os
import pathlib
import subprocess

import report

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
GOALS = (
    ("time of mawk, times dedup's", ("mawk '!seen[$0]++'", "seconds"), (OURS, "seconds"), "≥", 30),
    ("time of sort -u, times dedup's", ("LC_ALL=C sort -u", "seconds"), (OURS, "seconds"), "≥", 8),
    ("memory beside the filter, MiB", (OURS, "beside_filter_mib"), None, "≤", 64),
)


def lines_of(path):
    return int(subprocess.run(["wc", "-l", path], capture_output=True, check=True).stdout.split()[0])


def contest(build, stream, directory, rounds):
    """The first round warms up and tells the size of the output; the slow tools skip it."""
    out, tool = directory / "out", build / "bloomery"
    report.run(build, [tool, "dedup", "-q", stream], out)
    entries = contestants(tool, out.stat().st_size)
    results = {name: [] for name in entries}
    kept = {}
    for _ in range(rounds):
        for name, (command, keep) in entries.items():
            out.unlink(missing_ok=True)
            results[name].append(report.run(build, [*command, stream], out if keep else os.devnull))
            if name in (OURS, *SLOW) and name not in kept:
                kept[name] = lines_of(out)
    return {name: {**report.medians(runs), "lines_out": kept.get(name)} for name, runs in results.items()}


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
    with report.scratch(arguments.directory) as name:
        directory = pathlib.Path(name)
        stream = directory / "urls"
        with open(stream, "wb") as target:
            subprocess.run([build / "bench/urls/make_urls", str(arguments.lines), str(arguments.repeats)],
                           stdout=target, check=True)
        size = stream.stat().st_size
        rows = contest(build, stream, directory, arguments.rounds)
    filter_mib = report.filter_mib(build / "bloomery", arguments.lines)
    rows[OURS]["beside_filter_mib"] = rows[OURS]["peak_mib"] - filter_mib
    print(f"dedup_bench: {report.machine()}\n")
    print(f"{arguments.lines:,} URLs, {size / 1e9:.2f} GB, {arguments.repeats} % repeats, file to file; "
          f"medians of {arguments.rounds}")
    print_rows(rows, ("wc -l", OURS, *SLOW))
    print("\nwhere the time of dedup goes")
    print_rows(rows, PARTS)
    goals = report.print_goals(GOALS, rows)
    report.write_json(arguments.json, {"bench": "dedup_bench", "machine": report.machine(), "lines": arguments.lines,
                                       "bytes": size, "rows": rows, "goals": goals})


if __name__ == "__main__":
    main()
