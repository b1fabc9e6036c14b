#!/usr/bin/env python3
"""An installed Bloomery is found and used by find_package and by pkg-config.

usage: consumer_test.py BUILD_DIR CMAKE CXX [tool]: `tool` when the build has one
"""

import os
import pathlib
import subprocess
import sys
import tempfile

CONSUMER = pathlib.Path(__file__).parent / "consumer"


def run(*command, **environment):
    done = subprocess.run([str(part) for part in command], env=os.environ | environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("$", *command, "\n" + done.stdout, end="")
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode}")
    return done.stdout


def expect(program, **environment):
    said = run(program, **environment)
    if not said.endswith("1000 keys in, 1000 keys found\n"):
        sys.exit(f"{program} did not say what it should")


def check_tool(prefix):
    run(prefix / "bin" / "bloomery", "--version")
    for part in ("man/man1/bloomery.1", "bash-completion/completions/bloomery",
                 "zsh/vendor-completions/_bloomery", "fish/vendor_completions.d/bloomery.fish"):
        if (prefix / "share" / part).stat().st_size == 0:
            sys.exit(f"{part} is empty")


def main(build, cmake, compiler, with_tool):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        first, prefix = scratch / "first", scratch / "moved"
        run(cmake, "--install", build, "--prefix", first)
        # Nothing may depend on where it was installed.
        first.rename(prefix)

        user = scratch / "user"
        run(cmake, "-S", CONSUMER, "-B", user, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={compiler}")
        run(cmake, "--build", user)
        expect(user / "consumer_bloomery")
        expect(user / "consumer_shared")

        libdir = next(prefix.glob("lib*/**/pkgconfig")).parent
        pkg = {"PKG_CONFIG_PATH": str(libdir / "pkgconfig")}
        source, program = CONSUMER / "consumer.cpp", scratch / "program"
        flags = run("pkg-config", "--cflags", "--libs", "bloomery", **pkg).split()
        run(compiler, "-std=c++20", source, "-o", program, *flags)
        expect(program, LD_LIBRARY_PATH=str(libdir))
        flags = run("pkg-config", "--static", "--cflags", "--libs", "bloomery", **pkg).split()
        run(compiler, "-std=c++20", "-static", source, "-o", program, *flags)
        expect(program)
        if with_tool:
            check_tool(prefix)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], "tool" in sys.argv[4:])
