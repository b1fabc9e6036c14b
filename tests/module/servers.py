#!/usr/bin/env python3
"""Every test of the module on other servers: versions of Redis and Valkey that are built elsewhere.

usage: servers.py MODULE SERVER [SERVER ...]

SERVER is the program, for example valkey-8.0/src/valkey-server. On a server that the module does not
support, the only test is that the module refuses to load, the log says why, and the server ends cleanly.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
DOCUMENTS = tuple(HERE.parents[1] / "docs" / name for name in ("redis.md", "cuckoo.md", "valkey-bloom.md"))
# The name of a test and what else it is told.
TESTS = {"replies": (), "kinds": (), "served": (), "stored": (), "hostile": (), "replicated": (),
         "reloaded": (), "cuckoo": (), "valkey_bloom": (), "cluster": (), "defragmented": (), "killed": (),
         "huge_pages": (), "guessed": (), "redisbloom": (), "clients": (), "documented": DOCUMENTS}
OLDEST = (7, 0)
SKIPPED = 77


def version_of(server):
    said = subprocess.run([server, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(number) for number in re.search(r"v=(\d+)\.(\d+)\.(\d+)", said).groups())


def refuses(module, server):
    """None, or a complaint."""
    with tempfile.TemporaryDirectory() as directory:
        ended = subprocess.run([server, "--port", "0", "--unixsocket", f"{directory}/socket",
                                "--dir", directory, "--save", "", "--loadmodule", module],
                               capture_output=True, text=True, timeout=30)
    version = ".".join(map(str, version_of(server)))
    expected = f"bloomery needs Redis 7.0 or Valkey 7.2 or later; this server is {version}"
    if expected not in ended.stdout:
        return f"the log does not say '{expected}':\n{ended.stdout}"
    return None if ended.returncode == 1 else f"the server ended with {ended.returncode}"


def fails(test, module, server):
    """None, or the last lines of what a test said that neither passed nor was skipped."""
    said = subprocess.run(["/usr/bin/python3", HERE / f"{test}_test.py", module, *TESTS[test]],
                          env=os.environ | {"BLOOMERY_REDIS_SERVER": server}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return None if said.returncode in (0, SKIPPED) else "\n".join(said.stdout.splitlines()[-5:])


def main(module, *servers):
    module = str(pathlib.Path(module).resolve())
    failed = False
    for server in servers:
        server = str(pathlib.Path(server).absolute())  # its name decides what it is
        old = version_of(server) < OLDEST
        results = {"refusal": refuses(module, server)} if old else \
            {test: fails(test, module, server) for test in TESTS}
        for test, complaint in results.items():
            failed |= complaint is not None
            print(f"{server}: {test}: {complaint or 'passed'}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
