#!/usr/bin/env python3
"""Hours of filters in use, on a machine where everything fails that can, compared with exact sets.

usage: soak.py HOURS [--seed N] [--tool PATH] [--module PATH] [--only SCENARIO] [--round N] [--folder PATH]

Each scenario is a process of its own, and plays rounds until the time is up. The first thing that is not as
promised ends the run; the folder of its round is kept, with a file of its steps, and the words that repeat it are
printed. Exit status: 0 if nothing was found, 1 if something was, 2 if it could not run.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TREE / "tests" / "module"))

import clocks  # noqa: E402
import cluster  # noqa: E402
import disk  # noqa: E402
import files  # noqa: E402
import replicas  # noqa: E402
import writers  # noqa: E402
from worker import COUNTS, work  # noqa: E402

SCENARIOS = {"files": files, "writers": writers, "disk": disk, "replicas": replicas, "cluster": cluster,
             "clocks": clocks}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hours", type=float)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--tool", default=TREE / "build/release/bloomery", type=pathlib.Path)
    parser.add_argument("--module", default=TREE / "build/release/bloomery.so", type=pathlib.Path)
    parser.add_argument("--python", default=TREE / "build/release/python", type=pathlib.Path,
                        help="the folder that has the Python package")
    parser.add_argument("--only", choices=SCENARIOS, action="append")
    parser.add_argument("--round", type=int, default=0, help="the first round to play")
    parser.add_argument("--folder", type=pathlib.Path, help="where the rounds have their files")
    options = parser.parse_args()
    for program in (options.tool, options.module):
        if not program.exists():
            parser.error(f"{program} is not there: ./dev build")
    options.tool, options.module = options.tool.resolve(), options.module.resolve()
    options.folder = (options.folder or pathlib.Path(tempfile.mkdtemp(prefix="bloomery-soak-"))).resolve()
    options.folder.mkdir(exist_ok=True)
    return options


def in_group(*words):
    os.setpgrp()  # includes every process that it starts, so that none outlives the run
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    work(*words)


def table(counts, found):
    rows = [("scenario", *COUNTS, "findings")]
    rows += [(name, *(f"{number:,}" for number in counts[name]), str(found.count(name))) for name in counts]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(width) if i else cell.ljust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))) for row in rows)


def unmount(folder):
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        if line.split()[1].startswith(f"{folder}/"):
            subprocess.run(["umount", "-l", line.split()[1]], check=False)


def main():
    options = arguments()
    start = time.monotonic()
    deadline = start + options.hours * 3600
    print(f"seed {options.seed}, {options.hours:g} hours, in {options.folder}", flush=True)
    findings = multiprocessing.Event()
    counts, processes = {}, []
    for name in options.only or SCENARIOS:
        scenario = SCENARIOS[name]
        why = scenario.missing(options) if hasattr(scenario, "missing") else None
        if why:
            print(f"{name} is left out: {why}", flush=True)
            continue
        counts[name] = multiprocessing.Array("Q", len(COUNTS), lock=False)
        processes.append(multiprocessing.Process(
            target=in_group, args=(name, scenario, options, counts[name], deadline, findings)))
        processes[-1].start()

    told = start
    # A round that begins in time ends a little later; a round that hangs is a finding.
    while any(process.is_alive() for process in processes) and not findings.is_set():
        findings.wait(0.2)
        now = time.monotonic()
        if now - told >= 60:
            told = now
            print(f"{(now - start) / 60:.0f} min: " + ", ".join(
                f"{name} {c[0]} rounds {c[1]:,} operations {c[2]} kills {c[3]:,} comparisons"
                for name, c in counts.items()), flush=True)
        if now > deadline + 600:
            break
    hanging = [process for process in processes if process.is_alive()] if not findings.is_set() else []
    for process in processes:
        if process.is_alive():
            process.terminate()
            process.join(10)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    unmount(options.folder)

    reports = [json.loads(file.read_text()) for file in options.folder.glob("*/finding.json")]
    print(table(counts, [report["scenario"] for report in reports]))
    for report in reports:
        print(f"\nFOUND in {report['scenario']}: {report['found']}\n{report['trace']}\nits files: {report['folder']}\n"
              f"again: tests/soak/soak.py {options.hours:g} --seed {report['seed']} --only {report['scenario']} "
              f"--round {report['round']}")
    if hanging:
        print("FOUND: a round does not end ten minutes after its time; its files are in", options.folder)
    died = any(process.exitcode not in (0, None) for process in processes) and not reports
    if died:
        print("FOUND: a scenario ended by itself, without a word")
    if not counts:
        return 2
    if reports or hanging or died:
        return 1
    shutil.rmtree(options.folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
