"""The servers of a cluster, with the module, each master with a replica.

Every node syncs its AOF before it replies, so an acknowledged key survives a kill. Replicas are asynchronous, and what
a failover loses is lost (docs/redis-cluster.md): so none takes over by itself, and one that is told to gets all that
its master has first.
"""

import re
import signal
import time

from cluster_test import agree, make_cluster
from server import ReplyError, Server, free_port, wait_until
from worker import Finding

MASTERS = 3


class Nodes:
    """The servers; replica i follows master i."""

    def __init__(self, run):
        draw = run.random
        self.run, self.elected, self.missed = run, set(), 0
        config = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-replica-no-failover", "yes",
                  "--cluster-require-full-coverage", draw.choice(("yes", "no")), "--appendonly", "yes",
                  "--appendfsync", "always", "--aof-use-rdb-preamble", draw.choice(("yes", "no")),
                  "--auto-aof-rewrite-percentage", "0", "--repl-diskless-sync", draw.choice(("yes", "no")),
                  "--repl-diskless-sync-delay", "0", "--repl-diskless-load", draw.choice(("disabled", "swapdb"))]
        servers = []
        for i in range(2 * MASTERS):
            folder = run.folder / f"node{i}"
            folder.mkdir()
            servers.append(Server(run.options.module, config=config, directory=folder, port=free_port()))
        self.masters, self.replicas = servers[:MASTERS], servers[MASTERS:]

    @property
    def servers(self):
        return self.masters + self.replicas

    def start(self):
        for server in self.servers:
            server.start()
        make_cluster(self.masters)
        for replica in self.replicas:
            replica.ask("CLUSTER", "MEET", "127.0.0.1", self.masters[0].port)
        for master, replica in zip(self.masters, self.replicas):
            name = master.ask("CLUSTER", "MYID")
            wait_until("the replica knows its master", lambda: name in replica.ask("CLUSTER", "NODES"))
            replica.ask("CLUSTER", "REPLICATE", name)
        self.wait_until_ready()

    def stop(self):
        for server in self.servers:
            if server.process and server.process.poll() is None:
                server.kill()

    def kill(self, server, seconds):
        self.run.count("kills")
        server.kill()
        time.sleep(seconds)
        server.start()
        self.wait_until_ready()

    def pause(self, server, seconds):
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        server.process.send_signal(signal.SIGCONT)

    def fail_over(self, number):
        """The master takes no writes until its replica has them all and is the new master. The servers give that up
        after five seconds.

        Each server is elected once in a round. Redis 7.0 counts the votes of its election of seconds ago for the next
        one, and then it is a master that no other node has elected until it hears of that.
        """
        replica = self.replicas[number]
        self.elected.add(replica)
        for _ in range(3):
            replica.ask("CLUSTER", "FAILOVER")
            try:
                wait_until("the replica is master", lambda: replica.ask("ROLE")[0] == b"master", 10)
                break
            except TimeoutError:
                continue
        else:
            raise Finding("a replica does not become master:\n" + replica.log[-2000:])
        self.replicas[number], self.masters[number] = self.masters[number], replica

    def wait_until_ready(self):
        try:
            wait_until("the cluster works", self.is_ready, 120)
        except TimeoutError as late:
            raise Finding("the cluster does not recover, as its nodes see it:\n" + "\n".join(
                server.ask("CLUSTER", "NODES").decode() for server in self.servers)) from late
        self.missed = self.failures()

    def is_ready(self):
        """All see each other and the same owners of the slots, replicas follow, and a kill is survived: after a full
        resynchronisation Redis writes a new AOF, and until then it is not."""
        def says(server, section, *words):
            said = server.ask("INFO", section).decode()
            return all(word in said for word in words)
        try:
            return all(b"cluster_state:ok" in server.ask("CLUSTER", "INFO")
                       and not re.search(rb"\bfail\b", server.ask("CLUSTER", "NODES"))
                       and says(server, "persistence", "aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0",
                                "aof_last_bgrewrite_status:ok") for server in self.servers) \
                and all(says(replica, "replication", "role:slave", "master_link_status:up")
                        for replica in self.replicas) and agree(self.servers)
        except ReplyError:  # LOADING
            return False

    def failures(self):
        return sum(server.log.count("as failing") + server.log.count("state changed: fail") for server in self.servers)

    def missed_each_other(self):
        """Since they were ready: if the machine has stood still for seconds, nobody has to kill a node for that."""
        return self.failures() > self.missed
