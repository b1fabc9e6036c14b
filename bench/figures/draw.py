#!/usr/bin/env python3
"""Draws the figures of docs/ from plans of the tool: draw.py BLOOMERY DIRECTORY.

They contain no measurement, so they are the same on every machine.
"""

import json
import pathlib
import subprocess
import sys

from svg_chart import chart

LAYOUTS = ["blocked", "blocked2", "standard"]


def plan(tool, *arguments):
    said = subprocess.run([tool, "plan", *map(str, arguments), "--json"], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(said)["layouts"][0]


def rate_by_load(tool):
    capacity = 1_000_000
    series = []
    for layout in LAYOUTS:
        whole = plan(tool, "-n", capacity, "-p", "1%", "--layout", layout)
        flags = ["--layout", layout, "--bits", whole["bits"], "--hashes", whole["hashes"]]
        series.append((layout, [(0, 0)] + [
            (load / 10, 100 * plan(tool, "-n", capacity * load // 10, *flags)["fpr"])
            for load in range(1, 41)]))
    most = max(points[-1][1] for _, points in series)
    return chart("A filter made for 1 %, as it fills",
                 ("keys, in times the capacity", 0, 4, [(i, f"{i}x") for i in range(5)], False),
                 ("fpr", 0, most, [(i, f"{i} %") for i in range(0, int(most) + 1, 10)], False),
                 series, [(1, "capacity")])


def bits_per_key(tool):
    rates = [10 ** (-i / 4) for i in range(4, 41)]
    plans = {layout: [plan(tool, "-n", "100M", "-p", f"{rate:.6g}", "--layout", layout)
                      for rate in rates] for layout in LAYOUTS}
    series = [(layout, [(rate, it["bits_per_key"]) for rate, it in zip(rates, plans[layout])
                        if "bits_per_key" in it]) for layout in LAYOUTS]
    series.append(("lower bound", [(rate, it["lower_bound_bits_per_key"])
                                 for rate, it in zip(rates, plans["standard"])]))
    most = max(bits for _, points in series for _, bits in points)
    return chart("Memory for a false-positive rate",
                 ("false-positive rate", rates[0], rates[-1],
                  [(10 ** -i, f"1e-{i}") for i in range(1, 11)], True),
                 ("bits per key", 0, most, [(i, str(i)) for i in range(0, int(most) + 1, 10)], False),
                 series)


def main(tool, directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name, draw in (("rate-by-load", rate_by_load), ("bits-per-key", bits_per_key)):
        (directory / f"{name}.svg").write_text(draw(tool), encoding="utf-8")
        print(directory / f"{name}.svg")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: draw.py BLOOMERY DIRECTORY")
    main(*sys.argv[1:])
