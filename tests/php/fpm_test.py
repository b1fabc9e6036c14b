#!/usr/bin/env python3
"""The pages of examples/php-fpm under a real php-fpm, by real requests: fpm_test.py EXTENSION SOURCE"""

import concurrent.futures
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

EXTENSION, SOURCE = None, None
DEADLINE = 60  # seconds, for what takes a moment


def php(*words, **more):
    own = ["-n", "-d", f"extension={EXTENSION}", "-d", "extension=pdo", "-d", "extension=pdo_sqlite"]
    return subprocess.run(["php", *own, *words], capture_output=True, text=True, timeout=120, check=True, **more).stdout


class Fpm:
    """php-fpm with four workers, at a socket in a folder."""

    def __init__(self, folder):
        self.folder, self.socket = folder, folder / "fpm.sock"
        (folder / "fpm.conf").write_text(
            f"[global]\nerror_log = {folder}/log\n[www]\nlisten = {self.socket}\npm = static\npm.max_children = 4\n"
            f"env[DATA] = {folder}\nclear_env = yes\n" + ("user = root\ngroup = root\n" if os.geteuid() == 0 else ""))
        words = ["-n", "-d", f"extension={EXTENSION}", "-d", "extension=pdo", "-d", "extension=pdo_sqlite", "-F", "-R",
                 "-y", str(folder / "fpm.conf")]
        self.process = subprocess.Popen(["/usr/sbin/php-fpm8.2", *words], stderr=subprocess.DEVNULL)
        end = time.monotonic() + DEADLINE
        while not self.socket.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((folder / "log").read_text())
            time.sleep(0.02)

    def ask(self, page, query="", body=b""):
        """Status, headers and body of a request."""
        script = SOURCE / "examples/php-fpm" / page
        environment = {"PATH": os.environ["PATH"], "SCRIPT_FILENAME": str(script), "SCRIPT_NAME": f"/{page}",
                       "REQUEST_METHOD": "POST" if body else "GET", "QUERY_STRING": query,
                       "CONTENT_LENGTH": str(len(body)), "DATA": str(self.folder), "CONTENT_TYPE": "text/plain"}
        said = subprocess.run(["cgi-fcgi", "-bind", "-connect", str(self.socket)], input=body, env=environment,
                              capture_output=True, timeout=120, check=True).stdout.decode()
        head, _, rest = said.partition("\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.split("\r\n"))
        return int(headers.get("Status", "200")[:3]), headers, rest

    def stop(self):
        """Lets the workers end, as a restart of the service does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=DEADLINE)


class Pages(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.fpm = Fpm(self.folder)
        self.addCleanup(self.stop)

    def post(self, comment):
        return self.fpm.ask("comments.php", body=comment.encode())

    def kill(self, worker):
        """Ends when it is gone: until then it may take a request, and answer nothing."""
        os.kill(worker, signal.SIGKILL)
        end = time.monotonic() + DEADLINE
        while pathlib.Path(f"/proc/{worker}").exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def stop(self):
        self.fpm.stop()
        log = (self.folder / "log").read_text()
        self.assertNotRegex(log, "SIGSEGV|SIGBUS|SIGABRT|exited with code [^0]")

    def test_repeated_comments_are_refused(self):
        comments = [f"comment {i}: 你好" for i in range(120)]
        with concurrent.futures.ThreadPoolExecutor(8) as clients:
            first = list(clients.map(self.post, comments))
        self.assertEqual([status for status, _, _ in first], [200] * len(comments), first)
        workers = {headers["X-Worker"] for _, headers, _ in first}
        self.assertGreater(len(workers), 1, "several workers have it")
        # One is killed; what it has acknowledged is known to the others, and to the one that takes its place.
        self.kill(int(workers.pop()))
        with concurrent.futures.ThreadPoolExecutor(8) as clients:
            again = list(clients.map(self.post, comments))
        self.assertEqual([status for status, _, _ in again], [409] * len(comments), again)
        self.assertEqual(self.post("another")[0], 200)
        self.assertEqual(self.fpm.ask("comments.php")[0], 400)
        self.stop()
        known = php("-r", 'echo array_sum(Bloomery\\Filter::open($argv[1], "w")->hasMany(json_decode($argv[2])));',
                    str(self.folder / "comments.bloom"), json.dumps(comments))
        self.assertEqual(known, str(len(comments)))

    def user(self, name):
        status, headers, body = self.fpm.ask("user.php", f"name={name}")
        return status, headers.get("X-Database"), body.strip()

    def test_a_database_is_spared_absent_keys(self):
        database = sqlite3.connect(self.folder / "users.sqlite")
        database.execute("CREATE TABLE users (name TEXT PRIMARY KEY, mail TEXT)")
        database.executemany("INSERT INTO users VALUES (?, ?)",
                             [(f"user{i}", f"user{i}@example.org") for i in range(1000)])
        database.commit()
        self.assertEqual(php(str(SOURCE / "examples/php-fpm/users.php"), str(self.folder)), "1000 users\n")
        for i in (0, 7, 999):
            self.assertEqual(self.user(f"user{i}"), (200, "asked", f"user{i}@example.org"))
        # Of a thousand absent names one is looked up by mistake; that five of these are has a chance below 1e-11.
        absent = [self.user(f"nobody{i}") for i in range(20)]
        self.assertEqual({status for status, _, _ in absent}, {404})
        self.assertLess(sum(asked == "asked" for _, asked, _ in absent), 5)
        self.assertEqual(self.fpm.ask("user.php", "name=late", b"late@example.org")[2], "Welcome.\n")
        for _ in range(12):  # whichever worker answers
            self.assertEqual(self.user("late"), (200, "asked", "late@example.org"))


if __name__ == "__main__":
    EXTENSION, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    unittest.main()
