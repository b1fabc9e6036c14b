#!/usr/bin/env python3
"""The C programs of examples/c and docs/c.md are C99 without a warning, and do what they say. So do those of
examples/java, with JNA.

usage: examples_test.py COMPILER PROJECT LIBRARY
       examples_test.py java PROJECT LIBRARY JAR
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def programs(project):
    """(name, text) of each in C."""
    for file in sorted((project / "examples/c").glob("*.c")):
        yield file.name, file.read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", (project / "docs/c.md").read_text(), re.MULTILINE | re.DOTALL)
    for number, block in enumerate(blocks, 1):
        yield f"c_md_{number}.c", block


def expect(name, text, command, scratch, **more):
    """The command prints what the text of the program says at its end."""
    said = subprocess.run(command, cwd=scratch, check=True, stdout=subprocess.PIPE, text=True, **more).stdout
    expected = re.search(r"/\* Prints:\n(.*?) \*/", text, re.DOTALL)
    expected = re.sub(r"^ \* ", "", expected.group(1), flags=re.MULTILINE)
    if said != expected:
        sys.exit(f"{name} printed\n{said}and not\n{expected}")
    print(f"{name}: as it says")


def in_c(compiler, project, library, scratch):
    for name, text in programs(project):
        (scratch / name).write_text(text)
        subprocess.run([compiler, *FLAGS, f"-I{project / 'include'}", name, library, "-o", "program"],
                       cwd=scratch, check=True)
        expect(name, text, ["./program"], scratch, env=os.environ | {"LD_LIBRARY_PATH": str(library.parent)})


def in_java(project, library, jar, scratch):
    files = sorted((project / "examples/java").glob("*.java"))
    for file in files:
        expect(file.name, file.read_text(),
               ["java", "-cp", jar, f"-Djna.library.path={library.parent}", file], scratch)
    if not files:
        sys.exit("no program in examples/java")


def main(compiler, project, library, *jar):
    project, library = pathlib.Path(project).resolve(), pathlib.Path(library).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        if compiler == "java":
            in_java(project, library, *jar, pathlib.Path(scratch))
        else:
            in_c(compiler, project, library, pathlib.Path(scratch))


if __name__ == "__main__":
    main(*sys.argv[1:])
