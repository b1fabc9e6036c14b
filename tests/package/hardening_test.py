#!/usr/bin/env python3
"""What is shipped is hardened, as the binaries themselves say: checked calls of libc, canaries, tables that are
read-only once the program runs, no stack that can be executed, code that can be anywhere. Kernels, which
are fast, have no canaries. The C++ library destroys nothing of its own at the exit.

usage: hardening_test.py READELF LIBRARY [--tool FILE] [--shared FILE]... [--built FILE]...

LIBRARY is libbloomery.a; shared files are the module and libbloomery.so.0. The extensions of Python and PHP are
--built: until they are installed, they find libbloomery.so.0 by a search path.
"""

import argparse
import re
import subprocess
import sys

SEARCH_PATH = "no search path of its own"
KERNELS = r"(scalar|avx2|avx512|neon)\.cpp\.o"


def read(readelf, *arguments):
    return subprocess.run([readelf, "-W", *arguments], check=True, capture_output=True, text=True).stdout


def is_checked(symbols):
    """Whether one of the calls of libc that write is checked: __memcpy_chk, __read_chk ..."""
    return re.search(r"UND __\w+_chk\b", symbols) is not None


def can_be_checked(symbols):
    """An extension of PHP formats by PHP's own functions, and copies only to where a compiler cannot know the room or
    sees that there is enough."""
    return "UND zend_" not in symbols


def has_canaries(symbols):
    return re.search(r"UND __stack_chk_(fail|guard)\b", symbols) is not None


def program_faults(readelf, file, is_program):
    """What a program or a module lacks."""
    headers, dynamic = read(readelf, "-h", "-l", file), read(readelf, "-d", file)
    symbols = read(readelf, "--dyn-syms", file)
    # The type, five numbers, the flags as "RW " or "R E", and the alignment.
    segments = re.findall(r"^\s+(LOAD|GNU_STACK|GNU_RELRO)(?:\s+0x\w+){5}\s+([RWE ]+)\s0x", headers, re.MULTILINE)
    stacks = [flags for kind, flags in segments if kind == "GNU_STACK"]
    said = re.findall(r"\((FLAGS|FLAGS_1|TEXTREL|RPATH|RUNPATH|BIND_NOW)\)\s*(.*)", dynamic)
    now = any(name == "BIND_NOW" or re.search(r"\b(BIND_NOW|NOW)\b", value) for name, value in said)
    lacks = {
        "a RELRO segment": any(kind == "GNU_RELRO" for kind, _ in segments),
        "BIND_NOW": now,
        "a stack without code": len(stacks) == 1 and "E" not in stacks[0],
        "segments that are written or executed, not both": not any("W" in flags and "E" in flags for _, flags in segments),
        "code without relocations": not any(name == "TEXTREL" for name, _ in said),
        SEARCH_PATH: not any(name in ("RPATH", "RUNPATH") for name, _ in said),
        "a type of DYN": re.search(r"Type:\s+DYN", headers) is not None,
        "canaries (-fstack-protector-strong)": has_canaries(symbols),
        "checked calls (_FORTIFY_SOURCE)": is_checked(symbols) or not can_be_checked(symbols),
    }
    if is_program:
        lacks["the flag PIE"] = any(name == "FLAGS_1" and "PIE" in value for name, value in said)
    return [f"{file} lacks {what}" for what, there in lacks.items() if not there]


def library_faults(readelf, file):
    """What the archive lacks, by its objects."""
    objects = {}
    for part in read(readelf, "-S", "-s", file).split("\nFile: ")[1:]:
        name, text = part.split("\n", 1)
        objects[re.search(r"\((.*)\)", name)[1]] = text
    kernels = {name for name in objects if re.fullmatch(KERNELS, name)}
    faults = [] if "scalar.cpp.o" in kernels else [f"{file} has no kernels"]
    faults += [f"{name}, a kernel, has canaries" for name in kernels if has_canaries(objects[name])]
    for name, text in objects.items():
        # Functions that run at the exit, and threads that then still run, use filters.
        if re.search(r"UND __cxa_atexit\b", text):
            faults.append(f"{name} destroys an object when the process exits")
        stack = re.search(r"\.note\.GNU-stack\s+\w+\s+\w+ \w+ \w+ \w+\s+(\S*)", text)
        if stack is None or "X" in stack[1]:
            faults.append(f"{name} asks for a stack with code")
    if not any(has_canaries(text) for text in objects.values()):
        faults.append(f"{file} lacks canaries (-fstack-protector-strong)")
    if not any(is_checked(text) for text in objects.values()):
        faults.append(f"{file} lacks checked calls (_FORTIFY_SOURCE)")
    return faults


def all_faults(readelf, library, tool=None, shared=(), built=()):
    faults = library_faults(readelf, library)
    if tool:
        faults += program_faults(readelf, tool, True)
    for file in (*shared, *built):
        faults += [fault for fault in program_faults(readelf, file, False)
                   if file not in built or not fault.endswith(SEARCH_PATH)]
    return faults


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("readelf")
    arguments.add_argument("library")
    arguments.add_argument("--tool")
    arguments.add_argument("--shared", action="append", default=[])
    arguments.add_argument("--built", action="append", default=[])
    faults = all_faults(**vars(arguments.parse_args()))
    print("\n".join(faults) if faults else "all is hardened")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
