#!/usr/bin/env python3
"""The extension builds as PIE and phpize build it, with an installed library: phpize_test.py BUILD CMAKE SOURCE

With BLOOMERY_PHP=PREFIX it builds for the PHP below that folder, and all .phpt run in it that need no server. If that is
a ZTS build with libphp.so (--enable-zts --enable-embed=shared), threads serve requests as well.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import phpt

TESTS = pathlib.Path(__file__).resolve().parent


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}:\n{done.stdout}")
    return done.stdout


def in_threads(module, scratch, environment):
    """What a server does that runs PHP in threads."""
    prefix, program, ini = phpt.php_config("prefix"), scratch / "threads", scratch / "php.ini"
    ini.write_text(f"extension={module}\n")
    run("cc", "-D_GNU_SOURCE", TESTS / "threads/threads.c", *phpt.php_config("includes").split(), f"-L{prefix}/lib", "-lphp",
        "-pthread", f"-Wl,-rpath,{prefix}/lib", "-o", program)
    environment = environment | {"PHPRC": str(ini), "SCRATCH": str(scratch)}
    run(program, TESTS / "threads/request.php", env=environment)
    said = run("php", "-c", ini, TESTS / "threads/after.php", env=environment)
    if said != "480 requests":
        sys.exit(f"after threads: {said}")


def in_another_php(module, scratch, environment, threads):
    os.environ.update(environment)
    for file in sorted(TESTS.glob("*.phpt")):
        folder = scratch / file.stem
        folder.mkdir()
        if "redis" not in file.name and phpt.run(module, file, folder, None) != 0:
            sys.exit(f"{file.name} fails in {shutil.which('php')}")
    if threads and (pathlib.Path(phpt.php_config("prefix")) / "lib/libphp.so").exists():
        in_threads(module, scratch, environment)


def main(build, cmake, source):
    other = os.environ.get("BLOOMERY_PHP")
    if other:
        os.environ["PATH"] = f"{other}/bin:{os.environ['PATH']}"
    about = json.loads((pathlib.Path(source) / "composer.json").read_text())
    threads = "ZTS" in run("php", "-n", "-v")
    if not about["php-ext"]["support-zts" if threads else "support-nts"]:
        sys.exit("composer.json says that this PHP is not supported")
    folder = pathlib.Path(source) / about["php-ext"]["build-path"]
    with tempfile.TemporaryDirectory() as scratch:
        prefix, there = pathlib.Path(scratch) / "prefix", pathlib.Path(scratch) / "php"
        for component in ("development", "library"):
            run(cmake, "--install", build, "--prefix", prefix, "--component", component)
        shutil.copytree(folder, there)
        library = next(prefix.rglob("libbloomery.so.0")).parent
        environment = os.environ | {"PKG_CONFIG_PATH": str(library / "pkgconfig"), "LD_LIBRARY_PATH": str(library)}
        for words in (["phpize"], ["./configure"], ["make", "-j2"]):
            run(*words, cwd=there, env=environment)
        module = there / "modules" / f"{about['php-ext']['extension-name']}.so"
        said = run("php", "-n", "-d", f"extension={module}", "-r",
                   'echo phpversion("bloomery"), json_encode((new Bloomery\\Filter(10, 0.1))->add("a"));', env=environment)
        version = run("pkg-config", "--modversion", "bloomery-c", env=environment).strip()
        if said != f"{version}true":
            sys.exit(f"it says {said}")
        if other:
            in_another_php(module, pathlib.Path(scratch), environment, threads)


if __name__ == "__main__":
    main(*sys.argv[1:])
