#!/usr/bin/env python3
"""No kernel's object file has a function that the linker may take for another file's.

usage: kernel_symbols.py NM NAME,... OBJECT...

Looks at the objects of the kernels that are named, which must be there.

An inline function that stands alone is a weak symbol: of several copies the linker takes any, so
that code for AVX-512 could run, outside of the kernels, on a CPU that has none.
"""

import pathlib
import subprocess
import sys


def weak_functions(nm, file):
    symbols = subprocess.run([nm, "--demangle", file], check=True, capture_output=True, text=True)
    for line in symbols.stdout.splitlines():
        kind, name = line[17:].split(" ", 1)
        if kind == "W":
            yield name


def main(nm, names, *files):
    wanted = {f"{name}.cpp.o" for name in names.split(",")}
    kernels = [file for file in files if pathlib.Path(file).name in wanted]
    if len(kernels) != len(wanted):
        sys.exit(f"not all of {names} are among the objects")
    found = [f"{pathlib.Path(file).name}: {name}"
             for file in kernels for name in weak_functions(nm, file)]
    print("\n".join(found) if found else "no function is weak")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
