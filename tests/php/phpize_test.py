#!/usr/bin/env python3
"""The extension builds as PIE and phpize build it, with an installed library: phpize_test.py BUILD CMAKE SOURCE"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}:\n{done.stdout}")
    return done.stdout


def main(build, cmake, source):
    about = json.loads((pathlib.Path(source) / "composer.json").read_text())
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


if __name__ == "__main__":
    main(*sys.argv[1:])
