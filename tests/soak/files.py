"""Files of every kind: writers killed at random, names changed under them, backups put back.

A round has one kind. Writers end or are killed, with all durabilities; with `--batch` the input is repeated until all
of it is done. `mv` and `rm` take the file of a writer away while a second writer begins at the same path; `cp`
overwrites it in place.
"""

import os
import shutil
import time

import frozen
from models import RATES, Model
from tool import Tool, Writer

KINDS = ("plain", "counting", "scalable", "window", "frozen")


def play(run):
    kind = KINDS[run.number % len(KINDS)]
    if kind == "frozen":
        frozen.play(run)
    else:
        Round(run, kind).play()


class Round:
    def __init__(self, run, kind):
        self.run, self.kind, self.tool = run, kind, Tool(run)
        self.made = self.new_lines = self.writers = 0
        self.kept = []  # files that were moved away
        self.file = self.make()
        self.backup = None

    def play(self):
        steps = {self.write: 8, self.write_in_a_batch: 0 if self.kind == "plain" else 6, self.rotate: 2,
                 self.remove: 1, self.copy: 1, self.put_back: 1, self.overwrite: 1, self.compare: 2, self.check_meanwhile: 2}
        for _ in self.run.turns(60):
            self.run.random.choices(list(steps), steps.values())[0]()
        for model in [self.file, *self.kept]:
            model.compare()
            if self.kind == "counting":
                model.empty()
        for leftover in self.run.folder.glob(".*.new"):
            self.run.expect(False, f"{leftover} was left behind")

    # ---- what a writer gets -----------------------------------------------------------------------

    def make(self):
        self.made += 1
        path = self.run.folder / "f.bloom"
        rate = self.run.random.choice(RATES)
        self.run.step("create", self.kind, rate)
        return Model(self.tool, path, path.with_name(f"reference{self.made}"), self.kind, rate)

    def lines(self):
        """New lines and repeats; windows and counting filters are not filled far over capacity."""
        draw = self.run.random
        size = draw.choice((1, 1, 20, 300, 3000, 20_000))
        old = list(self.file.keys) if draw.random() < 0.5 else []
        lines = [draw.choice(old) if old and draw.random() < 0.3 else self.new_line() for _ in range(size)]
        return lines

    def new_line(self):
        self.new_lines += 1
        return f"{self.run.number}:{self.new_lines}"

    def operation(self):
        """(verb, lines): lines that are removed are in the filter."""
        there = [key for key, times in self.file.keys.items() if times > 0]
        if self.kind == "counting" and there and (self.run.chance(0.4) or len(there) > 15_000):
            size = self.run.random.randrange(1, len(there) + 1)
            return "remove", self.run.random.sample(there, size)
        return "add", self.lines()

    def durability(self):
        return self.run.random.choice(("sync", "sync", "process", "process", "none"))

    def writer(self, path, verb, durability, *words):
        self.writers += 1
        return Writer(self.tool, f"w{self.writers % 50}", verb, path, "--durability", durability, *words)

    def pause(self):
        """Waits between the start of a writer and a kill: mostly while it opens the file and takes lines."""
        time.sleep(self.run.random.choice((0, 0.003, 0.01, 0.03, 0.3)) * self.run.random.random() * 2)

    # ---- steps ------------------------------------------------------------------------------------

    def write(self):
        verb, lines = self.operation()
        durability, killed = self.durability(), self.run.chance(0.5)
        self.run.step(verb, len(lines), durability, "killed" if killed else "")
        writer = self.writer(self.file.path, verb, durability)
        self.feed(writer, lines, slowly=durability != "none" and self.run.chance(0.15))
        self.end(self.file, writer, verb, lines, durability, killed)

    def feed(self, writer, lines, slowly=False):
        """Sends lines for more than a second, so that the writer says what is safe before it has all of them."""
        if not slowly:
            writer.feed(lines)
            return
        for part in range(4):
            writer.feed(lines[part * len(lines) // 4:(part + 1) * len(lines) // 4])
            time.sleep(0.6)

    def end(self, model, writer, verb, lines, durability, killed):
        if killed:
            self.pause()
            writer.kill()
        else:
            code = writer.finish()
            self.run.expect(code in (0, 1), lambda: f"{verb} returned {code}: {writer.errors()}")
        done = None if killed and writer.process.returncode < 0 else len(lines)
        if durability == "none" and done is None and self.kind == "plain":
            # The run counts as a whole, or not at all.
            model.reconcile(verb, lines, 0)
            return
        model.reconcile(verb, lines, writer.acknowledged(), done)

    def write_in_a_batch(self):
        verb, lines = self.operation()
        words = "--batch", f"batch {self.writers}"
        durability = self.durability()
        self.run.step(verb, len(lines), durability, *words)
        kills = self.run.random.randrange(5)
        acknowledged = 0
        while True:
            writer = self.writer(self.file.path, verb, durability, *words)
            self.feed(writer, lines, slowly=durability != "none" and self.run.chance(0.1))
            if kills == 0:
                code = writer.finish()
                self.run.expect(code in (0, 1), lambda: f"batch: {code}: {writer.errors()}")
                break
            kills -= 1
            self.pause()
            writer.kill()
            acknowledged = max(acknowledged, writer.acknowledged())
        self.file.reconcile(verb, lines, acknowledged, len(lines))

    def rotate(self):
        """Moves the file of a writer away, and starts a second writer at the old path."""
        verb, lines = self.operation()
        durability = self.durability()
        old = self.file
        first = self.writer(old.path, verb, durability)
        self.feed(first, lines[:len(lines) // 2])
        if self.run.chance(0.7):
            time.sleep(0.1)  # by now it has opened the file
        away = self.run.folder / f"away{self.made}"
        killed = self.run.chance(0.4)
        self.run.step("mv", old.path.name, away.name, "beneath", verb, len(lines), durability,
                      "killed" if killed else "")
        opened = self.has_open(first, old.path)
        os.rename(old.path, away)
        if not opened:
            # The writer finds no file or the new one, or has opened the old one in between: its result is not known.
            first.kill()
            old.path = away
            old.reconcile(verb, lines, 0)
        else:
            old.path = away
        self.file = self.make()
        new_lines = self.lines()
        second = self.writer(self.file.path, "add", "sync")
        self.feed(second, new_lines)
        if opened:
            self.feed(first, lines[len(lines) // 2:])
            self.end(old, first, verb, lines, durability, killed)
        self.end(self.file, second, "add", new_lines, "sync", self.run.chance(0.3))
        old.check()
        self.file.check()
        self.kept = [*self.kept, old][-3:]

    def remove(self):
        """Removes the file of a writer, and starts a second writer at its path."""
        verb, lines = self.operation()
        durability, path = self.durability(), self.file.path
        self.run.step("rm", "beneath", verb, len(lines), durability)
        first = self.writer(path, verb, durability)
        self.feed(first, lines[:len(lines) // 2])
        self.pause()
        opened = self.has_open(first, path)
        if not opened:
            first.kill()
        os.unlink(path)
        before = first.acknowledged()
        self.file = self.make()
        new_lines = self.lines()
        second = self.writer(path, "add", "sync")
        self.feed(second, new_lines)
        if opened:
            self.feed(first, lines[len(lines) // 2:])
            self.expect_failure(first, before)
        self.end(self.file, second, "add", new_lines, "sync", self.run.chance(0.3))
        self.file.check()

    def expect_failure(self, writer, acknowledged):
        """A writer that has lost its file says so, and that no line is safe beyond those it acknowledged before."""
        code = writer.finish()
        self.run.expect(code == 2, lambda: f"a writer without its file returned {code}: {writer.errors()}")
        now = writer.acknowledged()
        self.run.expect(now <= acknowledged, lambda: f"{now} lines acknowledged, before {acknowledged}")

    def has_open(self, writer, path):
        """Whether the writer has the file open and locked, as the system sees it."""
        folder = f"/proc/{writer.process.pid}/fd"
        try:
            status = os.stat(path)
            return any(os.path.samestat(os.stat(f"{folder}/{name}"), status) for name in os.listdir(folder))
        except OSError:
            return False

    def copy(self):
        self.run.step("backup")
        paths = self.file.path, self.file.reference
        for path in paths:
            shutil.copy(path, path.with_name(f"backup of {path.name}"))
        self.backup = self.file, self.file.saved()

    def put_back(self):
        if self.backup is None or self.backup[0] is not self.file:
            return
        self.run.step("put the backup back")
        model, saved = self.backup
        for path in (model.path, model.reference):
            copy = path.with_name("restored")
            shutil.copy(path.with_name(f"backup of {path.name}"), copy)
            os.rename(copy, path)
        model.restored(saved)
        model.compare()

    def overwrite(self):
        """Writes the backup into the file itself, beneath a writer."""
        if self.backup is None or self.backup[0] is not self.file:
            return
        model, saved = self.backup
        verb, lines = self.operation()
        durability = self.durability()
        self.run.step("cp over", "beneath", verb, len(lines), durability)
        writer = self.writer(model.path, verb, durability)
        half = (len(lines) + 1) // 2
        self.feed(writer, lines[:half])
        writer.wait_until_read()
        self.pause()
        for path in (model.path, model.reference):
            shutil.copyfile(path.with_name(f"backup of {path.name}"), path)
        self.feed(writer, lines[half:])
        if writer.finish() in (0, 1):
            # Nothing was overwritten: the copy had what the writer had read.
            self.run.expect(saved[:2] == model.saved()[:2], "a writer does not see that its file was overwritten")
            model.reconcile(verb, lines, writer.acknowledged(), len(lines))
            model.compare()
            return
        self.expect_failure(writer, half)  # it may have acknowledged any of these just before the copy
        code, _, error = self.tool.attempt("add", "-q", model.path, lines=[])
        if code == 0:
            code, _, error = self.tool.attempt("verify", "-q", model.path)
        if code == 0:
            model.restored(saved)
            model.compare()
            return
        # The writer wrote into the copy before it could see that it is another file.
        self.run.expect(durability != "none", f"after cp over it: {error}")
        self.run.expect(any(word in error for word in ("salvage", "damaged", "truncated")), f"after cp over it: {error}")
        model.path.unlink()
        self.file = self.make()

    def compare(self):
        self.run.step("compare")
        self.tool.do("add", "-q", self.file.path, lines=[])
        self.file.compare()

    def check_meanwhile(self):
        """Readers while a writer has the file."""
        verb, lines = "add", self.lines()
        durability = self.durability()
        self.run.step("check beside a writer", len(lines), durability)
        writer = self.writer(self.file.path, verb, durability)
        self.feed(writer, lines)
        self.file.check()
        self.end(self.file, writer, verb, lines, durability, self.run.chance(0.5))
