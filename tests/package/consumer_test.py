#!/usr/bin/env python3
"""An installed Bloomery is found and used by find_package and by pkg-config.

usage: consumer_test.py install|deb BUILD_DIR CMAKE CXX [tool]

`install` installs the build into an empty place and moves it, for nothing may depend on where
it was; `deb` makes the .deb packages and unpacks them. `tool`: the build has the tool.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

CONSUMER = pathlib.Path(__file__).parent / "consumer"
OF_THE_TOOL = ["man/man1/bloomery.1", "bash-completion/completions/bloomery",
               "zsh/vendor-completions/_bloomery", "fish/vendor_completions.d/bloomery.fish"]


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


def by_find_package(prefix, scratch, cmake, compiler):
    user = scratch / "user"
    run(cmake, "-S", CONSUMER, "-B", user, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}")
    run(cmake, "--build", user)
    expect(user / "consumer_bloomery")
    expect(user / "consumer_shared")


def by_pkg_config(prefix, scratch, compiler):
    directory = next(prefix.glob("lib*/**/pkgconfig"))
    found = {"PKG_CONFIG_PATH": str(directory)}
    source, program = CONSUMER / "consumer.cpp", scratch / "program"
    flags = run("pkg-config", "--cflags", "--libs", "bloomery", **found).split()
    run(compiler, "-std=c++20", source, "-o", program, *flags)
    expect(program, LD_LIBRARY_PATH=str(directory.parent))
    flags = run("pkg-config", "--static", "--cflags", "--libs", "bloomery", **found).split()
    run(compiler, "-std=c++20", "-static", source, "-o", program, *flags)
    expect(program)


def check_tool(prefix):
    run(prefix / "bin" / "bloomery", "--version")
    for part in OF_THE_TOOL:
        if (prefix / "share" / part).stat().st_size == 0:
            sys.exit(f"{part} is empty")


def install(build, cmake, scratch):
    first, moved = scratch / "first", scratch / "moved"
    run(cmake, "--install", build, "--prefix", first)
    first.rename(moved)
    return moved


def unpack_debs(build, cmake, scratch):
    packages = scratch / "packages"
    cpack = pathlib.Path(cmake).with_name("cpack")
    run(cpack, "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", packages)
    root = scratch / "root"
    for package in packages.glob("*.deb"):
        run("dpkg-deb", "-x", package, root)
        if "lib" not in run("dpkg-deb", "-f", package, "Depends"):
            sys.exit(f"{package.name} depends on nothing")
    return root / "usr"


def main(how, build, cmake, compiler, *features):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        deliver = {"install": install, "deb": unpack_debs}[how]
        prefix = deliver(pathlib.Path(build), cmake, scratch)
        by_find_package(prefix, scratch, cmake, compiler)
        by_pkg_config(prefix, scratch, compiler)
        if "tool" in features:
            check_tool(prefix)


if __name__ == "__main__":
    main(*sys.argv[1:])
