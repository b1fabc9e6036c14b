#!/usr/bin/env python3
"""Lists the lines and the conditions of the shipped code that no test takes.

usage: coverage.py ROOT BUILD [FOLDER]

BUILD is a build of the tree ROOT with the preset `coverage` whose programs have run with LLVM_PROFILE_FILE in
BUILD/profiles. It prints a line for each folder and writes BUILD/missed.txt: each line that never ran, and each
condition that was never true, or never false, with its code. A line or a condition counts as taken if any program has
taken it, in any instance of a template. With FOLDER only its files are listed.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

OURS = ("c", "cli", "include", "module", "php", "python", "src")


def programs_in(build):
    """The programs and shared libraries that count, each with the bytes by which its profiles are recognized: the names
    of its functions, which are in every profile that it writes."""
    for path in sorted(build.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.parent.name == "profiles":
            continue
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF" or file.seek(16) and file.read(1) not in b"\2\3":
                continue
        with tempfile.NamedTemporaryFile() as names:
            subprocess.run(["llvm-objcopy-14", "-O", "binary", "--only-section=__llvm_prf_names", path, names.name],
                           check=False, capture_output=True)
            if found := pathlib.Path(names.name).read_bytes():
                yield path, found


def counted(path, profiles):
    """What llvm-cov says of a program, by file: its segments; and the branches of its functions."""
    with tempfile.NamedTemporaryFile() as merged:
        subprocess.run(["llvm-profdata-14", "merge", "-sparse", *profiles, "-o", merged.name], check=True,
                       capture_output=True)
        said = subprocess.run(["llvm-cov-14", "export", path, f"-instr-profile={merged.name}"], check=True,
                              capture_output=True).stdout
    return json.loads(said)["data"][0]


def runs_of_lines(segments):
    """How often each line ran. A segment is [line, column, runs, has_runs, begins_a_region, is_a_gap], and lasts until
    the next one."""
    by_line = collections.defaultdict(list)
    for segment in segments:
        by_line[segment[0]].append(segment)
    lasting = None
    for line in range(segments[0][0], segments[-1][0] + 1) if segments else ():
        runs = [s[2] for s in by_line[line] if s[3] and s[4] and not s[5]]
        if lasting and lasting[3]:
            runs.append(lasting[2])
        if runs:
            yield line, max(runs)
        lasting = by_line[line][-1] if by_line[line] else lasting


class Taken:
    """How often each line ran, and each condition was true and false."""

    def __init__(self, root):
        self.root = root
        self.lines = collections.defaultdict(collections.Counter)
        self.conditions = collections.defaultdict(dict)

    def ours(self, name):
        path = pathlib.Path(name)
        inside = path.relative_to(self.root) if path.is_relative_to(self.root) else None
        return inside if inside and inside.parts[0] in OURS else None

    def add(self, data):
        for file in data["files"]:
            if path := self.ours(file["filename"]):
                for line, runs in runs_of_lines(file["segments"]):
                    self.lines[path][line] += runs
        for function in data["functions"]:
            for line, column, end, end_column, true, false, file, *_ in function["branches"]:
                if path := self.ours(function["filenames"][file]):
                    old = self.conditions[path].get((line, column, end, end_column), (0, 0))
                    self.conditions[path][line, column, end, end_column] = old[0] + true, old[1] + false

    def missed(self, path):
        """The notes on each line, by its number."""
        code = (self.root / path).read_text().split("\n")
        notes = {line: ["never ran"] for line, runs in self.lines[path].items() if runs == 0}
        for (line, column, end, end_column), (true, false) in sorted(self.conditions[path].items()):
            if line not in notes and (true == 0 or false == 0):
                condition = code[line - 1][column - 1:end_column - 1 if end == line else None]
                notes.setdefault(-line, []).append(f"{condition}: never {'false' if true else 'true'}")
        return {abs(line): (code[abs(line) - 1].strip(), notes[line]) for line in sorted(notes, key=abs)}


def main(root, build, folder="."):
    root, build = pathlib.Path(root).resolve(), pathlib.Path(build).resolve()
    groups = collections.defaultdict(list)  # a program writes several profiles
    for profile in (build / "profiles").glob("*.profraw"):
        groups[profile.name.split("_")[0]].append(profile)
    if not groups:
        sys.exit(f"there is no profile in {build / 'profiles'}")
    contents = {group: profiles[0].read_bytes() for group, profiles in groups.items()}
    taken = Taken(root)
    for path, names in programs_in(build):
        profiles = [profile for group, written in contents.items() if names in written for profile in groups[group]]
        if profiles:
            taken.add(counted(path, profiles))
    totals = collections.defaultdict(lambda: [0, 0, 0])
    with open(build / "missed.txt", "w") as report:
        for path in sorted(path for path in taken.lines if path.is_relative_to(folder)):
            missed = taken.missed(path)
            total = totals["/".join(path.parts[:-1][:2])]
            never = sum(notes == ["never ran"] for _, notes in missed.values())
            for i, more in enumerate((len(taken.lines[path]), never, len(missed) - never)):
                total[i] += more
            for line, (code, notes) in missed.items():
                print(f"{path}:{line}: {code}  // {'; '.join(notes)}", file=report)
    print(f"{'folder':<24} {'lines':>7} {'never ran':>10} {'with a condition of one value':>30}")
    for folder, (lines, never, conditions) in [*sorted(totals.items()), ("all", map(sum, zip(*totals.values())))]:
        print(f"{folder:<24} {lines:>7,} {never:>10,} {conditions:>30,}")
    print(f"each of them: {build / 'missed.txt'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
