"""A cluster in use: its slots move key by key, masters are killed and come back, replicas take over, nodes stand still,
and all the while the tool and a client add to filters on it and look up.

While a node is away an error is right, and "absent" of an acknowledged key is not; the same command passes when the
node is back.
"""

import copy
import random
import threading
import time

from cluster_test import Client, move_slot
from items import KINDS, Items
from nodes import MASTERS, Nodes
from server import ReplyError
from spread import Spread

# Errors that the documents allow: while a slot moves for longer than the tool follows it, and while a node is away.
MOVING = ("from node to node 16 times",)
AWAY = (*MOVING, "cannot be reached", "no answer within", "the answer comes too slowly", "the connection broke",
        "the server hung up", "CLUSTERDOWN", "LOADING")


def play(run):
    nodes = Nodes(run)
    try:
        nodes.start()
        Round(run, nodes).play()
    finally:
        nodes.stop()


class Users:
    """The tool and a client, one after the other, before and in the middle of what the cluster goes through.

    They draw from a source of their own: how much they get done in a step depends on the machine, and the steps of a
    round do not.
    """

    def __init__(self, run, nodes):
        self.run, self.nodes, self.errors = copy.copy(run), nodes, ()
        self.run.random = random.Random(run.random.random())
        self.client, self.failed, self.fault = Client(nodes.servers), {}, None
        self.spread = [Spread(self.run, nodes, f"{kind}{i}", kind) for kind in ("strings", "module") for i in range(2)]
        self.items = [Items(self.run, f"items:{kind}", kind) for kind in KINDS]
        for items in self.items:
            self.ask(*items.reserve())

    def ask(self, *words):
        return self.client.ask(words[1], *words)

    def allowed(self, said):
        errors = AWAY if self.nodes.missed_each_other() else self.errors
        return any(error in said for error in errors)

    def work(self, operations):
        for _ in range(operations):
            self.operate()

    def operate(self):
        """True: it was done, and did not end with an error."""
        draw = self.run.random
        if draw.random() < 0.6:
            items = draw.choice(self.items)
            return self.command(items, *items.command())
        spread = draw.choice(self.spread)
        if spread.keys and draw.random() < 0.4:
            return spread.check(draw.sample(list(spread.keys), min(len(spread.keys), 300)), self.allowed)
        lines = spread.lines()
        done = spread.add(lines, self.allowed)
        if not done:
            self.failed[spread] = lambda: spread.add(lines, self.allowed)
        return done

    def command(self, items, what, words, of):
        self.run.count("operations")
        done = self.served(lambda: items.done(what, of, self.ask(*words)))
        if not done:
            items.undone(what, of)
            if what == "add":  # a removal may have been done, and is not repeated
                self.failed[items] = lambda: self.command(items, what, words, of)
        return done

    def served(self, attempt):
        try:
            attempt()
            return True
        except (OSError, ReplyError) as error:
            said = str(error) if isinstance(error, ReplyError) else f"cannot be reached: {error}"
            self.run.step("a command:", said)
            self.run.expect(self.allowed(said), f"a command: {said}")
            self.renew_client()
            return False

    def renew_client(self):
        self.client.close()
        self.client = Client(self.run.random.sample(self.nodes.servers, 2 * MASTERS))

    def begin(self, errors):
        """They work until `end`, and what goes wrong may say one of these."""
        self.errors, self.ended = errors, threading.Event()
        self.thread = threading.Thread(target=self.work_on, daemon=True)
        self.thread.start()

    def work_on(self):
        try:
            while not self.ended.is_set():
                if not self.operate():
                    self.ended.wait(0.05)
        except Exception as fault:
            self.fault = fault

    def end(self):
        """What an error has stopped is done by the same command now."""
        self.ended.set()
        self.thread.join()
        if self.fault:
            raise self.fault
        self.errors = ()
        self.renew_client()
        for again in list(self.failed.values()):
            self.insist(again)
        self.failed.clear()

    def insist(self, attempt):
        while not attempt():
            self.nodes.wait_until_ready()

    def check(self):
        for spread in self.spread:
            self.insist(lambda: spread.check(list(spread.keys), self.allowed))
            self.insist(lambda: spread.compare(self.allowed))
        for items in self.items:
            self.insist(lambda: self.served(lambda: items.check(self)))


class Round:
    def __init__(self, run, nodes):
        self.run, self.nodes, self.users = run, nodes, Users(run, nodes)
        self.keys = self.count_keys()

    def count_keys(self):
        return sum(master.ask("DBSIZE") for master in self.nodes.masters)

    def play(self):
        steps = {self.use: 2, self.move: 4, self.kill: 2, self.fail_over: 2, self.pause: 2}
        for _ in self.run.turns(8):
            step = self.run.random.choices(list(steps), steps.values())[0]
            self.run.step(step.__name__)
            step()
            self.users.check()
        keys = self.count_keys()
        self.run.expect(keys == self.keys, f"{keys} keys are on the masters, and {self.keys} were made")

    def use(self):
        self.users.work(20)

    def during(self, errors, change):
        self.users.begin(errors)
        time.sleep(self.run.random.choice((0, 0.05, 0.3)) * self.run.random.random())
        try:
            change()
            self.nodes.wait_until_ready()
        finally:
            self.users.ended.set()
        self.users.end()

    def move(self):
        """A slot with keys moves, one key at a time; now and then the node at one end is killed half way."""
        draw = self.run.random
        source = draw.choice([master for master in self.nodes.masters if master.ask("DBSIZE")])
        target, other = draw.sample([master for master in self.nodes.masters if master is not source], 2)
        slot = source.ask("CLUSTER", "KEYSLOT", draw.choice(sorted(source.ask("KEYS", "*"))))
        killed = draw.choice((source, target)) if self.run.chance(0.2) else None
        self.run.step("slot", slot, "from", source.port, "to", target.port)

        def between():
            nonlocal killed
            time.sleep(draw.choice((0, 0.01, 0.1)))
            if killed and draw.random() < 0.5:
                self.kill_one(killed)
                killed = None
        self.during(AWAY if killed else MOVING, lambda: move_slot(slot, source, target, (other,), between))

    def kill(self):
        master = self.run.random.choice(self.nodes.masters)
        if self.run.chance(0.3):
            master.ask("BGREWRITEAOF")
        self.during(AWAY, lambda: self.kill_one(master))

    def kill_one(self, server):
        seconds = self.run.random.choices((0, 0.3, 3), (4, 4, 1))[0]  # 3: the other nodes notice
        self.run.step("kill", server.port, "for", seconds)
        self.nodes.kill(server, seconds)

    def fail_over(self):
        numbers = [i for i in range(MASTERS) if self.nodes.replicas[i] not in self.nodes.elected]
        if not numbers:
            return
        number = self.run.random.choice(numbers)
        self.run.step("from", self.nodes.masters[number].port, "to", self.nodes.replicas[number].port)
        self.during(MOVING, lambda: self.nodes.fail_over(number))

    def pause(self):
        server = self.run.random.choice(self.nodes.servers)
        seconds = self.run.random.choices((0.1, 0.5, 2.5, 6), (4, 4, 2, 1))[0]  # 6: the tool waits for no more than 5
        self.run.step("port", server.port, "for", seconds)
        self.during(AWAY, lambda: self.nodes.pause(server, seconds))
