"""A frozen filter with a delta: writers and rebuilds are killed, and no key of the list or the delta is lost."""

import time

from tool import Tool, Writer
from worker import most_false_positives

DELTA = 3000


def play(run):
    tool = Tool(run)
    path = run.folder / "frozen.bloom"
    draw = run.random
    made = 0
    keys, delta = set(), set()

    def new_lines(most):
        nonlocal made
        size = draw.choice((1, 10, most))
        made += size
        return [f"{run.number}:{i}" for i in range(made - size, made)]

    first = new_lines(draw.choice((50, 5000, 50_000)))
    words = ("--kind", "frozen", "-p", "1%", "--delta", DELTA)
    run.step("create", len(first))
    tool.do("create", "-q", *words, path, lines=first)
    keys.update(first)
    for number in run.turns(40):
        killed = run.chance(0.5)
        if run.chance(0.7):
            lines = new_lines(500)
            durability = draw.choice(("sync", "process", "none"))
            run.step("add", len(lines), durability, "killed" if killed else "")
            writer = Writer(tool, f"w{number}", "add", path, "--durability", durability)
            writer.feed(lines)
            delta.update(lines)
            end(run, writer, killed)
            keys.update(lines[:writer.acknowledged()] if writer.process.returncode else lines)
        else:
            lines = sorted(keys) + new_lines(2000)
            run.step("rebuild", len(lines), "killed" if killed else "")
            writer = Writer(tool, f"w{number}", "rebuild", *words, path)
            writer.feed(lines)
            end(run, writer, killed)
            if writer.process.returncode == 0:
                keys, delta = set(lines), set()
        missing = tool.absent(path, sorted(keys))
        run.expect(not missing, lambda: f"{path} lost {len(missing)} keys: {missing[:5]}")
        if len(delta) <= DELTA:
            found = tool.found(path, [f"absent {i}" for i in range(5000)])
            run.expect(found < most_false_positives(5000, 0.01), f"{path}: {found} of 5000 absent keys found at 1 %")
        tool.do("add", "-q", path, lines=[])  # repairs what a kill left
        said = tool.do("verify", path)
        run.expect("whole" in said or writer.process.returncode != 0, f"verify: {said}")


def end(run, writer, killed):
    if killed:
        time.sleep(run.random.choice((0, 0.005, 0.02, 0.1)) * run.random.random() * 2)
        writer.kill()
    else:
        code = writer.finish()
        run.expect(code == 0, lambda: f"returned {code}: {writer.errors()}")
