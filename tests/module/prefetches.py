#!/usr/bin/env python3
"""Functions of a shared library ask the memory for something.

usage: prefetches.py OBJDUMP LIBRARY FUNCTION,...

A compiler that takes a prefetch for nothing drops it: answers stay right, and look-ups take longer.
"""

import re
import subprocess
import sys

INSTRUCTION = re.compile(r"\t(?:prefetch|prfm|pfd)")  # x86-64, aarch64, s390x


def functions(objdump, library):
    """(name, lines) of each."""
    text = subprocess.run([objdump, "-d", "-C", "--no-show-raw-insn", library], check=True, capture_output=True,
                          text=True).stdout
    for part in text.split("\n\n"):
        head, _, body = part.partition(">:\n")
        if body:
            yield head.partition("<")[2], body


def main(objdump, library, names):
    bodies = dict(functions(objdump, library))
    failures = []
    for name in names.split(","):
        # Behind a "<" stands what a template was made for, such as a lambda of the function.
        found = {full: body for full, body in bodies.items()
                 if f"{name}(" in full.partition("<")[0] and "cold" not in full}
        if not found:
            failures.append(f"{name} is not there")
        for full, body in found.items():
            other = any("prefetch(" in line and full not in line for line in body.splitlines())
            if not INSTRUCTION.search(body) and not other:
                failures.append(f"{full} asks for nothing")
    print("\n".join(failures) if failures else "every prefetch is there")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
