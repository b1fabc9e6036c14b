"""A server with the module and its replica: kills with `appendfsync always`, saves, rewrites, resynchronisations and
failovers, in the middle of commands on every kind of filter.

With the AOF synced before each reply, an acknowledged item survives a kill of the master. The replica is asynchronous:
it takes over either when it has everything, or after `WAIT`, and items since then may be lost.
"""

import time

from items import KINDS, Items
from server import ReplyError, Server, dumped, free_port, wait_until
from worker import Finding


def play(run):
    draw = run.random
    config = ["--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", draw.choice(("yes", "no")),
              "--auto-aof-rewrite-percentage", "0", "--repl-backlog-size", draw.choice(("16kb", "1mb")),
              "--repl-diskless-sync", draw.choice(("yes", "no")), "--repl-diskless-sync-delay", "0",
              "--repl-diskless-load", draw.choice(("disabled", "swapdb")), "--repl-timeout", "10"]
    servers = []
    try:
        for i in range(2):
            folder = run.folder / f"server{i}"
            folder.mkdir()
            other = () if i == 0 else ("layout", "redisbloom", "error_rate", "0.2", "initial_size", "3")
            servers.append(Server(run.options.module, *other, config=config, directory=folder, port=free_port()).start())
        Pair(run, *servers).play()
    finally:
        for server in servers:
            if server.process.poll() is None:
                server.kill()


def follows(master, replica):
    """Whether the replica has all that its master has."""
    def field(server, name):
        lines = server.ask("INFO", "replication").decode().splitlines()
        return next(line.split(":")[1] for line in lines if line.startswith(name))
    # A replica that has not seen yet that its master was killed says "up", and has more than the new process has sent.
    return field(replica, "master_link_status") == "up" and \
        field(replica, "master_replid") == field(master, "master_replid") and \
        int(field(replica, "slave_repl_offset")) >= int(field(master, "master_repl_offset"))


class Pair:
    def __init__(self, run, master, replica):
        self.run, self.master, self.replica = run, master, replica
        self.filters, self.made = [], 0
        self.replica.ask("REPLICAOF", "127.0.0.1", master.port)
        self.follow()

    def play(self):
        for kind in KINDS:
            self.reserve(kind)
        steps = {self.commands: 12, self.save: 2, self.rewrite: 2, self.break_link: 2, self.kill_master: 2,
                 self.kill_replica: 1, self.restart: 1, self.replace: 2, self.hand_over: 1, self.fail_over: 1,
                 self.reload: 1, self.compare: 2}
        for _ in self.run.turns(80):
            step = self.run.random.choices(list(steps), steps.values())[0]
            self.run.step(step.__name__)
            step()
        self.compare()

    def reserve(self, kind):
        self.made += 1
        self.filters.append(Items(self.run, f"{kind}{self.made}", kind))
        self.master.ask(*self.filters[-1].reserve())

    # ---- commands ---------------------------------------------------------------------------------

    def commands(self):
        for _ in range(self.run.random.choice((1, 10, 60))):
            items = self.run.random.choice(self.filters)
            what, words, of = items.command()
            self.run.count("operations")
            items.done(what, of, self.master.ask(*words))

    def in_flight(self, server):
        """Sends commands without waiting for replies until the server is dead."""
        sent = []
        for _ in range(self.run.random.choice((1, 8, 30))):
            items = self.run.random.choice(self.filters)
            what, words, of = items.command()
            if any(items is other for other, _, _ in sent) and what == "remove":
                continue  # it may remove what an earlier command of these removed
            self.run.count("operations")
            server.connection.send(*words)
            sent.append((items, what, of))
        time.sleep(self.run.random.choice((0, 0.0005, 0.002, 0.02)) * self.run.random.random())
        self.run.count("kills")
        server.kill()
        return sent

    def take_replies(self, server, sent):
        for number, (items, what, of) in enumerate(sent):
            try:
                reply = server.connection.read()
            except OSError:
                for rest, undone, lost in sent[number:]:
                    rest.undone(undone, lost)
                return
            items.done(what, of, reply)

    def replace(self):
        """Empties a filter, deletes it, or copies it over another one."""
        items = self.run.random.choice(self.filters)
        way = self.run.random.choice(("clear", "delete", "copy"))
        if way == "clear" and items.kind != "cuckoo":
            self.master.ask("BF.CLEAR", items.key)
            items.cleared()
        elif way == "delete":
            self.filters.remove(items)
            self.master.ask(self.run.random.choice(("DEL", "UNLINK")), items.key)
            self.reserve(items.kind)
        elif way == "copy":
            self.master.ask("COPY", items.key, "copy", "REPLACE")
            self.master.ask("RENAME", "copy", items.key)

    # ---- what goes on beside them -----------------------------------------------------------------

    def either(self):
        return self.run.random.choice((self.master, self.replica))

    def background(self, *words):
        try:
            self.either().ask(*words)
        except ReplyError as error:  # one at a time, and a fork that was killed by a failover counts as failed
            if "progress" not in str(error) and "scheduled" not in str(error):
                raise

    def save(self):
        self.background("BGSAVE", "SCHEDULE")

    def rewrite(self):
        self.background("BGREWRITEAOF")

    def break_link(self):
        for _ in range(self.run.random.choice((1, 3))):
            self.master.ask("CLIENT", "KILL", "TYPE", "replica")
            self.commands()

    def reload(self):
        """Reloads the data while there is no fork, which the server would kill."""
        self.follow()
        server = self.either()
        wait_until("the fork ends", lambda: self.persists(server, "rdb_bgsave_in_progress:0", "aof_rewrite_in_progress:0"))
        server.ask("DEBUG", "RELOAD")

    def restart(self):
        self.run.count("kills")
        server = self.either()
        server.restart()
        self.join()

    def kill_master(self):
        sent = self.in_flight(self.master)
        self.take_replies(self.master, sent)
        self.master.start()
        self.join()
        for items in self.filters:
            items.check(self.master)

    def kill_replica(self):
        self.run.count("kills")
        self.replica.kill()
        self.commands()
        self.replica.start()
        self.join()

    def join(self):
        self.replica.ask("REPLICAOF", "127.0.0.1", self.master.port)

    def promote(self):
        """After a full resynchronisation Redis writes a new AOF, and until that exists no data survives a kill."""
        self.replica.ask("REPLICAOF", "NO", "ONE")
        self.master, self.replica = self.replica, self.master
        wait_until("the new master has its AOF", lambda: self.persists(
            self.master, "aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0", "aof_last_bgrewrite_status:ok"), 60)

    def persists(self, server, *words):
        """Whether all of this is so at one time: what is scheduled now may be in progress a moment later."""
        said = server.ask("INFO", "persistence").decode()
        return all(word in said for word in words)

    def hand_over(self):
        """A planned change of roles."""
        self.follow()
        self.promote()
        self.join()

    def fail_over(self):
        """The master dies permanently in the middle of commands, whose replies are ignored."""
        self.follow()
        sent = self.in_flight(self.master)
        for items, what, of in sent:
            items.undone(what, of)
        self.promote()
        for items in self.filters:
            items.check(self.master)
        self.commands()
        self.replica.start()
        self.join()

    # ---- comparing --------------------------------------------------------------------------------

    def follow(self):
        """Waits until the replica has everything."""
        try:
            wait_until("the replica follows", lambda: follows(self.master, self.replica), 120)
        except TimeoutError as late:
            raise Finding("the replica does not follow:\n" + self.replica.log[-2000:]) from late

    def compare(self):
        self.follow()
        keys = sorted(self.master.ask("KEYS", "*"))
        self.run.expect(len(keys) == len(self.filters), lambda: f"keys: {keys}")
        self.run.expect(sorted(self.replica.ask("KEYS", "*")) == keys, "the replica has other keys")
        digests = [server.ask("DEBUG", "DIGEST-VALUE", *keys) for server in (self.master, self.replica)]
        for key, one, other in zip(keys, *digests, strict=True):
            self.run.expect(one == other, f"{key}: digest {one} at the master, {other} at the replica")
        for items in self.filters:
            dumps = [dumped(server, items.key, items.prefix) for server in (self.master, self.replica)]
            self.run.expect(dumps[0] == dumps[1], f"{items.key}: the replica's dump differs from the master's")
            items.check(self.master)
            items.check(self.replica)
        for server in (self.master, self.replica):
            self.run.expect("sending an error to its master" not in server.log, "a command failed on the replica")
