#!/usr/bin/env python3
"""Runs one .phpt by PHP's own run-tests.php: phpt.py EXTENSION FILE [MODULE]

A test that is skipped fails: what it takes is installed by ./dev test. It finds a scratch directory in SCRATCH. If its
name says redis, the port of a server is in REDIS_PORT and its socket in REDIS_SOCKET, with the module if it says
module. If it says tls, one for TLS is in REDIS_TLS_PORT, whose certificate an authority in CERTIFICATES has signed:
ca.pem, and client.pem with its key.
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


def php_config(what):
    return subprocess.run(["php-config", f"--{what}"], capture_output=True, text=True, check=True).stdout.strip()


def run_tests():
    own = pathlib.Path(php_config("prefix")) / "lib/php/build/run-tests.php"
    return own if own.is_file() else pathlib.Path("/usr/lib/php") / php_config("phpapi") / "build/run-tests.php"


CERTIFICATES = """
key="-newkey ec -pkeyopt ec_paramgen_curve:P-256"
openssl req -x509 $key -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem
for name in server client; do
  openssl req $key -nodes -subj /CN=$name -keyout $name.key -out $name.csr
  printf subjectAltName=DNS:localhost > $name.ext
  openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $name.ext -out $name.crt
  cat $name.crt $name.key > $name.pem
done
"""


class Redis:
    """A server of its own, which answers when the block begins."""

    def __init__(self, tls=False, module=None):
        self.tls, self.module = tls, module

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.port, self.tls_port = free_port(), free_port()
        self.socket = f"{self.folder.name}/a socket?&%"
        options = ["--port", str(self.port), "--unixsocket", self.socket, "--save", "", "--dir", self.folder.name]
        if self.module:
            options += ["--loadmodule", self.module]
        if self.tls:
            subprocess.run(["sh", "-ec", CERTIFICATES], cwd=self.folder.name, check=True, capture_output=True)
            place = self.folder.name
            options += ["--tls-port", str(self.tls_port), "--tls-cert-file", f"{place}/server.pem", "--tls-key-file",
                        f"{place}/server.key", "--tls-ca-cert-file", f"{place}/ca.pem"]
        self.process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
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


def run(extension, file, scratch, server):
    shutil.copy(file, scratch)
    data = scratch / "data"
    data.mkdir()
    environment = os.environ | {"NO_INTERACTION": "1", "TEST_PHP_EXECUTABLE": shutil.which("php"),
                                "SCRATCH": str(data), "SOURCE": str(file.parents[2])}
    if server:
        environment |= {"REDIS_PORT": str(server.port), "REDIS_SOCKET": server.socket,
                        "REDIS_TLS_PORT": str(server.tls_port), "CERTIFICATES": server.folder.name}
    # -n leaves out all extensions that the machine has.
    own = ["-n", "-d", f"extension={extension}", "-d", "error_reporting=-1"]
    if server:
        own += ["-d", "extension=igbinary", "-d", "extension=redis"]
    ran = subprocess.run(["php", run_tests(), "-q", "--offline", "--no-color", *own, file.name], cwd=scratch,
                         env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    passed = ran.returncode == 0 and "PASS " in ran.stdout and "SKIP " not in ran.stdout
    if not passed:
        print(ran.stdout)
        for kind in ("diff", "log"):
            for result in scratch.glob(f"*.{kind}"):
                print(result.read_text(errors="replace"))
    return 0 if passed else 1


def main(extension, file, module=None):
    file = pathlib.Path(file).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        if "redis" not in file.name:
            return run(extension, file, pathlib.Path(scratch), None)
        with Redis("tls" in file.name, "module" in file.name and module) as server:
            return run(extension, file, pathlib.Path(scratch), server)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
