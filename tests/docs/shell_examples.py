#!/usr/bin/env python3
"""The shell sessions in a document still say what the document says they say.

usage: shell_examples.py TOOL_DIR FILE

Every block marked ```console is run: the lines after `$ ` as commands (a line that ends in a
backslash goes on), all in one scratch directory, with the tool of TOOL_DIR first in PATH. What
a command prints, on either stream, must be what stands below it; `...` stands for any rest of
a line, and alone on a line for any lines.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile


def sessions(text):
    """(command, expected output) pairs of all console blocks, in order."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        command = expected = None
        for line in block.splitlines(keepends=True):
            if command is not None and command.endswith("\\\n") and not expected:
                command += line
            elif line.startswith("$ "):
                if command is not None:
                    yield command, expected
                command, expected = line[2:], ""
            else:
                expected += line
        yield command, expected


def pattern(expected):
    lines = []
    for line in expected.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*")
        else:
            lines.append(".*".join(re.escape(part) for part in line.split("...")) + r"\n")
    return "".join(lines)


def end_what_was_left(scratch):
    """Servers of a session that ended early: they have the ports of the next one."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if pathlib.Path(os.readlink(process / "cwd")).is_relative_to(scratch):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            pass  # it has ended, or is somebody else's


def main(tool_dir, document):
    environment = os.environ | {"PATH": f"{tool_dir}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    failed = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for command, expected in sessions(document.read_text()):
                count += 1
                said = subprocess.run(["bash", "-c", command], cwd=scratch, env=environment, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, timeout=300).stdout
                if not re.fullmatch(pattern(expected), said):
                    failed += 1
                    print(f"{document.name}: $ {command}--- it says\n{expected}--- but prints\n{said}")
        finally:
            end_what_was_left(pathlib.Path(scratch).resolve())
    print(f"{document.name}: {count} commands, {failed} not as written")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])))
