#!/usr/bin/env python3
"""An installed Bloomery is found and used by find_package and by pkg-config, each of its headers compiles
alone, and its programs export nothing that others do not need.

usage: consumer_test.py install|deb BUILD_DIR CMAKE CXX [tool] [module] [redis]

`install` installs the build into an empty place and moves it, for nothing may depend on where
it was; `deb` makes the .deb packages and unpacks them. `tool`, `module`, `redis`: the build has
them.
"""

import gzip
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import hardening_test

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "module"))
from server import Server  # noqa: E402

CONSUMER = pathlib.Path(__file__).parent / "consumer"
EXAMPLE = pathlib.Path(__file__).parents[2] / "examples/c/seen.c"
COMPILERS = ["g++", "clang++"]
# By day clang++ sees the headers together, in the build for AddressSanitizer.
HEADERS_BY = COMPILERS if os.environ.get("BLOOMERY_NIGHTLY") else COMPILERS[:1]


def run(*command, expected=0, **environment):
    done = subprocess.run([str(part) for part in command], env=os.environ | environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("$", *command, "\n" + done.stdout, end="")
    if done.returncode != expected:
        sys.exit(f"exit status {done.returncode}")
    return done.stdout


def check(condition, complaint):
    if not condition:
        sys.exit(complaint)


def check_consumer(program):
    check(run(program).endswith("1000 keys in, 1000 keys found\n"), f"{program} did not say what it should")
    check("libhiredis" not in run("objdump", "-p", program), f"{program} needs hiredis at run time, and uses none of it")


def check_redis_consumer(program):
    run(program)
    check("libhiredis" in run("objdump", "-p", program), "what a program needs at run time cannot be seen")


def launcher_of(build):
    """The cache of compiled objects that the build uses."""
    cached = re.search(r"^CMAKE_CXX_COMPILER_LAUNCHER:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return cached[1] if cached else ""


def by_find_package(prefix, scratch, cmake, compilers, redis, headers, launcher):
    for compiler in compilers:
        user = scratch / f"user_{compiler}"
        run(cmake, "-S", CONSUMER, "-B", user, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}", f"-DREDIS={redis}",
            f"-DHEADERS={headers if compiler in HEADERS_BY else ''}")
        run(cmake, "--build", user)
        check_consumer(user / "consumer")
        if redis:
            check_redis_consumer(user / "consumer_redis")


def by_pkg_config(prefix, scratch, compilers, redis, launcher):
    directory = next(prefix.glob("lib*/**/pkgconfig"))
    cflags, libraries = (run("pkg-config", part, "bloomery", PKG_CONFIG_PATH=str(directory)).split()
                         for part in ("--cflags", "--libs"))
    program, consumer, redis_consumer = scratch / "program", scratch / "consumer.o", scratch / "consumer_redis.o"
    for compiler in reversed(compilers):
        for consumer_object in [consumer, redis_consumer] if redis else [consumer]:
            # From there: a cache knows the prefix by its relative path.
            run("env", "-C", scratch, *filter(None, launcher.split(";")), compiler, "-std=c++20", *cflags, "-c",
                CONSUMER / f"{consumer_object.stem}.cpp", "-o", consumer_object)
        run(compiler, consumer, "-o", program, *libraries)
        check_consumer(program)
        if redis:
            run(compiler, redis_consumer, "-o", program, *libraries)
            check_redis_consumer(program)
    run("g++", "-static", consumer, "-o", program, *libraries)
    check_consumer(program)


def in_c(prefix, scratch):
    """A program in C is linked with the shared library, which is what it needs at run time."""
    directory = next(prefix.glob("lib*/**/pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", "bloomery-c", PKG_CONFIG_PATH=str(directory)).split()
    program = scratch / "c_program"
    run("gcc", "-std=c99", EXAMPLE, "-o", program, *flags)
    check("libbloomery.so.0" in run("objdump", "-p", program), "the program does not need libbloomery.so.0")
    said = subprocess.run([program], cwd=scratch, check=True, capture_output=True, text=True,
                          env=os.environ | {"LD_LIBRARY_PATH": str(directory.parent)}).stdout
    check(said.startswith("fetch https://example.org/\n"), f"the program printed {said}")


def in_other_languages(prefix):
    """The packages of Python and PHP, where they have been built, by what is delivered and nothing else."""
    library = next(prefix.rglob("libbloomery.so.0")).parent
    for module in prefix.rglob("_bloomery.abi3.so"):
        check("RUNPATH" not in run("objdump", "-p", module), f"{module} knows where it was built")
        said = run("/usr/bin/python3", "-B", "-c", "import bloomery, bloomery.scrapy; print(bloomery.__file__, "
                   "bloomery.BloomFilter(9, 0.1).add('a'))", PYTHONPATH=str(module.parents[1]), LD_LIBRARY_PATH=str(library))
        check(said == f"{module.with_name('__init__.py')} True\n", f"Python says {said}")
        check(all((module.parent / file).exists() for file in ("py.typed", "_bloomery.pyi")), "there are no types")
    for module in prefix.rglob("php/*/bloomery.so"):
        check("RUNPATH" not in run("objdump", "-p", module), f"{module} knows where it was built")
        said = run("php", "-n", "-d", f"extension={module}", "-r",
                   "var_dump((new Bloomery\\Filter(9, 0.1))->add('a'));", LD_LIBRARY_PATH=str(library))
        check(said == "bool(true)\n", f"PHP says {said}")
        check((prefix / "share/php/bloomery/bloomery.stub.php").is_file(), "editors have no stub")


def without_dependencies(prefix, scratch, cmake, redis):
    """find_package names the Debian package that is missing."""
    libraries = run("pkg-config", "--variable=libdir", "libsodium").strip()
    hidden = f"{libraries};{libraries.removeprefix('/usr')};/usr/lib;/lib"
    common = ["-S", CONSUMER, "-B", scratch / "refused", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    said = run(cmake, *common, f"-DCMAKE_IGNORE_PATH={hidden}", expected=1)
    check("libsodium-dev" in said, "a missing libsodium is not named")
    said = run(cmake, *common, f"-Dbloomery_SODIUM_LIBRARY={libraries}/libsodium.so",
               f"-DCMAKE_IGNORE_PATH={hidden}", "-DREDIS=ON", expected=1)
    check("libhiredis-dev" in said, "a missing hiredis is not named")


def check_version(prefix):
    """The header and pkg-config tell one version."""
    header = (prefix / "include/bloomery/version.hpp").read_text()
    version = re.findall(r"#define BLOOMERY_VERSION_[A-Z]+ (\d+)", header)
    directory = next(prefix.glob("lib*/**/pkgconfig"))
    said = run("pkg-config", "--modversion", "bloomery", PKG_CONFIG_PATH=str(directory)).strip()
    check(said == ".".join(version), f"pkg-config says {said}, the header {version}")


def check_library(prefix):
    """An archive and the library of the C interface, and headers that are public or below detail/."""
    libraries = sorted(file.name for file in prefix.rglob("libbloomery*.*"))
    check(re.fullmatch(r"libbloomery\.a libbloomery\.so libbloomery\.so\.0 libbloomery\.so(\.\d+){3}",
                       " ".join(libraries)), f"the libraries are {libraries}")
    folders = {header.parent.relative_to(prefix / "include").as_posix() for header in prefix.rglob("*.hpp")}
    check(folders == {"bloomery", "bloomery/detail"}, f"headers are in {folders}")


def check_debs(packages, root, multiarch, features):
    """Each package says what Debian asks of it, and depends on what using it takes."""
    found = {}
    for package in packages.glob("*.deb"):
        fields = run("dpkg-deb", "-f", package, "Package", "Depends", "Homepage", "Maintainer", "Section",
                     "Description")
        fields = dict(line.split(": ", 1) for line in fields.splitlines() if not line.startswith(" "))
        found[fields["Package"]] = fields
        check(len(fields) == 6 and all(fields.values()), f"{package.name} has {fields}")
        documents = root / "share/doc" / fields["Package"]
        check("Apache-2.0" in (documents / "copyright").read_text(), f"{documents} has no copyright")
        check(b"# Changelog" in gzip.decompress((documents / "changelog.gz").read_bytes()), "no changelog")
        changes = gzip.decompress((documents / "changelog.Debian.gz").read_bytes()).decode()
        check(run("dpkg-deb", "-f", package, "Version").strip() in changes.splitlines()[0], f"Debian's says {changes}")
        check(len(fields["Description"]) < 80, f"the synopsis of {package.name} is long")
    wanted = {"bloomery": "libsodium23", "libbloomery-dev": "libsodium-dev, libbloomery0 (= ",
              "libbloomery0": "libsodium23", "python3-bloomery": "libbloomery0 (= ",
              "php-bloomery": "phpapi-", "redis-bloomery": "libc6"}
    if "redis" in features:
        wanted["libbloomery-dev"] = "libsodium-dev, libhiredis-dev, libssl-dev, libbloomery0 (= "
    if "tool" not in features:
        del wanted["bloomery"]
    if "module" not in features:
        del wanted["redis-bloomery"]
    check(found.keys() == wanted.keys(), f"the packages are {list(found)}")
    for name, dependency in wanted.items():
        check(dependency in found[name]["Depends"], f"{name} does not depend on {dependency}")
    for file in ("libbloomery.a", "cmake/bloomery/bloomery-config.cmake", "pkgconfig/bloomery.pc"):
        check((root / "lib" / multiarch / file).is_file(), f"no {file} in lib/{multiarch}")


def check_tool(prefix, build, cmake, scratch):
    run(prefix / "bin" / "bloomery", "--version")
    manual = gzip.decompress((prefix / "share/man/man1/bloomery.1.gz").read_bytes()).decode()
    check(all(f".SH {part}" in manual for part in ("ENVIRONMENT", "EXIT STATUS", "SEE ALSO")), "the man page lacks parts")
    for part in ("man/man1/bloomery.1.gz", "bash-completion/completions/bloomery", "fish/vendor_completions.d/bloomery.fish"):
        check((prefix / "share" / part).stat().st_size != 0, f"{part} is empty")
    # A program has no names for others; those with a version are objects of shared libraries that the linker
    # moved into it.
    names = run("nm", "-D", "--defined-only", prefix / "bin" / "bloomery")
    own = [line for line in names.splitlines() if "@" not in line]
    check(not own, f"the tool exports {own}")
    # Where a zsh that nobody has configured looks.
    looked_at = run("zsh", "-fc", "print -l $fpath").split()
    for place in ("/usr", "/usr/local"):
        run(cmake, "--install", build, "--component", "tool", "--prefix", place, DESTDIR=str(scratch / "zsh"))
    found = ["/" + str(file.parent.relative_to(scratch / "zsh")) for file in (scratch / "zsh").rglob("_bloomery")]
    check(len(found) == 2 and set(found) <= set(looked_at), f"zsh looks at {looked_at}, and not into {found}")


def check_metrics(prefix, scratch):
    """What the service runs writes the metrics at once, also where a filter cannot be read."""
    units = prefix / "lib/systemd/system"
    check("OnCalendar=minutely" in (units / "bloomery-metrics.timer").read_text(), "the timer does not run each minute")
    service = (units / "bloomery-metrics.service").read_text()
    if shutil.which("systemd-analyze"):
        run("systemd-analyze", "verify", "--man=no", units / "bloomery-metrics.timer")
    # As systemd reads it: shell words, and $$ for $.
    words = shlex.split(re.search("^ExecStart=(.*)$", service, re.MULTILINE)[1].replace("$$", "$"))
    tool = prefix / "bin" / "bloomery"
    run(tool, "create", "-q", scratch / "watched.bloom", "-n", "1K", "-p", "1%")
    run(*words, PATH=f"{tool.parent}:/usr/bin:/bin", DIRECTORY=str(scratch),
        FILTERS=f"{scratch}/watched.bloom {scratch}/none.bloom")
    said = (scratch / "bloomery.prom").read_text()
    for name, readable in (("watched", 1), ("none", 0)):
        line = f'bloomery_filter_readable{{filter="{scratch}/{name}.bloom"}} {readable}'
        check(line in said.splitlines(), f"the service does not write {line}")
    check(not (scratch / "bloomery.new").exists(), "the service leaves a file behind")


def check_redis_conf(prefix, moved):
    """The lines name the module where it lies, unless it was moved there."""
    lines = (prefix / "share/redis-bloomery/bloomery.conf").read_text()
    # As Redis reads it: words, some of them between quotes.
    path, *rest = shlex.split(re.search("^loadmodule (.*)$", lines, re.MULTILINE)[1])
    check(path.endswith("/lib/redis/modules/bloomery.so") and not rest and "@" not in lines,
          f"bloomery.conf loads {path}")
    check(path == "/usr/lib/redis/modules/bloomery.so" or moved, f"the package loads {path}")


def check_module(prefix):
    module = prefix / "lib/redis/modules/bloomery.so"
    with Server(module) as server:
        check(server.ask("BF.ADD", "seen", "item") == 1, "a server does not load bloomery.so as it is installed")
    names = run("nm", "-D", "--defined-only", module)
    check([line.split()[2] for line in names.splitlines()] == ["RedisModule_OnLoad"],
          "bloomery.so exports more than the name that a server looks for")


def check_hardened(prefix, features):
    """Packing and stripping leave the hardening as it was."""
    tool = prefix / "bin/bloomery" if "tool" in features else None
    shared = [next(prefix.rglob("libbloomery.so")), *prefix.rglob("_bloomery.abi3.so"),
              *prefix.rglob("php/*/bloomery.so")]
    if "module" in features:
        shared.append(prefix / "lib/redis/modules/bloomery.so")
    faults = hardening_test.all_faults("readelf", next(prefix.rglob("libbloomery.a")), tool, shared)
    check(not faults, "\n".join(faults))


def install(build, cmake, scratch):
    first, moved = scratch / "a first", scratch / "moved"
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
        build, scratch = pathlib.Path(build), pathlib.Path(scratch)
        redis = "ON" if "redis" in features else ""
        # The prefix is another one in each run.
        os.environ |= {"CCACHE_BASEDIR": str(scratch), "CCACHE_NOHASHDIR": "1"}
        launcher = launcher_of(build)
        deliver = {"install": install, "deb": unpack_debs}[how]
        prefix = deliver(build, cmake, scratch)
        if "tool" in features:
            check_tool(prefix, build, cmake, scratch)
            check_metrics(prefix, scratch)
        if "module" in features:
            check_module(prefix)
            check_redis_conf(prefix, how == "install")
        check_library(prefix)
        check_hardened(prefix, features)
        if how == "deb":
            multiarch = run(compiler, "-print-multiarch").strip()
            check_debs(scratch / "packages", prefix, multiarch, features)
        # What the packages hold is the same: one compiler is enough for them.
        compilers, headers = (COMPILERS, "ON") if how == "install" else (COMPILERS[:1], "")
        check_version(prefix)
        without_dependencies(prefix, scratch, cmake, redis)
        by_find_package(prefix, scratch, cmake, compilers, redis, headers, launcher)
        by_pkg_config(prefix, scratch, compilers, redis, launcher)
        in_c(prefix, scratch)
        in_other_languages(prefix)


if __name__ == "__main__":
    main(*sys.argv[1:])
