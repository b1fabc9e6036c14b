#!/usr/bin/env python3
"""The .phpt tests under valgrind: no leak, and nothing read that is not there: valgrind_test.py EXTENSION SOURCE"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from phpt import Redis

# A child that is killed says nothing of memory, so attach.phpt is not among them. The first
# three run by day, and with fewer keys, for valgrind is slow.
TESTS, FEW_KEYS = ["bad_input", "kinds", "legacy_redis"], {"FEW_KEYS": "300"}
if os.environ.get("BLOOMERY_NIGHTLY"):
    TESTS += ["basedir", "files", "info", "keys", "legacy"]
    FEW_KEYS = {}


def main(extension, source):
    failed = 0
    with Redis() as server:
        for name in TESTS:
            failed += not is_clean(name, extension, source, server)
    print(f"{len(TESTS)} programs, {failed} with faults")
    return 1 if failed else 0


def is_clean(name, extension, source, server):
    text = (pathlib.Path(source) / f"tests/php/{name}.phpt").read_text()
    program = re.search(r"^--FILE--\n(.*?)^--EXPECTF?--$", text, re.MULTILINE | re.DOTALL)[1]
    own = ["-d", "extension=igbinary", "-d", "extension=redis"] if "redis" in name else []
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "program.php"
        file.write_text(program)
        # PHP's own allocator hides leaks, and an extension that is unloaded has no names.
        environment = os.environ | {"USE_ZEND_ALLOC": "0", "ZEND_DONT_UNLOAD_MODULES": "1", "SCRATCH": scratch,
                                    "SOURCE": str(source), "REDIS_PORT": str(server.port)} | FEW_KEYS
        ran = subprocess.run(["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite",
                              "--error-exitcode=99", "php", "-n", *own, "-d", f"extension={extension}", str(file)],
                             env=environment, text=True, capture_output=True, timeout=1000)
    if ran.returncode == 0 and "==" not in ran.stderr:
        return True
    print(f"{name}:\n{ran.stdout[-2000:]}{ran.stderr}")
    return False


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
