"""A real cluster on this machine, and scale_probe as its client."""

import contextlib
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "module"))
from server import Server, free_port, wait_until  # noqa: E402

import slots  # noqa: E402


def ranges(owners, server):
    """The ranges of slots of a server: first, last, first, last ..."""
    bounds = []
    for slot, owner in enumerate(owners):
        if owner != server:
            continue
        if bounds and bounds[-1] == slot - 1:
            bounds[-1] = slot
        else:
            bounds += [slot, slot]
    return bounds


class Cluster:
    def __init__(self, servers, probe):
        self.servers, self.probe = servers, pathlib.Path(probe).resolve()

    def give(self, owners):
        """Gives every server its slots; they contain no keys."""
        for i, server in enumerate(self.servers):
            server.ask("FLUSHALL")
            server.ask("CLUSTER", "RESET", "HARD")
            server.ask("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        first = self.servers[0]
        for i, server in enumerate(self.servers):
            if mine := ranges(owners, i):
                server.ask("CLUSTER", "ADDSLOTSRANGE", *mine)
            first.ask("CLUSTER", "MEET", "127.0.0.1", server.port)
        wait_until("a cluster of all servers", lambda: all(self.knows_all(server) for server in self.servers))

    def knows_all(self, server):
        info = server.ask("CLUSTER", "INFO").decode()
        return "cluster_state:ok" in info and f"cluster_known_nodes:{len(self.servers)}\r" in info

    def used(self):
        """For each server: seconds of its main thread, bytes received and sent, calls of each command."""
        result = []
        for server in self.servers:
            info = dict(line.split(":", 1) for line in server.ask("INFO", "everything").decode().splitlines()
                        if ":" in line)
            nanoseconds = pathlib.Path(f"/proc/{server.process.pid}/schedstat").read_text().split()[0]
            used = {"seconds": int(nanoseconds) / 1e9, "sent": int(info["total_net_input_bytes"]),
                    "received": int(info["total_net_output_bytes"])}
            for name, value in info.items():
                if name.startswith("cmdstat_"):
                    used[name[8:]] = int(value.split(",")[0].split("=")[1])
            result.append(used)
        return result

    def command(self, place, operation, **options):
        words = [str(self.probe), "--port", str(self.servers[0].port), "--place", place, "--operation", operation]
        for name, value in options.items():
            words += ["--" + name, str(value)]
        return words

    def create(self, place, **options):
        subprocess.run(self.command(place, "create", **options), check=True)

    def run(self, place, operation, **options):
        """The output of scale_probe, with the use of each server meanwhile."""
        with subprocess.Popen(self.command(place, operation, **options), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as probe:
            if probe.stdout.readline() != "ready\n":
                raise RuntimeError("scale_probe did not begin")
            before = self.used()
            said, _ = probe.communicate("\n")
        after = self.used()
        measured = json.loads(said)
        measured["servers"] = [{name: now[name] - then.get(name, 0) for name in now}
                               for then, now in zip(before, after)]
        return measured


@contextlib.contextmanager
def started(servers, module, probe, owners=None):
    """A cluster of so many servers with the module; `owners` says which slots each has."""
    with contextlib.ExitStack() as stack:
        config = ["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--maxmemory", "0"]
        all_ = [stack.enter_context(Server(module, config=config, port=free_port())) for _ in range(servers)]
        cluster = Cluster(all_, probe)
        cluster.give(owners or slots.even(servers))
        yield cluster
