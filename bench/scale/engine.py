"""Simulates clients, servers and a network with events: how long calls take if they share processors and links.

A *machine* has cores, which its threads share fairly, and a link with a bandwidth for each direction. A *server*
is one thread that serves visits in the order in which they come. A *client* is one thread that does what
KeyBatches::run does: it has two batches in flight, and takes the replies to the older one server by server.
"""

import collections
import heapq
import itertools


class Events:
    def __init__(self):
        self.now, self.heap, self.order = 0.0, [], itertools.count()

    def at(self, when, action):
        heapq.heappush(self.heap, (when, next(self.order), action))

    def run(self):
        while self.heap:
            self.now, _, action = heapq.heappop(self.heap)
            action()


class Machine:
    """Invariant: `virtual` is the processor time of a thread that has been running all the time."""

    def __init__(self, events, cores, bandwidth=float("inf")):
        self.events, self.cores, self.bandwidth = events, cores, bandwidth
        self.running, self.virtual, self.then, self.order = [], 0.0, 0.0, itertools.count()
        self.version = 0
        self.free = {"out": 0.0, "in": 0.0}

    def pace(self):
        return min(1.0, self.cores / len(self.running)) if self.running else 1.0

    def _go_on(self):
        self.virtual += (self.events.now - self.then) * self.pace()
        self.then = self.events.now

    def run(self, seconds, done):
        """Calls done() when a thread has received so much processor time."""
        self._go_on()
        heapq.heappush(self.running, (self.virtual + seconds, next(self.order), done))
        self._schedule()

    def _schedule(self):
        self.version += 1
        if self.running:
            wait = max(0.0, self.running[0][0] - self.virtual) / self.pace()
            self.events.at(self.events.now + wait, lambda version=self.version: self._finish(version))

    def _finish(self, version):
        if version != self.version:
            return
        self._go_on()
        self.virtual = max(self.virtual, self.running[0][0])
        _, _, done = heapq.heappop(self.running)
        self._schedule()
        done()

    def pass_link(self, way, when, size):
        """The time at which the last of so many bytes, which are ready at `when`, has passed the link."""
        self.free[way] = max(self.free[way], when) + size / self.bandwidth
        return self.free[way]


def send(events, latency, sender, receiver, size, arrived):
    """Machines that are one machine have no link between them."""
    if sender is receiver:
        return events.at(events.now + latency, arrived)
    through = sender.pass_link("out", events.now, size)
    # The first byte arrives one latency after it was sent; the receiver's link passes the rest meanwhile.
    begins = through - size / sender.bandwidth + latency
    return events.at(max(through + latency, receiver.pass_link("in", begins, size)), arrived)


class Server:
    def __init__(self, machine):
        self.machine, self.queue, self.busy, self.used = machine, collections.deque(), False, 0.0

    def visit(self, seconds, done):
        self.used += seconds
        self.queue.append((seconds, done))
        if not self.busy:
            self._next()

    def _next(self):
        self.busy = bool(self.queue)
        if self.busy:
            seconds, done = self.queue.popleft()
            self.machine.run(seconds, lambda: (done(), self._next()))


class Client:
    """plan: for each group of batches (which ends before the next begins) the batches; a batch is
    (seconds to build it, [(server, its seconds, bytes to it, bytes from it, seconds to take its reply)])."""

    IN_FLIGHT = 2

    def __init__(self, events, machine, latency, plan):
        self.events, self.machine, self.latency = events, machine, latency
        self.groups = collections.deque(collections.deque(group) for group in plan)
        self.in_flight, self.used, self.finished = collections.deque(), 0.0, None

    def start(self):
        self._step()

    def _work(self, seconds, done):
        self.used += seconds
        self.machine.run(seconds, done)

    def _step(self):
        while self.groups and not self.groups[0] and not self.in_flight:
            self.groups.popleft()
        if not self.groups:
            self.finished = self.events.now
        elif self.groups[0] and len(self.in_flight) < self.IN_FLIGHT:
            batch = self.groups[0].popleft()
            self._work(batch[0], lambda: self._send(batch))
        else:
            self._take(self.in_flight[0], 0)

    def _send(self, batch):
        state = {"visits": batch[1], "here": set(), "wanted": None}
        self.in_flight.append(state)
        for i, (server, seconds, sent, received, _) in enumerate(batch[1]):
            def reply(i=i, server=server, received=received):
                send(self.events, self.latency, server.machine, self.machine, received, lambda: self._arrive(state, i))
            send(self.events, self.latency, self.machine, server.machine, sent,
                 lambda server=server, seconds=seconds, reply=reply: server.visit(seconds, reply))
        self._step()

    def _arrive(self, state, i):
        state["here"].add(i)
        if state["wanted"] == i:
            state["wanted"] = None
            self._take(state, i)

    def _take(self, state, i):
        """Takes the replies from visit i on; the client waits for those that have not arrived."""
        if i == len(state["visits"]):
            self.in_flight.popleft()
            self._step()
        elif i in state["here"]:
            self._work(state["visits"][i][4], lambda: self._take(state, i + 1))
        else:
            state["wanted"] = i
