"""A disk that fills up and empties while filters of every kind are written: a small tmpfs, so it needs root.

A writer succeeds, or says in one line that there is no space. Acknowledged keys are there, also for readers while the
disk is full, and a run that was not killed leaves no second file behind.
"""

import shutil
import subprocess
import tempfile
import threading
import time

from models import RATES, Model
from tool import Tool, Writer
from worker import Finding

SIZE = 12 << 20
KINDS = ("plain", "counting", "scalable", "window")
FULL = "No space left"


def missing(_):
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "soak", folder], capture_output=True).returncode != 0:
            return "it mounts a disk of its own, which is not allowed here"
        subprocess.run(["umount", folder], check=True)
    return None


class Filler(threading.Thread):
    """Takes all or some of the free space of the disk and gives it back; `pause` leaves the disk empty."""

    def __init__(self, folder, draw):
        super().__init__(daemon=True)
        self.path, self.draw = folder / "filler", draw
        self.full, self.ended = threading.Event(), threading.Event()
        self.turn = threading.Lock()

    def run(self):
        while not self.ended.is_set():
            if not self.full.is_set():
                self.full.wait(0.01)
                continue
            with self.turn:
                if self.full.is_set():
                    self.take()
            time.sleep(self.draw.choice((0, 0.001, 0.01)) * self.draw.random())

    def take(self):
        with open(self.path, "ab", buffering=0) as file:
            if self.draw.random() < 0.1:
                file.truncate(0)
                return
            try:
                while self.draw.random() < 0.95:
                    file.write(bytes(self.draw.choice((4096, 65536, 1 << 20))))
            except OSError:
                pass

    def pause(self):
        self.full.clear()
        with self.turn:
            self.path.unlink(missing_ok=True)


def play(run):
    folder = run.folder / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "soak", folder], check=True)
    filler = Filler(folder, run.random)
    filler.start()
    try:
        Round(run, folder, filler).play()
    except Exception:
        filler.pause()
        shutil.copytree(folder, run.folder / "copy of the disk")
        raise
    finally:
        filler.ended.set()
        filler.full.set()
        filler.join()
        subprocess.run(["umount", "-l", folder], check=True)


class Round:
    def __init__(self, run, folder, filler):
        self.run, self.folder, self.filler, self.tool = run, folder, filler, Tool(run)
        self.lines_made = self.writers = 0
        self.models = [Model(self.tool, folder / kind, run.folder / f"copy of {kind}", kind, run.random.choice(RATES))
                       for kind in KINDS]
        self.frozen, self.in_frozen = folder / "frozen", self.lines(5000)
        self.tool.do("create", "-q", "--kind", "frozen", "-p", "1%", "--delta", 5000, self.frozen, lines=self.in_frozen)

    def play(self):
        steps = {self.write: 8, self.write_in_a_batch: 4, self.write_frozen: 2, self.rebuild_frozen: 2, self.make: 2}
        for _ in self.run.turns(60):
            self.run.random.choices(list(steps), steps.values())[0]()
        for model in self.models:
            model.compare()
        self.no_leftovers()

    def lines(self, size):
        first = self.lines_made
        self.lines_made += size
        return [f"{self.run.number}:{i}" for i in range(first, first + size)]

    def operation(self, model):
        there = [key for key, times in model.keys.items() if times > 0]
        if model.kind == "counting" and (len(there) > 15_000 or there and self.run.chance(0.3)):
            return "remove", self.run.random.sample(there, self.run.random.randrange(1, len(there) + 1))
        return "add", self.lines(self.run.random.choice((1, 100, 3000, 10_000)))

    def writer(self, verb, *words):
        self.writers += 1
        return Writer(self.tool, f"w{self.writers % 50}", verb, *words)

    def end(self, writer, killed=False):
        """True: the command did everything."""
        if killed:
            time.sleep(self.run.random.choice((0, 0.01, 0.1)) * self.run.random.random())
            writer.kill()
            return writer.process.returncode in (0, 1)
        code = writer.finish()
        said = writer.errors()
        self.run.expect(code in (0, 1) or code == 2 and FULL in said and said.strip().count("\n") == 0,
                        f"returned {code}: {said}")
        self.no_leftovers()
        return code != 2

    def no_leftovers(self):
        left = list(self.folder.glob(".*"))
        self.run.expect(not left, f"left behind: {left}")

    # ---- steps ------------------------------------------------------------------------------------

    def write(self):
        model = self.run.random.choice(self.models)
        verb, lines = self.operation(model)
        durability, killed = self.run.random.choice(("sync", "process", "none")), self.run.chance(0.2)
        self.run.step(verb, len(lines), model.kind, durability, "killed" if killed else "")
        self.filler.full.set()
        writer = self.writer(verb, model.path, "--durability", durability)
        writer.feed(lines)
        whole = self.end(writer, killed)
        done = writer.acknowledged()
        if verb == "add" and model.kind != "window":
            missing = self.tool.absent(model.path, model.expected() + lines[:len(lines) if whole else done])
            self.run.expect(not missing, lambda: f"{model.path}, while the disk is full, lacks {missing[:5]}")
        self.repair(model)
        model.reconcile(verb, lines, done, len(lines) if whole else None)
        model.check()

    def repair(self, model):
        """The next writer repairs what a kill left, or fails for lack of space; then space is made."""
        for _ in range(2):
            code, _, said = self.tool.attempt("add", "-q", model.path, lines=[])
            self.run.expect(code == 0 or code == 2 and FULL in said, f"returned {code}: {said}")
        self.filler.pause()

    def write_in_a_batch(self):
        model = self.run.random.choice(self.models[1:])
        verb, lines = self.operation(model)
        durability = self.run.random.choice(("sync", "process", "none"))
        self.run.step(verb, len(lines), model.kind, durability, "in a batch")
        acknowledged, words = 0, ("--durability", durability, "--batch", f"batch {self.writers}")
        for attempt in range(5):
            if attempt < 4:
                self.filler.full.set()
            else:
                self.filler.pause()
            writer = self.writer(verb, model.path, *words)
            writer.feed(lines)
            whole = self.end(writer, attempt < 4 and self.run.chance(0.2))
            if whole:
                break
            acknowledged = max(acknowledged, writer.acknowledged())
        else:
            raise Finding(f"{model.path}: the disk is empty, and the batch does not end: {writer.errors()}")
        self.filler.pause()
        model.reconcile(verb, lines, acknowledged, len(lines))
        model.check()

    def check_frozen(self):
        missing = self.tool.absent(self.frozen, self.in_frozen)
        self.run.expect(not missing, lambda: f"the frozen filter lacks {len(missing)} keys: {missing[:5]}")

    def write_frozen(self):
        lines, durability = self.lines(200), self.run.random.choice(("sync", "process"))
        self.run.step("add", len(lines), "frozen", durability)
        self.filler.full.set()
        writer = self.writer("add", self.frozen, "--durability", durability)
        writer.feed(lines)
        whole = self.end(writer, self.run.chance(0.2))
        self.in_frozen += lines[:len(lines) if whole else writer.acknowledged()]
        self.check_frozen()
        self.filler.pause()

    def rebuild_frozen(self):
        lines = self.in_frozen + self.lines(200)
        self.run.step("rebuild", len(lines), "frozen")
        self.filler.full.set()
        writer = self.writer("rebuild", self.frozen)
        writer.feed(lines)
        killed = self.run.chance(0.2)
        if self.end(writer, killed):
            self.in_frozen = lines
        self.check_frozen()
        self.filler.pause()
        if killed:
            self.tool.do("rebuild", "-q", self.frozen, lines=self.in_frozen)  # removes what the kill left

    def make(self):
        """A new filter exists completely or not at all, and so does a union."""
        new = self.folder / "new"
        plain = self.models[0].path
        kind = self.run.random.choice((["create", "-q", new, "-n", "100K", "-p", "1%"],
                                       ["create", "-q", new, "--kind", "scalable", "-n", "1K", "-p", "1%"],
                                       ["merge", "-q", new, plain, plain], ["salvage", "-q", plain, new]))
        self.run.step(*kind)
        self.filler.full.set()
        code, _, said = self.tool.attempt(*kind)
        self.run.expect(code == 0 or code == 2 and FULL in said, f"{kind[0]} returned {code}: {said}")
        self.run.expect(new.exists() == (code == 0), f"{kind[0]} returned {code}, and the file is there: {new.exists()}")
        self.no_leftovers()
        if code == 0:
            self.tool.do("verify", new)
            new.unlink()
        self.filler.pause()
