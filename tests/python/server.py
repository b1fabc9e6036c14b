"""A server for one test."""

import os
import socket
import subprocess
import tempfile
import time

MODULE = os.environ["BLOOMERY_MODULE"]


def start(test):
    """Starts a server, with the module if there is one, and returns the path of its socket."""
    scratch = tempfile.TemporaryDirectory()
    test.addCleanup(scratch.cleanup)
    path = f"{scratch.name}/redis.sock"
    module = ["--loadmodule", MODULE] if MODULE else []
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", scratch.name,
                               *module], stdout=subprocess.DEVNULL)
    test.addCleanup(server.wait)
    test.addCleanup(server.terminate)
    deadline = time.monotonic() + 60
    with socket.socket(socket.AF_UNIX) as client:
        while client.connect_ex(path) != 0:
            test.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
    return path
