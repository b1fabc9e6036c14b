#!/usr/bin/env python3
"""`bloomery dedup` on what people have: several cores, fields, JSON, compressed logs.

    bench/urls/logs_bench.py BUILD [--lines N] [--rounds R] [--json FILE] [--directory D] [--old TOOL]

BUILD is a build directory with the tool and make_urls. A log of N lines in the form that web servers write,
half of whose URLs are repeats, is also written as JSON and compressed by each program. Every row takes its
turn in each round; the table shows medians. The bytes are those of the text. --old is another build of the tool, for
the rows that it can run. Each row prints counts (-c), unless it says otherwise.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from dedup_bench import machine, run

PROGRAMS = ("gzip", "zstd", "xz", "bzip2")


def write_logs(build, directory, lines):
    """The URLs, the log of a web server and the one in JSON: their paths."""
    urls, access, objects = (directory / name for name in ("urls", "access", "json"))
    with open(urls, "wb") as target:
        subprocess.run([build / "bench/urls/make_urls", str(lines), "50"], stdout=target, check=True)
    with open(urls) as source, open(access, "w") as plain, open(objects, "w") as nested:
        for i, line in enumerate(source):
            url, status, size = line.rstrip("\n"), 404 if i % 9 == 0 else 200, i * 31 % 100_000
            time = f"22/Nov/2026:{i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02} +0000"
            plain.write(f'10.0.{i % 256}.{i % 251} - - [{time}] "GET {url} HTTP/1.1" {status} {size}\n')
            nested.write(f'{{"time":"{time}","level":"info","host":"web-{i % 37}","request":{{"method":"GET",'
                         f'"url":"{url}"}},"status":{status},"bytes":{size},'
                         f'"agent":"Mozilla/5.0 (X11; Linux x86_64)"}}\n')
    return urls, access, objects


def rows_of(tool, old, urls, access, objects, packed):
    """Name, command, the text's bytes, and whether the output is kept."""
    count = [str(tool), "dedup", "-q", "-c"]
    one = [*count, "-j", "1"]
    rows = {}
    if old:
        rows["old: URLs, to a file"] = ([str(old), "dedup", "-q", urls], urls, True)
    for threads in (1, 2, 4):
        rows[f"URLs, to a file, -j {threads}"] = (
            [str(tool), "dedup", "-q", "-j", str(threads), urls], urls, True)
    rows["URLs, -Z zstd, -j 2"] = ([str(tool), "dedup", "-q", "-j", "2", "-Z", "zstd", urls], urls, True)
    if old:
        rows["old: log, -k 7"] = ([str(old), "dedup", "-q", "-c", "-k", "7", "-d", " ", access], access, False)
    rows["log, whole lines"] = ([*one, access], access, False)
    rows["log, -k 7"] = ([*one, "-k", "7", "-d", " ", access], access, False)
    rows["log, -k 1,7"] = ([*one, "-k", "1,7", "-d", " ", access], access, False)
    rows["log, -k 7 --whitespace"] = ([*one, "-k", "7", "--whitespace", access], access, False)
    rows["log, --ignore-case"] = ([*one, "--ignore-case", access], access, False)
    rows["JSON, whole lines"] = ([*one, objects], objects, False)
    rows["JSON, --json-key /request/url"] = ([*one, "--json-key", "/request/url", objects], objects, False)
    rows["JSON, --json-key agent"] = ([*one, "--json-key", "agent", objects], objects, False)
    for program, file in packed.items():
        rows[f"log, {program}"] = ([*count, "-j", "2", file], access, False)
        rows[f"{program} -dc >/dev/null"] = ([program, "-dc", file], access, False)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--directory", type=pathlib.Path, help="where the files go")
    parser.add_argument("--old", type=pathlib.Path, help="another build of the tool")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as name:
        directory = pathlib.Path(name)
        urls, access, objects = write_logs(build, directory, arguments.lines)
        packed = {}
        for program in PROGRAMS:
            packed[program] = directory / f"access.{program}"
            with open(access, "rb") as source, open(packed[program], "wb") as target:
                subprocess.run([program, "-1", "-c"], stdin=source, stdout=target, check=True)
        rows = rows_of(build / "bloomery", arguments.old, urls, access, objects, packed)
        results = {row: [] for row in rows}
        for _ in range(arguments.rounds):
            for row, (command, _, keep) in rows.items():
                out = directory / "out"
                out.unlink(missing_ok=True)
                results[row].append(run(command[:-1], command[-1], out if keep else os.devnull))
        sizes = {row: text.stat().st_size for row, (_, text, _) in rows.items()}
    table = {}
    for row, runs in results.items():
        seconds, user, system, memory = (statistics.median(column) for column in zip(*runs))
        table[row] = {"seconds": seconds, "user_seconds": user, "system_seconds": system, "peak_mib": memory,
                      "megabytes_a_second": sizes[row] / seconds / 1e6, "all_seconds": [r[0] for r in runs]}
    load = os.getloadavg()[1]
    print(f"logs_bench: {machine()}, load {load:.1f}\n")
    print(f"{arguments.lines:,} lines; medians of {arguments.rounds}")
    print(f"{'':<32} {'seconds':>8} {'user s':>7} {'system s':>8} {'MB/s':>7} {'ns/line':>8} {'peak MiB':>8}")
    for row, values in table.items():
        print(f"{row:<32} {values['seconds']:>8.2f} {values['user_seconds']:>7.2f} "
              f"{values['system_seconds']:>8.2f} {values['megabytes_a_second']:>7.0f} "
              f"{values['seconds'] / arguments.lines * 1e9:>8.1f} {values['peak_mib']:>8.0f}")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(
            {"bench": "logs_bench", "machine": machine(), "lines": arguments.lines, "load": load,
             "rows": table}, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
