#!/usr/bin/env python3
"""The C programs of examples/c and docs/c.md are C99 without a warning, and do what they say.

usage: examples_test.py COMPILER PROJECT LIBRARY
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def programs(project):
    """(name, text) of each."""
    for file in sorted((project / "examples/c").glob("*.c")):
        yield file.name, file.read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", (project / "docs/c.md").read_text(), re.MULTILINE | re.DOTALL)
    for number, block in enumerate(blocks, 1):
        yield f"c_md_{number}.c", block


def main(compiler, project, library):
    project, library = pathlib.Path(project).resolve(), pathlib.Path(library).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in programs(project):
            source = pathlib.Path(scratch) / name
            source.write_text(text)
            subprocess.run([compiler, *FLAGS, f"-I{project / 'include'}", source, library, "-o", "program"],
                           cwd=scratch, check=True)
            said = subprocess.run(["./program"], cwd=scratch, check=True, capture_output=True, text=True,
                                  env=os.environ | {"LD_LIBRARY_PATH": str(library.parent)}).stdout
            expected = re.search(r"/\* Prints:\n(.*?) \*/", text, re.DOTALL)
            expected = re.sub(r"^ \* ", "", expected.group(1), flags=re.MULTILINE)
            if said != expected:
                sys.exit(f"{name} printed\n{said}and not\n{expected}")
            print(f"{name}: as it says")


if __name__ == "__main__":
    main(*sys.argv[1:])
