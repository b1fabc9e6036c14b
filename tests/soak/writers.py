"""Several writers of one plain file: killed one by one and all at once, while `mv` takes the file away.

Every key that one of them acknowledged is there: for a reader that had the file open before, for the other writers, and
for the next writer, even if that one does not share.
"""

import os
import select
import signal
import subprocess
import sys
import time

from tool import Tool
from worker import Finding, most_false_positives

CAPACITY = 400_000


def missing(options):
    if not (options.python / "bloomery").exists():
        return f"there is no Python package in {options.python}: ninja -C build/release bloomery_python"
    return None


class Shared:
    def __init__(self, run, path, number):
        run.count("operations")
        self.run, self.number, self.acknowledged, self.said = run, number, 0, b""
        script = os.path.join(os.path.dirname(__file__), "shared_writer.py")
        with open(run.folder / f"writer {number}", "wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-B", script, run.options.python, path, str(number), str(run.random.random())],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)

    def listen(self, seconds=0.0):
        while select.select([self.process.stdout], [], [], seconds)[0]:
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            if not part:
                return
            self.said += part
            whole, _, self.said = self.said.rpartition(b"\n")
            if whole:
                self.acknowledged = int(whole.rpartition(b"\n")[2])
            seconds = 0

    def wait_until_open(self):
        self.listen(60)
        if self.process.poll() is not None:
            raise Finding(f"writer {self.number}: {(self.run.folder / f'writer {self.number}').read_text()}")

    def stop(self, kill):
        if kill:
            self.run.count("kills")
            self.process.send_signal(signal.SIGKILL)
        self.process.stdin.close()
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            self.listen(0.05)  # a writer that waits for room in the pipe does not look at its input
        code = self.process.wait(1)
        self.listen()
        self.process.stdout.close()
        self.run.expect(code == (-signal.SIGKILL if kill else 0), lambda: f"writer {self.number} returned {code}: "
                        + (self.run.folder / f"writer {self.number}").read_text())


class File:
    """A path, and how many keys of each writer are in it."""

    def __init__(self, tool, path):
        self.tool, self.path, self.done = tool, path, {}
        tool.do("create", "-q", path, "-n", CAPACITY, "-p", "1%")

    def check(self):
        lines = [f"{number}:{i}" for number, count in self.done.items() for i in range(count)]
        lost = self.tool.absent(self.path, lines)
        self.tool.run.expect(not lost, lambda: f"{self.path} lost {len(lost)} keys: {lost[:5]}")
        return len(lines)


def play(run):
    tool, number, moved = Tool(run), 0, []
    path = run.folder / "shared.bloom"
    file, alive = File(tool, path), []  # alive: (writer, its file)

    def start():
        nonlocal number
        number += 1
        alive.append((Shared(run, file.path, number), file))
        file.done[number] = 0

    def stop(index, kill):
        writer, of = alive.pop(index)
        writer.stop(kill)
        of.done[writer.number] = writer.acknowledged

    for _ in run.turns(40):
        what = run.random.choices(("start", "kill", "end", "listen", "move", "all", "alone"), (6, 4, 2, 4, 1, 1, 1))[0]
        run.step(what, len(alive))
        if what == "start" and len(alive) < 6:
            start()
            if run.chance(0.5):
                alive[-1][0].wait_until_open()
        elif what in ("kill", "end") and alive:
            index = run.random.randrange(len(alive))
            if what == "end":
                alive[index][0].wait_until_open()
            stop(index, what == "kill")
        elif what == "listen":
            time.sleep(run.random.random() * 0.1)
            for writer, of in alive:
                writer.listen()
                of.done[writer.number] = writer.acknowledged
            for one in {of for _, of in alive} | {file}:
                one.check()
        elif what == "move":
            for writer, _ in alive:
                writer.wait_until_open()
            file.path = run.folder / f"moved{number}"
            os.rename(path, file.path)
            moved.append(file)
            file = File(tool, path)
            start()
        elif what in ("all", "alone"):
            for writer, _ in alive:
                writer.wait_until_open()
            if what == "alone" and any(of is file for _, of in alive):
                code, _, said = tool.attempt("add", "-q", path, lines=["x"])
                run.expect(code == 2 and "another writer" in said, f"a writer that does not share: {code} {said}")
            while alive:
                stop(run.random.randrange(len(alive)), what == "all")
            if what == "alone":
                tool.do("add", "-q", path, "--durability", run.random.choice(("sync", "process")), lines=["x"])
            # The next writer may repair the writes of each killed one, also in a filter that was moved away.
            for one in (file, *moved[-2:]):
                compare(tool, one)
    while alive:
        if run.chance(0.5):
            stop(0, True)
        else:
            alive[0][0].wait_until_open()
            stop(0, False)
    for one in (file, *moved):
        compare(tool, one)


def compare(tool, file):
    keys = file.check()
    tool.do("add", "-q", file.path, lines=[])  # repairs what kills left
    file.check()
    said = tool.do("verify", file.path)
    tool.run.expect("whole" in said, f"verify: {said}")
    # Each killed writer may have left one more batch of 200 keys.
    if keys + 200 * len(file.done) <= CAPACITY:
        found = tool.found(file.path, [f"absent {i}" for i in range(5000)])
        tool.run.expect(found < most_false_positives(5000, 0.01), f"{file.path}: {found} of 5000 absent keys found")
