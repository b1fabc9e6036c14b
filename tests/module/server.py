"""Real servers for the tests of the module: started in a scratch directory, stopped at the end.

`with Server(module, "layout", "redisbloom") as server: server.ask("BF.ADD", "k", "x")`. Servers
listen on a unix socket of their own (and, for replicas and clusters, on a free loopback port), so
that any number of tests run at once. The program is redis-server, or what the environment variable
BLOOMERY_REDIS_SERVER names: another version, or Valkey (servers.py runs every test on several).
"""

import collections
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAM = os.environ.get("BLOOMERY_REDIS_SERVER") or "redis-server"


class ReplyError(Exception):
    """An error reply, or one inside a reply."""


class Connection:
    def __init__(self, path=None, port=None):
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(str(path))
        else:
            self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(120)
        self.buffer = bytearray()
        self.raw = bytearray()

    def close(self):
        self.socket.close()

    def send(self, *words):
        self.socket.sendall(request(*words))

    def ask_raw(self, *words):
        """The bytes of the reply."""
        self.send(*words)
        self.read()
        return bytes(self.raw)

    def ask(self, *words):
        """The reply as Python has it; an error reply is raised."""
        self.send(*words)
        reply = self.read()
        if isinstance(reply, ReplyError):
            raise reply
        return reply

    def read(self):
        self.raw = bytearray()
        return self._read()

    def _take(self, count):
        while len(self.buffer) < count:
            received = self.socket.recv(1 << 20)
            if not received:
                raise ConnectionError("the server hung up")
            self.buffer += received
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        self.raw += taken
        return taken

    def _line(self):
        while True:
            end = self.buffer.find(b"\r\n")
            if end >= 0:
                return self._take(end + 2)[:-2]
            received = self.socket.recv(1 << 20)
            if not received:
                raise ConnectionError("the server hung up")
            self.buffer += received

    def _read(self):
        line = self._line()
        kind, rest = chr(line[0]), line[1:]
        if kind == "+":
            return rest.decode()
        if kind == "-":
            return ReplyError(rest.decode("latin-1"))
        if kind == ":":
            return int(rest)
        if kind == "#":
            return int(rest == b"t")
        if kind == "_":
            return None
        if kind == ",":
            return float(rest)
        if kind in "$=":
            size = int(rest)
            return None if size < 0 else self._take(size + 2)[:-2]
        if kind in "*~>":
            return None if rest == b"-1" else [self._read() for _ in range(int(rest))]
        if kind == "%":
            return {_hashable(self._read()): self._read() for _ in range(int(rest))}
        raise ValueError(f"not a reply: {line!r}")


def _hashable(key):
    return key.decode() if isinstance(key, bytes) else key


def request(*words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        if not isinstance(word, bytes):
            word = str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


held_ports = collections.deque(maxlen=200)  # the sockets of the last ports: a soak takes thousands


def hold_port(port):
    """Whether the port was free. Then a socket is bound to it that does not listen: a server can listen there, for it
    may use an address again (SO_REUSEADDR), and no other test finds the port free."""
    holder = socket.socket()
    try:
        holder.bind(("127.0.0.1", port))
    except OSError:
        holder.close()
        return False
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # afterwards: two holders must not share a port
    held_ports.append(holder)
    return True


def free_port():
    """A port that is free for a server of this program, as is its cluster bus port, 10,000 above it.

    Both are below those that the system gives out by itself, from 32,768 on, so that no client's end of a connection
    takes them.
    """
    while True:
        port = random.randrange(10_000, 22_000)
        if hold_port(port) and hold_port(port + 10_000):
            return port


def wait_until(what, reached, seconds=30):
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.005)


def quietly(server, *words):
    """The reply to a command, an error or not."""
    try:
        return server.ask(*words)
    except ReplyError as error:
        return error


def digests(server):
    keys = sorted(server.ask("KEYS", "*"))
    return dict(zip(keys, server.ask("DEBUG", "DIGEST-VALUE", *keys))) if keys else {}


def dumped(server, key, family="BF"):
    """(iterator, bytes) of every chunk, the header first."""
    chunks, iterator = [], 0
    while True:
        iterator, chunk = server.ask(f"{family}.SCANDUMP", key, iterator)
        if iterator == 0:
            return chunks
        chunks.append((iterator, chunk))


class Server:
    def __init__(self, module, *arguments, config=(), directory=None, port=0):
        self.module = pathlib.Path(module).resolve() if module else None  # None: a server without a module
        self.arguments = [str(argument) for argument in arguments]
        self.config = [str(word) for word in config]
        self.own = directory is None
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="bloomery-"))
        self.port = port
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        if self.own:
            shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def log(self):
        return (self.directory / "log").read_text(errors="replace")

    def start(self, must_run=True):
        path = self.directory / "socket"
        path.unlink(missing_ok=True)
        command = [PROGRAM, "--port", str(self.port), "--unixsocket", str(path),
                   "--dir", str(self.directory), "--save", "", "--logfile", "log",
                   "--enable-debug-command", "yes", "--bind", "127.0.0.1",
                   *self.config, *(["--loadmodule", str(self.module), *self.arguments] if self.module else [])]
        # A module that was built with a sanitizer needs its runtime in the server.
        preload = os.environ.get("BLOOMERY_SERVER_PRELOAD")
        environment = os.environ | ({"LD_PRELOAD": preload} if preload else {})
        before = self.launch(command, environment)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                # A child of a killed server has the port until it has closed what it inherited.
                if "Address already in use" not in self.log[before:]:
                    break
                before = self.launch(command, environment)
            try:
                self.connection = Connection(path=path)
                # LOADING is an error reply: ask again.
                if self.connection.ask_raw("PING") == b"+PONG\r\n":
                    return self
                self.connection.close()
            except OSError:
                pass
            time.sleep(0.005)
        if must_run:
            raise RuntimeError("the server did not start:\n" + self.log)
        return None

    def launch(self, command, environment):
        """Returns the length of the log so far."""
        before = len(self.log) if (self.directory / "log").exists() else 0
        with open(self.directory / "stderr", "ab") as stderr:
            self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=stderr)
        return before

    def connect(self):
        return Connection(path=self.directory / "socket")

    def ask(self, *words):
        return self.connection.ask(*words)

    def ask_raw(self, *words):
        return self.connection.ask_raw(*words)

    def ask_all(self, commands):
        """The replies to many commands, sent 200 at once; errors among them."""
        replies = []
        for start in range(0, len(commands), 200):
            part = commands[start:start + 200]
            self.connection.socket.sendall(b"".join(request(*words) for words in part))
            replies += [self.connection.read() for _ in part]
        return replies

    def info(self, section):
        lines = self.ask("INFO", section).decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def in_fork(self, attempt):
        """What attempt() returns, which waits for something that the server does in a fork.

        The child may hang before it begins when the server runs with AddressSanitizer: GCC 12's allocator is not
        locked over a fork, and a thread of the server may hold it. After a TimeoutError children are killed, and
        it is attempted again."""
        for _ in range(3):
            try:
                return attempt()
            except TimeoutError:
                self.kill_children()
        return attempt()

    def children(self):
        return pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()

    def kill_children(self):
        hanging = set(self.children())
        for child in hanging:
            os.kill(int(child), signal.SIGKILL)
        wait_until("the server notices that its child was killed", lambda: not hanging & set(self.children()))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()
        if getattr(self, "connection", None):
            self.connection.close()

    def restart(self):
        self.stop()
        return self.start()
