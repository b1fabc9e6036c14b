#!/usr/bin/env python3
"""Runs one .phpt by PHP's own run-tests.php: phpt.py EXTENSION FILE

A test that is skipped fails: what it takes is installed by ./dev test. It finds a scratch directory in SCRATCH, and,
if its name says redis, the port of a server in REDIS_PORT.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "module"))
from server import free_port


def run_tests():
    api = subprocess.run(["php-config", "--phpapi"], capture_output=True, text=True, check=True).stdout.strip()
    return pathlib.Path("/usr/lib/php") / api / "build/run-tests.php"


class Redis:
    """A server of its own, which answers when the block begins."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--save", "", "--dir",
                                         self.folder.name], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def __exit__(self, *exception):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def run(extension, file, scratch, port):
    shutil.copy(file, scratch)
    data = scratch / "data"
    data.mkdir()
    environment = os.environ | {"NO_INTERACTION": "1", "TEST_PHP_EXECUTABLE": shutil.which("php"),
                                "SCRATCH": str(data), "REDIS_PORT": str(port), "SOURCE": str(file.parents[2])}
    # -n leaves out all extensions that the machine has.
    own = ["-n", "-d", f"extension={extension}", "-d", "error_reporting=-1"]
    if port:
        own += ["-d", "extension=igbinary", "-d", "extension=redis"]
    ran = subprocess.run(["php", run_tests(), "-q", "--offline", "--no-color", *own, file.name], cwd=scratch, env=environment,
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    passed = ran.returncode == 0 and "PASS " in ran.stdout and "SKIP " not in ran.stdout
    if not passed:
        print(ran.stdout)
        for kind in ("diff", "log"):
            for result in scratch.glob(f"*.{kind}"):
                print(result.read_text(errors="replace"))
    return 0 if passed else 1


def main(extension, file):
    file = pathlib.Path(file).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        if "redis" not in file.name:
            return run(extension, file, pathlib.Path(scratch), 0)
        with Redis() as server:
            return run(extension, file, pathlib.Path(scratch), server.port)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
