#!/usr/bin/env python3
"""Each shell completes verbs, flags, values and file names with what the tool gives it.

usage: completions_test.py bash|zsh|fish TOOL

bash and zsh are asked as a person asks them: a line is typed on a terminal, the tabulator pressed,
and what then stands on the line is printed word by word. fish answers without a terminal.
"""

import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time

# What is typed before the tabulator, and the words that then stand there.
UNIQUE = {
    "bloomery pl": ["bloomery", "plan"],
    "bloomery plan --la": ["bloomery", "plan", "--layout"],
    "bloomery plan --layout blocked2": ["bloomery", "plan", "--layout", "blocked2"],
    "bloomery plan --layout=st": ["bloomery", "plan", "--layout=standard"],
    "bloomery dedup --durability sy": ["bloomery", "dedup", "--durability", "sync"],
    "bloomery check my": ["bloomery", "check", "my file"],
    "bloomery plan --web my": ["bloomery", "plan", "--web", "my file"],
    "bloomery check other": ["bloomery", "check", "other's"],
    "bloomery dedup --filter my": ["bloomery", "dedup", "--filter", "my file"],
    # No file where none is wanted.
    "bloomery dedup -n my": ["bloomery", "dedup", "-n", "my"],
    "bloomery plan --hashes my": ["bloomery", "plan", "--hashes", "my"],
}
FILES = ["my file", "other's"]
INTERACTIVE = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], "source {script}"),
    "zsh": (["zsh", "-f", "-i"],
            "fpath=({directory} $fpath); autoload -Uz compinit; compinit -u -D"),
}
SECONDS = 30


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, command, directory):
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, os.environ | {"TERM": "dumb", "PS1": "", "LC_ALL": "C"})

    def type(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, end):
        seen, limit = "", time.monotonic() + SECONDS
        while end not in seen:
            if not select.select([self.fd], [], [], max(0, limit - time.monotonic()))[0]:
                sys.exit(f"no {end!r} within {SECONDS} s in:\n{seen}")
            seen += os.read(self.fd, 4096).decode(errors="replace")
        return seen.replace("\r", "")

    def close(self):
        os.close(self.fd)
        os.waitpid(self.child, 0)


def words_on_the_line(terminal, typed, number):
    """Completes, and then runs `show` with the whole line as its arguments."""
    terminal.type(f"{typed}\t")
    time.sleep(0.3)  # what comes right behind a tabulator, a shell may take for a paste
    terminal.type(f"\x01show {number} \x05\n")
    said = terminal.read_until(f"\nend {number}.")
    return [line[6:-1] for line in said.split("\n") if line.startswith("word (")]


def ask_interactively(shell, tool, scratch):
    command, setup = INTERACTIVE[shell]
    script = scratch / "_bloomery"
    script.write_text(subprocess.run([tool, "--generate", f"complete-{shell}"], check=True,
                                     capture_output=True, text=True).stdout)
    files = scratch / "files"
    files.mkdir()
    for name in FILES:
        (files / name).touch()
    terminal = Terminal(command, files)
    terminal.type(setup.format(script=script, directory=scratch) + "\n")
    terminal.type("show() { local n=$1; shift; printf 'word (%s)\\n' \"$@\"; echo end $n.; }\n")
    terminal.type("show 0 x\n")
    terminal.read_until("\nend 0.")
    answers = {typed: words_on_the_line(terminal, typed, number)
               for number, typed in enumerate(UNIQUE, 1)}
    terminal.close()
    return answers


def ask_fish(tool, scratch):
    script = scratch / "bloomery.fish"
    script.write_text(subprocess.run([tool, "--generate", "complete-fish"], check=True,
                                     capture_output=True, text=True).stdout)
    for name in FILES:
        (scratch / name).touch()
    answers = {}
    for typed in UNIQUE:
        asked = subprocess.run(
            ["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"], check=True,
            capture_output=True, text=True, cwd=scratch, env=os.environ | {"HOME": str(scratch)})
        found = [line.split("\t")[0] for line in asked.stdout.splitlines()]
        before = typed.split(" ")
        answers[typed] = before[:-1] + (found or before[-1:])
    return answers


def main(shell, tool):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        answers = ask_fish(tool, scratch) if shell == "fish" else ask_interactively(shell, tool, scratch)
    wrong = [f"{typed!r} became {answers[typed]}, not {words}"
             for typed, words in UNIQUE.items() if answers[typed] != words]
    print("\n".join(wrong) if wrong else f"{len(UNIQUE)} lines completed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
