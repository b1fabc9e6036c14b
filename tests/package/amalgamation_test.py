#!/usr/bin/env python3
"""The two files of `./dev amalgamate` compile without a flag or a warning, and are the library, bit by bit.

usage: amalgamation_test.py SOURCE_DIR SCRATCH_DIR COMPILER [LAUNCHER]
"""

import os
import pathlib
import platform
import re
import subprocess
import sys

USER = pathlib.Path(__file__).parent / "amalgamation/user.cpp"
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Werror"]
ALLOWED = {"bloomery.hpp", "xxhash.h", "immintrin.h", "arm_neon.h"}
SYSTEM = ("sodium/", "sys/", "linux/")


def run(*command, expected=0):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("$", *command, "\n" + done.stdout[-5000:], end="")
    if done.returncode != expected:
        sys.exit(f"exit status {done.returncode}")
    return done.stdout


def check_includes(file):
    """xxHash and libsodium are all that they need beside the standard library and the system."""
    for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read_text(), re.MULTILINE):
        known = name in ALLOWED or name.startswith(SYSTEM) or "." not in name or name in ("fcntl.h", "pthread.h", "unistd.h")
        if not known:
            sys.exit(f"{file.name} includes {name}")


def check_names(binary):
    """Two libraries of one program may bring two versions: no name of one is a name of the other."""
    names = run_quietly("nm", "-C", "--extern-only", "--defined-only", binary).splitlines()
    others = [name for name in names if re.search(r"\bbloomery::(?!v\d+_\d+_\d+::)", name)]
    if others or not any("bloomery::" in name for name in names):
        sys.exit(f"without a version: {others}")


def check_instructions(binary):
    """What every CPU runs was compiled for every CPU: our kernels alone, and our inline assembly, have vectors of
    AVX. A function of std with some would be used in the rest of the program as well."""
    function, found, kernels = "", set(), 0
    for line in run_quietly("objdump", "-d", "-C", "--no-show-raw-insn", binary).splitlines():
        if line.endswith(">:"):
            function = line[line.index("<") + 1:-2]
        elif "%ymm" in line or "%zmm" in line:
            found.add(function)
            kernels += "::avx512_::" in function
    if not kernels:
        sys.exit("there are no kernels of AVX-512")
    others = [name for name in found if "bloomery::" not in name.split("(")[0]]
    if others:
        sys.exit(f"not for every CPU: {others}")


def run_quietly(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def main(source, scratch, compiler, *launcher):
    scratch = pathlib.Path(scratch)
    run(sys.executable, pathlib.Path(source) / "tools/amalgamate.py", source, scratch)
    for file in ("bloomery.hpp", "bloomery.cpp"):
        check_includes(scratch / file)
    # Optimizing takes up to seven times as long. By day one compiler does it a little, which is what the
    # instructions are looked at for, and the other sees the whole code.
    level = "-O2" if os.environ.get("BLOOMERY_NIGHTLY") else "-O1" if compiler == "g++" else "-O0"
    binary, program = scratch / "bloomery.o", scratch / "user"
    run(*launcher, compiler, level, *FLAGS, "-c", scratch / "bloomery.cpp", "-o", binary)
    run(compiler, level, *FLAGS, f"-I{scratch}", USER, binary, "-o", program, "-lsodium")
    check_names(binary)
    run(program)
    # A wrong name gives the list of right ones.
    known = run(program, "none", expected=1).rsplit("it has ", 1)[1].strip().split(", ")
    for kernel in known:
        if f"kernel {kernel}\n" not in run(program, kernel):
            sys.exit(f"{kernel} was not chosen")
    if platform.machine() == "x86_64" and level != "-O0":
        check_instructions(binary)


if __name__ == "__main__":
    main(*sys.argv[1:])
