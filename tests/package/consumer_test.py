#!/usr/bin/env python3
"""An installed Bloomery is found and used by find_package and by pkg-config.

usage: consumer_test.py install|deb BUILD_DIR CMAKE CXX [tool] [module] [redis]

`install` installs the build into an empty place and moves it, for nothing may depend on where
it was; `deb` makes the .deb packages and unpacks them. `tool`, `module`, `redis`: the build has
them.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

CONSUMER = pathlib.Path(__file__).parent / "consumer"
OF_THE_TOOL = ["man/man1/bloomery.1", "bash-completion/completions/bloomery",
               "zsh/vendor-completions/_bloomery", "fish/vendor_completions.d/bloomery.fish"]


def run(*command, expected=0, **environment):
    done = subprocess.run([str(part) for part in command], env=os.environ | environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("$", *command, "\n" + done.stdout, end="")
    if done.returncode != expected:
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


def without_dependencies(prefix, scratch, cmake, compiler):
    """Where neither libsodium nor pkg-config can be found, the shared library is enough."""
    libraries = run("pkg-config", "--variable=libdir", "libsodium").strip()
    common = ["-S", CONSUMER, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}",
              f"-DCMAKE_IGNORE_PATH={libraries};{libraries.removeprefix('/usr')};/usr/lib;/lib",
              "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON"]
    user = scratch / "shared_user"
    run(cmake, "-B", user, *common, "-DFORMS=shared")
    run(cmake, "--build", user)
    expect(user / "consumer_shared")
    run(cmake, "-B", scratch / "asks_for_shared", *common, "-DFORMS=shared", "-DCOMPONENTS=shared")
    said = run(cmake, "-B", scratch / "asks_for_static", *common, "-DCOMPONENTS=static", expected=1)
    if "libsodium-dev" not in said:
        sys.exit("the refusal does not name what is missing")


def check_versions(prefix):
    """The header, pkg-config and the shared library's name tell one version."""
    header = (prefix / "include/bloomery/version.hpp").read_text()
    version = re.findall(r"#define BLOOMERY_VERSION_[A-Z]+ (\d+)", header)
    directory = next(prefix.glob("lib*/**/pkgconfig"))
    said = run("pkg-config", "--modversion", "bloomery", PKG_CONFIG_PATH=str(directory)).strip()
    if said != ".".join(version):
        sys.exit(f"pkg-config says {said}, the header {version}")
    abi = "0." + version[1] if version[0] == "0" else version[0]
    if f"SONAME               libbloomery.so.{abi}\n" not in run(
            "objdump", "-p", directory.parent / "libbloomery.so"):
        sys.exit(f"the shared library is not libbloomery.so.{abi}")
    return version, abi


def check_debs(packages, version, abi):
    """Each package has its name, and depends on what using it takes."""
    depends = {}
    for package in packages.glob("*.deb"):
        depends[run("dpkg-deb", "-f", package, "Package").strip()] = run(
            "dpkg-deb", "-f", package, "Depends").strip()
    if "libsodium23" not in depends[f"libbloomery{abi}"]:
        sys.exit("the shared library does not depend on libsodium")
    for part in (f"libbloomery{abi} (= {'.'.join(version)})", "libsodium-dev"):
        if part not in depends["libbloomery-dev"]:
            sys.exit(f"libbloomery-dev does not depend on {part}")


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


def check_redis(prefix, scratch, cmake, compiler):
    """The Redis client's libraries, static and shared, by find_package and by pkg-config."""
    user = scratch / "redis_user"
    run(cmake, "-S", CONSUMER, "-B", user, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", "-DREDIS=ON")
    run(cmake, "--build", user)
    run(user / "consumer_redis")
    run(user / "consumer_redis_shared")
    directory = next(prefix.glob("lib*/**/pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", "bloomery-redis",
                PKG_CONFIG_PATH=str(directory)).split()
    program = scratch / "redis_program"
    run(compiler, "-std=c++20", CONSUMER / "consumer_redis.cpp", "-o", program, *flags)
    run(program, LD_LIBRARY_PATH=str(directory.parent))


def check_tool(prefix):
    run(prefix / "bin" / "bloomery", "--version")
    for part in OF_THE_TOOL:
        if (prefix / "share" / part).stat().st_size == 0:
            sys.exit(f"{part} is empty")


def check_module(prefix):
    names = run("nm", "-D", "--defined-only", prefix / "lib/redis/modules/bloomery.so")
    if [line.split()[2] for line in names.splitlines()] != ["RedisModule_OnLoad"]:
        sys.exit("bloomery.so shows more names than a server looks for")


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
    return root / "usr"


def main(how, build, cmake, compiler, *features):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        deliver = {"install": install, "deb": unpack_debs}[how]
        prefix = deliver(pathlib.Path(build), cmake, scratch)
        version, abi = check_versions(prefix)
        if how == "deb":
            check_debs(scratch / "packages", version, abi)
        without_dependencies(prefix, scratch, cmake, compiler)
        by_find_package(prefix, scratch, cmake, compiler)
        by_pkg_config(prefix, scratch, compiler)
        if "redis" in features:
            check_redis(prefix, scratch, cmake, compiler)
        if "tool" in features:
            check_tool(prefix)
        if "module" in features:
            check_module(prefix)


if __name__ == "__main__":
    main(*sys.argv[1:])
