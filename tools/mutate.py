#!/usr/bin/env python3
"""Breaks the code one line at a time, and says which of the breaks no test of their folder sees.

usage: mutate.py [--since COMMIT | --count N] [--seed S] [--jobs J] [--tree DIRECTORY] [FOLDER]
       mutate.py --tests FOLDER

The mutants are those of all lines that differ from COMMIT, or else N lines (20) drawn at random with the
seed S, one mutant each. FOLDER is one of the folders listed below, or any file or folder within them; without it, all
are taken, N lines from each.

A mutant is built in a copy of the tree (build/mutants), which a later run uses again, and tried with the tests
of its folder. It is killed if one of them fails, does not end or fills the disk: 8 GiB of it, or half of what was free.
If all pass, it survives and must be examined by hand: either a test has a gap, or the mutant means the same. A mutant
that makes the same programs, byte by byte, is recognized without a test. The exit status is 0 however many survive.

--tests prints the tests of one of the folders below instead: a pattern for ctest, and the targets that build them.
"""

import argparse
import hashlib
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass

from mutations import mutants_of

ROOT = pathlib.Path(__file__).resolve().parent.parent


# A mutant whose tests take so much longer than those of the unchanged code never ends.
def limit_of(seconds):
    return 60 + 5 * seconds


# The room on the disk that the tests may take; some mutants write without end.
ROOM = 8 << 30


# The processes that share the cases of a GoogleTest program: one process per case, as in ctest, takes longer to start,
# and a single one waits for servers most of the time.
SHARDS = 3


def stop(child):
    """Ends a process, if it runs, and the processes that it started."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


@dataclass(frozen=True)
class Tests:
    """GoogleTest programs; and tests of ctest by a pattern, with the targets that they need."""
    programs: tuple
    pattern: str = ""
    targets: tuple = ()


FOLDERS = {
    "src/base": Tests(("base_test", "store_test", "store_disk_test")),
    "src/hash": Tests(("hash_test",)),
    "src/plan": Tests(("plan_test",)),
    "src/filter": Tests(("filter_test", "frozen_memory_test", "scalable_memory_test", "concurrent_test")),
    "src/format": Tests(("format_test", "store_test")),
    "src/store": Tests(("store_test", "store_disk_test", "store_memory_test", "store_kill_test", "store_crash_test")),
    "src/legacy": Tests(("legacy_test",)),
    "src/redis": Tests(("redis_test", "cluster_test")),
    "src/handle": Tests(("handle_test", "handle_server_test")),
    "c": Tests(("c_test",), "^c/", ("bloomery_c",)),
    "cli": Tests(("cli_test", "cli_verbs_test", "cli_lines_test", "cli_files_test", "cli_redis_test"), "^completions/"),
    "module": Tests(("module_test",), "^module/", ("bloomery_module",)),
}


def sources(root):
    """The files of the tree, also those that are not committed."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout
    return sorted(name for name in listed.split("\0") if name and (root / name).is_file())


def copy_tree(root, tree):
    """Brings the copy up to date; unchanged files keep their time, so they are not built again."""
    names = sources(root)
    for name in names:
        there = tree / name
        if there.is_file() and there.read_bytes() == (root / name).read_bytes():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, there)
    kept = set(names)
    for path in tree.rglob("*"):
        name = path.relative_to(tree)
        if path.is_file() and name.parts[0] not in ("build", ".git") and str(name) not in kept:
            path.unlink()


def folder_of(name):
    return next((folder for folder in FOLDERS if name.startswith(folder + "/")), None)


def changed_lines(root, commit):
    """{file: lines that differ from the commit}"""
    diff = subprocess.run(["git", "-C", root, "diff", "-U0", "--no-prefix", commit], check=True,
                          capture_output=True, text=True).stdout
    lines, name = {}, None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line[4:]
        elif found := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(found[1]), int(found[2] or 1)
            lines.setdefault(name, set()).update(range(first, first + count))
    return lines


def chosen(root, within, since, count, seed):
    """(file, mutant) in order: of all lines that changed, or of `count` lines of each folder."""
    changed = changed_lines(root, since) if since else None
    by_folder = {}
    for name in sources(root):
        if not name.endswith((".cpp", ".hpp")) or not folder_of(name):
            continue
        if within and name != within and not name.startswith(within + "/"):
            continue
        by_line = {}
        for mutant in mutants_of((root / name).read_text()):
            by_line.setdefault(mutant.line, []).append((name, mutant))
        lines = by_folder.setdefault(folder_of(name), [])
        lines += [mutants for line, mutants in sorted(by_line.items())
                  if changed is None or line in changed.get(name, ())]
    if changed is not None:
        return [mutant for lines in by_folder.values() for mutants in lines for mutant in mutants]
    draw = random.Random(seed)
    return [draw.choice(lines[place]) for _, lines in sorted(by_folder.items())
            for place in sorted(draw.sample(range(len(lines)), min(count, len(lines))))]


class Build:
    """The build of the copy, and its results for the unchanged code."""

    def __init__(self, tree, jobs):
        self.tree, self.jobs, self.folder = tree, jobs, tree / "build/release"
        self.made, self.limits = {}, {}

    def start(self, words, **variables):
        with open(self.tree / "build/mutate.log", "ab") as log:
            return subprocess.Popen(words, cwd=self.tree, stdout=log, stderr=log, start_new_session=True,
                                    env={**os.environ, **variables})

    def run(self, *words):
        """Whether a command succeeds; the processes that it started end with it."""
        child = self.start(words)
        try:
            return child.wait() == 0
        finally:
            stop(child)

    def configure(self):
        return self.run("cmake", "--preset", "release", "-DBLOOMERY_TESTS=ON")

    def build(self, tests):
        return self.run("ninja", "-C", self.folder, "-j", str(self.jobs), *tests.programs, *tests.targets)

    def test(self, tests):
        """Whether all tests pass, each in time; the first call, for the unchanged code, measures them."""
        with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as scratch:
            os.chmod(scratch, 0o755)  # for tests that go on as another user
            return self.test_in(scratch, tests)

    def test_in(self, scratch, tests):
        free = shutil.disk_usage(scratch).free
        full = max(free - ROOM, free // 2)
        waiting = [((next(self.folder.glob(f"tests/*/{name}")), "--gtest_brief=1", "--gtest_fail_fast"),
                    (("GTEST_TOTAL_SHARDS", str(SHARDS)), ("GTEST_SHARD_INDEX", str(shard))))
                   for name in tests.programs for shard in range(SHARDS)]
        if tests.pattern:
            waiting.append((("ctest", "--test-dir", self.folder, "-j", str(self.jobs), "-R", tests.pattern,
                             "--stop-on-failure", "--no-tests=error"), ()))
        running = {}
        try:
            while waiting or running:
                while waiting and len(running) < SHARDS * self.jobs:
                    words, variables = command = waiting.pop(0)
                    running[command] = self.start(words, TMPDIR=scratch, **dict(variables)), time.monotonic()
                time.sleep(0.02)
                if shutil.disk_usage(scratch).free < full:
                    return False
                for command, (child, begin) in list(running.items()):
                    seconds = time.monotonic() - begin
                    if child.poll() is None and seconds <= self.limits.get(command, math.inf):
                        continue
                    if child.poll() != 0:
                        return False
                    self.limits.setdefault(command, limit_of(seconds))
                    del running[command]
            return True
        finally:
            for child, _ in running.values():
                stop(child)

    def objects(self):
        """{compiled file: its checksum}; ccache and ninja make the same bytes from the same code."""
        sums = {}
        for path in self.folder.rglob("*.o"):
            at = path.stat().st_mtime_ns
            old = self.made.get(path)
            sums[path] = old if old and old[0] == at else (at, hashlib.sha256(path.read_bytes()).digest())
        return sums

    def remember(self):
        self.made = self.objects()

    def is_same(self):
        now = self.objects()
        return all(now[path][1] == sum_ for path, (_, sum_) in self.made.items() if path in now)


def tried(build, name, mutant, tests):
    """The result of one mutant. The file is always restored."""
    path = build.tree / name
    source = path.read_text()
    try:
        path.write_text(mutant.apply(source))
        if not build.build(tests):
            return "did not compile"
        if build.is_same():
            return "same program"
        return "survived" if build.test(tests) else "killed"
    finally:
        path.write_text(source)


RESULTS = ("killed", "survived", "same program", "did not compile")


def table(results):
    """One line for each folder; the share is of the mutants that compile and differ."""
    rows = [("folder", "mutants", *RESULTS, "share killed")]
    folders = sorted({folder for folder, _ in results})
    for folder in [*folders, *(["all"] if len(folders) > 1 else [])]:
        counts = Counter()
        for (of, result), number in results.items():
            if folder in (of, "all"):
                counts[result] += number
        told = counts["killed"] + counts["survived"]
        rows.append((folder, sum(counts.values()), *(counts[result] for result in RESULTS),
                     f"{100 * counts['killed'] / told:.0f} %" if told else "-"))
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(str(cell).rjust(width) if i else str(cell).ljust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))) for row in rows)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--since", metavar="COMMIT")
    which.add_argument("--count", type=int, default=20, metavar="N")
    which.add_argument("--tests", action="store_true")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="J")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT / "build/mutants", metavar="DIRECTORY")
    return parser.parse_args()


def main():
    given = arguments()
    if given.tests:
        tests = FOLDERS.get((given.folder or "").rstrip("/"))
        if not tests:
            sys.exit("mutate: the folders are " + ", ".join(FOLDERS))
        print("|".join([f"^{name}/" for name in tests.programs] + [tests.pattern] * bool(tests.pattern)))
        print(*tests.programs, *tests.targets)
        return
    for number in (signal.SIGINT, signal.SIGTERM):  # so that `finally` runs
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    mutants = chosen(ROOT, given.folder and given.folder.rstrip("/"), given.since, given.count, given.seed)
    if not mutants:
        sys.exit("mutate: there is nothing to change there; the folders are " + ", ".join(FOLDERS))
    tree = given.tree.resolve()
    (tree / "build").mkdir(parents=True, exist_ok=True)
    copy_tree(ROOT, tree)
    build = Build(tree, given.jobs)
    if not build.configure():
        sys.exit(f"mutate: cmake fails; see {tree}/build/mutate.log")
    results, survivors, ready = Counter(), [], None
    try:
        for name, mutant in mutants:
            folder = folder_of(name)
            tests = FOLDERS[folder]
            if folder != ready:
                if not (build.build(tests) and build.test(tests)):
                    sys.exit(f"mutate: the tests of {folder} fail without a mutant; see {tree}/build/mutate.log")
                build.remember()
                ready = folder
            result = tried(build, name, mutant, tests)
            results[folder, result] += 1
            line = f"{name}:{mutant.line}: {mutant.what}"
            print(f"{result:15}  {line}", flush=True)
            if result == "survived":
                changed = mutant.apply((tree / name).read_text()).split("\n")[mutant.line - 1].strip()
                survivors.append(f"{line}\n    {changed}")
    finally:
        if results:
            print("\n" + table(results))
        if survivors:
            print("\nsurvivors:\n" + "\n".join(survivors))


if __name__ == "__main__":
    main()
