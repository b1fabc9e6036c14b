#!/usr/bin/env python3
"""The .phpt tests under valgrind: no leak, and nothing read that is not there: valgrind_test.py EXTENSION SOURCE"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

# A child that is killed says nothing of memory; the others need a server or a file of their own only.
TESTS = ["bad_input", "basedir", "files", "info", "keys", "kinds", "legacy"]


def main(extension, source):
    failed = 0
    for name in TESTS:
        text = (pathlib.Path(source) / f"tests/php/{name}.phpt").read_text()
        program = re.search(r"^--FILE--\n(.*?)^--EXPECTF?--$", text, re.MULTILINE | re.DOTALL)[1]
        with tempfile.TemporaryDirectory() as scratch:
            file = pathlib.Path(scratch) / "program.php"
            file.write_text(program)
            # PHP's own allocator hides leaks, and an extension that is unloaded has no names.
            environment = os.environ | {"USE_ZEND_ALLOC": "0", "ZEND_DONT_UNLOAD_MODULES": "1", "SCRATCH": scratch}
            ran = subprocess.run(["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite",
                                  "--error-exitcode=99", "php", "-n", "-d", f"extension={extension}", str(file)],
                                 env=environment, text=True, capture_output=True, timeout=1000)
        if ran.returncode == 99 or "==" in ran.stderr:
            failed += 1
            print(f"{name}:\n{ran.stderr}")
    print(f"{len(TESTS)} programs, {failed} with faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
