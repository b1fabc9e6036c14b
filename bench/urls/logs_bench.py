#!/usr/bin/env python3
"""The tool on what people have: several cores, fields, JSON, compressed logs and output.

    bench/urls/logs_bench.py BUILD [--lines N] [--rounds R] [--json FILE] [--directory D] [--old TOOL]

BUILD is a build directory with the tool and make_urls. A log of N lines in the form that web servers write,
half of whose URLs are repeats, is also written as JSON and compressed by each program. Every row takes its
turn in each round; the table shows medians. The bytes are those of the text. --old is another build of the tool, for
the rows that it can run. Each row is dedup and prints counts (-c), unless it says otherwise. `add` fills a fresh file,
which `check` then asks and `rebuild` replaces.
"""

import argparse
import os
import pathlib
import subprocess

import report

PROGRAMS = ("gzip", "zstd", "xz", "bzip2")
GOALS = (
    ("URLs, -j 2: time, times the old tool's", ("URLs, to a file, -j 2", "seconds"),
     ("old: URLs, to a file", "seconds"), "≤", 0.7),
    *((f"log, -k {fields}: time, times whole lines", (f"log, -k {fields}", "seconds"), ("log, whole lines", "seconds"),
       "≤", 1.2) for fields in ("7", "1,7")),
    ("JSON, --json-key /request/url: MB/s", ("JSON, --json-key /request/url", "megabytes_a_second"), None, "≥", 500),
    *((f"{verb}: time of -j 2, times -j 1", (f"{verb}, -j 2", "seconds"), (f"{verb}, -j 1", "seconds"), "≤", None)
      for verb in ("URLs, to a file", "URLs, add", "URLs, check", "URLs, rebuild")),
)


def write_logs(build, directory, lines):
    """The URLs, the log of a web server and the one in JSON."""
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


class Rows(dict):
    """By name: the command, the text whose bytes count, whether the output is kept, and a command that goes before."""

    def put(self, name, command, text, keep=False, before=None):
        self[name] = command, text, keep, before


def rows_of(tool, old, directory, lines, packed):
    urls, access, objects = (directory / name for name in ("urls", "access", "json"))
    filter_ = directory / "f.bloom"
    dedup = [tool, "dedup", "-q"]
    count, one = [*dedup, "-c"], [*dedup, "-c", "-j", "1"]
    rows = Rows()
    if old:
        rows.put("old: URLs, to a file", [old, "dedup", "-q", urls], urls, True)
    for threads in ("1", "2", "4"):
        rows.put(f"URLs, to a file, -j {threads}", [*dedup, "-j", threads, urls], urls, True)
    rows.put("URLs, -o, -j 2", [*dedup, "-j", "2", "-o", directory / "out", urls], urls)
    for program in PROGRAMS:
        rows.put(f"URLs, -Z {program}, -j 2", [*dedup, "-j", "2", "-Z", program, urls], urls, True)
    create = [tool, "create", "-q", "--force", filter_, "-n", str(lines), "-p", "0.1%"]
    for threads in ("1", "2"):
        rows.put(f"URLs, add, -j {threads}", [tool, "add", "-q", "-j", threads, filter_, urls], urls, before=create)
    for threads in ("1", "2"):
        rows.put(f"URLs, check, -j {threads}", [tool, "check", "-q", "-c", "-j", threads, filter_, urls], urls)
        rows.put(f"URLs, rebuild, -j {threads}", [tool, "rebuild", "-q", "-j", threads, filter_, urls], urls)
    if old:
        rows.put("old: log, -k 7", [old, "dedup", "-q", "-c", "-k", "7", "-d", " ", access], access)
    rows.put("log, whole lines", [*one, access], access)
    rows.put("log, -k 7", [*one, "-k", "7", "-d", " ", access], access)
    rows.put("log, -k 1,7", [*one, "-k", "1,7", "-d", " ", access], access)
    rows.put("log, -k 7 --whitespace", [*one, "-k", "7", "--whitespace", access], access)
    rows.put("log, --ignore-case", [*one, "--ignore-case", access], access)
    rows.put("JSON, whole lines", [*one, objects], objects)
    rows.put("JSON, --json-key /request/url", [*one, "--json-key", "/request/url", objects], objects)
    rows.put("JSON, --json-key agent", [*one, "--json-key", "agent", objects], objects)
    for program, file in packed.items():
        rows.put(f"log, {program}", [*count, "-j", "2", file], access)
        rows.put(f"{program} -dc >/dev/null", [program, "-dc", file], access)
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
    with report.scratch(arguments.directory) as name:
        directory = pathlib.Path(name)
        write_logs(build, directory, arguments.lines)
        access, packed = directory / "access", {}
        for program in PROGRAMS:
            packed[program] = directory / f"access.{program}"
            with open(access, "rb") as source, open(packed[program], "wb") as target:
                subprocess.run([program, "-1", "-c"], stdin=source, stdout=target, check=True)
        rows = rows_of(build / "bloomery", arguments.old, directory, arguments.lines, packed)
        results = {row: [] for row in rows}
        out = directory / "out"
        for _ in range(arguments.rounds):
            for row, (command, _, keep, before) in rows.items():
                out.unlink(missing_ok=True)
                if before:
                    subprocess.run(before, check=True)
                results[row].append(report.run(build, command, out if keep else os.devnull))
        sizes = {row: text.stat().st_size for row, (_, text, *_) in rows.items()}
    table = {row: report.medians(runs) for row, runs in results.items()}
    for row, values in table.items():
        values["megabytes_a_second"] = sizes[row] / values["seconds"] / 1e6
    load = os.getloadavg()[1]
    print(f"logs_bench: {report.machine()}, load {load:.1f}\n")
    print(f"{arguments.lines:,} lines; medians of {arguments.rounds}")
    print(f"{'':<32} {'seconds':>8} {'user s':>7} {'system s':>8} {'MB/s':>7} {'ns/line':>8} {'peak MiB':>8}")
    for row, values in table.items():
        print(f"{row:<32} {values['seconds']:>8.2f} {values['user_seconds']:>7.2f} "
              f"{values['system_seconds']:>8.2f} {values['megabytes_a_second']:>7.0f} "
              f"{values['seconds'] / arguments.lines * 1e9:>8.1f} {values['peak_mib']:>8.0f}")
    goals = report.print_goals(GOALS, table)
    report.write_json(arguments.json, {"bench": "logs_bench", "machine": report.machine(), "lines": arguments.lines,
                                       "load": load, "rows": table, "goals": goals})


if __name__ == "__main__":
    main()
