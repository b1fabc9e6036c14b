"""The tool `bloomery`: commands that run to their end, and writers that are killed while they run."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time

from worker import Finding


class Tool:
    def __init__(self, run, environment=()):
        self.run = run
        self.program = str(run.options.tool)
        self.environment = os.environ | dict(environment)

    def do(self, *words, lines=None, codes=(0,)):
        """Returns the output; any other exit status is a finding."""
        code, out, err = self.attempt(*words, lines=lines)
        if code not in codes:
            raise Finding(f"bloomery {' '.join(map(str, words))} returned {code}: {err.strip()[-500:]}")
        return out

    def attempt(self, *words, lines=None, seconds=120):
        self.run.count("operations")
        text = None if lines is None else "".join(f"{line}\n" for line in lines).encode()
        done = subprocess.run([self.program, *map(str, words)], input=text, capture_output=True, env=self.environment,
                              timeout=seconds, stdin=subprocess.DEVNULL if text is None else None)
        if done.returncode < 0:
            raise Finding(f"bloomery {' '.join(map(str, words))} died of signal {-done.returncode}: {done.stderr}")
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def info(self, path):
        return json.loads(self.do("info", "--json", "-q", path))

    def absent(self, path, lines):
        """The lines that the filter has certainly not seen. Not with `-q`, which prints no lines."""
        self.run.count("comparisons", len(lines))
        return self.do("check", "-v", path, lines=lines, codes=(0, 1)).split("\n")[:-1] if lines else []

    def found(self, path, lines):
        """How many of the lines the filter has probably seen."""
        return int(self.do("check", "-q", "-c", path, lines=lines, codes=(0, 1)))


class Writer:
    """A running verb that writes: it reads from a pipe, and can be killed."""

    def __init__(self, tool, name, *words):
        self.tool = tool
        self.said = tool.run.folder / f"{name}.said"
        tool.run.count("operations")
        with open(self.said, "wb") as said:
            told = ["--json"] if words[0] in ("add", "remove") else ["-q"]
            self.process = subprocess.Popen([tool.program, *map(str, words), *told], stdin=subprocess.PIPE,
                                            stdout=subprocess.DEVNULL, stderr=said, env=tool.environment)

    def feed(self, lines):
        try:
            self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; finish() checks how

    def wait_until_read(self, seconds=60):
        """Until it has taken all lines from the pipe: it has read the header of its file before."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            waiting = fcntl.ioctl(self.process.stdin, termios.FIONREAD, bytes(4))
            if int.from_bytes(waiting, sys.byteorder) == 0:
                return
            time.sleep(0.001)

    def finish(self, seconds=120):
        """The exit status, after the writer has read all of its input."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        return self.process.wait(seconds)

    def kill(self):
        self.tool.run.count("kills")
        self.process.send_signal(signal.SIGKILL)
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()

    def acknowledged(self):
        """How many of its first lines are safe, according to its output."""
        done = 0
        for line in self.said.read_text().split("\n")[:-1]:
            if line.startswith("{"):
                done = json.loads(line)["acknowledged"]
        return done

    def errors(self):
        return "\n".join(line for line in self.said.read_text().split("\n") if not line.startswith("{"))
