#!/usr/bin/env python3
"""libbloomery.so.0 exports what declarations.h declares and nothing else, and what was linked with an earlier one
still works: `abidiff` finds no function, struct or number that is gone or different.

usage: exports_test.py LIBRARY DECLARATIONS PINNED
       exports_test.py --pin DECLARATIONS PINNED

--pin writes PINNED again, after something was added. Nothing else may ever happen to it.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Bits of abidiff's exit status: it failed, wrongly called, a change, one that breaks what is linked already.
BAD = 1 | 2 | 4 | 8
HEADERS = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def declared(declarations):
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(declarations).read_text(), flags=re.DOTALL)
    return text, set(re.findall(r"\b(bloomery_\w+)\(", text))


def exported(library):
    return {line.split()[2].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()} - {
        "BLOOMERY_0"}


def describe(declarations, out):
    """Writes how functions and types look to a caller: of a library in C whose functions do nothing, for the real
    one's debug information would tell all that is behind them."""
    text, _ = declared(declarations)
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "declarations.c"
        source.write_text(HEADERS + re.sub(r"(\bbloomery_\w+\([^;]*\));", r"\1 { __builtin_trap(); }", text))
        run("gcc", "-g", "-fno-eliminate-unused-debug-types", "-shared", "-fPIC", "-w", "-Wl,-soname,libbloomery.so.0", source, "-o", f"{scratch}/lib.so")
        run("abidw", "--load-all-types", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed",
            "--no-show-locs", "--out-file", out, f"{scratch}/lib.so")


def differences(library, declarations, pinned):
    there, (_, wanted) = exported(library), declared(declarations)
    if there != wanted:
        yield f"exported and not declared: {sorted(there - wanted)}; declared and not exported: {sorted(wanted - there)}"
    name = re.search(r"SONAME\s+(\S+)", run("objdump", "-p", library)).group(1)
    if name != "libbloomery.so.0":
        yield f"its name is {name}"
    with tempfile.NamedTemporaryFile(suffix=".abi") as now:
        describe(declarations, now.name)
        done = subprocess.run(["abidiff", "--no-added-syms", "--non-reachable-types", pinned, now.name],
                              capture_output=True, text=True)
        if done.returncode & BAD:
            yield f"abidiff:\n{done.stdout}{done.stderr}"


def main(*words):
    if words[0] == "--pin":
        return describe(*words[1:])
    found = list(differences(*words))
    if found:
        sys.exit("\n".join(found))
    print(f"{len(declared(words[1])[1])} functions")


if __name__ == "__main__":
    main(*sys.argv[1:])
