"""What the scripts of this folder share: the machine, what a program takes, and goals beside what was measured."""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

COLUMNS = ("seconds", "user_seconds", "system_seconds", "peak_mib", "written_mb")


def machine():
    """The machine, in the words of the other benches."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(": ", 1)[1].strip() for line in file if line.startswith("model name")]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") / 2**30
    return (f"{names[0] if names else 'unknown'}, {os.cpu_count()} CPUs, {memory:.0f} GiB, "
            f"Linux {platform.release()}")


def scratch(directory):
    """A folder in `directory`, which is made if it is not there, or where the system has such; removed at the end."""
    if directory:
        directory.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=directory)


def run(build, command, out=os.devnull, source=None):
    """One run of a program, whose output goes to a file: its COLUMNS."""
    numbers, end = os.pipe()
    with open(out, "wb") as target:
        child = subprocess.run([build / "bench/urls/usage", str(end), *command], stdin=source, stdout=target,
                               stderr=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"}, pass_fds=[end])
    os.close(end)
    with open(numbers) as file:
        text = file.read()
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: {child.returncode}")
    seconds, user, system, peak, blocks = map(float, text.split())
    return seconds, user, system, peak / 1024, blocks * 512 / 1e6


def medians(runs):
    """A row: the medians of the columns of several runs, by name, and all times."""
    row = dict(zip(COLUMNS, (statistics.median(column) for column in zip(*runs))))
    return {**row, "all_seconds": [one[0] for one in runs]}


def filter_mib(tool, lines):
    """The size of a filter for so many lines at the default rate of dedup."""
    made = subprocess.run([tool, "plan", "--json", "-n", str(lines), "-p", "1e-6"], capture_output=True, check=True)
    layouts = {plan["layout"]: plan["bytes"] for plan in json.loads(made.stdout)["layouts"]}
    return layouts["blocked2"] / 2**20  # dedup's layout at that rate


def print_goals(goals, rows):
    """Prints the goals as the other benches do, and returns them for JSON.

    A goal is (what, (row, column), (row, column) that it is divided by or None, "≤" or "≥", limit or None). A goal
    whose rows were not measured is left out; one without a limit is only a ratio.
    """
    lines = []
    for what, (row, column), over, sign, limit in goals:
        if row not in rows or (over and over[0] not in rows):
            continue
        measured = rows[row][column] / (rows[over[0]][over[1]] if over else 1)
        lines.append({"what": what, "measured": measured})
        if limit is not None:
            met = measured <= limit if sign == "≤" else measured >= limit
            lines[-1].update({"at most" if sign == "≤" else "at least": limit, "met": met})
    width = max(len(line["what"]) for line in lines)
    print(f"\ngoals\n{'what':<{width}}  measured  {'goal':>6}")
    for line in lines:
        limits = [f"{sign} {line[word]:g}" for sign, word in (("≤", "at most"), ("≥", "at least")) if word in line]
        verdict = ("met" if line["met"] else "MISSED") if limits else ""
        print(f"{line['what']:<{width}}  {line['measured']:>8.3g}  {(limits or ['none'])[0]:>6}  {verdict}".rstrip())
    return lines


def write_json(path, values):
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values, indent=2) + "\n")
