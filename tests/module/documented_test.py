#!/usr/bin/env python3
"""Every redis session in a document prints what the document shows.

usage: documented_test.py MODULE FILE...

In blocks marked ```redis the lines after `> ` are commands, followed by what redis-cli prints.
"""

import pathlib
import re
import shlex
import subprocess
import sys

from server import Server


def sessions(text):
    for block in re.findall(r"^```redis\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in block.split("\n> "):
            command, _, expected = part.removeprefix("> ").partition("\n")
            yield command, expected.rstrip("\n")


def main(module, *documents):
    return max(check(module, document) for document in documents)


def check(module, document):
    failed = count = 0
    with Server(module) as server:
        for command, expected in sessions(pathlib.Path(document).read_text()):
            count += 1
            said = subprocess.run(
                ["redis-cli", "-s", str(server.directory / "socket"), "--no-raw",
                 *shlex.split(command)], text=True, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=60).stdout.rstrip("\n")
            if said != expected:
                failed += 1
                print(f"> {command}\n--- it says\n{expected}\n--- but prints\n{said}")
    print(f"{document}: {count} commands, {failed} not as written")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
