"""The sizes of filters: what `bloomery plan` says for a hundred million keys and more, and the limits."""

import dataclasses
import math

import batches
import slots

# Bits per key at a rate: plain filters of layout `blocked` with their hashes, and frozen filters.
PLAIN = {0.01: (9.946, 6), 0.001: (15.62, 9)}
FROZEN = {0.01: 7.442, 0.001: 11.047}
MOST_BITS, MOST_FROZEN_KEYS = 2**40, 2**35
# Seconds per key of a bulk look-up on one core of the slowest machine that was measured.
FROZEN_LOOK_UP = 33e-9
GB = 1e9


@dataclasses.dataclass(frozen=True)
class Fleet:
    """Assumptions: the values of the flags of simulate.py."""
    memory: float = 64 * GB       # of a node
    used: float = 0.5             # its share for filters; the rest is for copies while a node saves, and buffers
    cores: int = 16
    link: float = 10e9 / 8        # bytes per second, each way
    latency: float = 100e-6       # one way
    servers_of_node: int = 8      # processes
    replicas: int = 1
    clients: int = 64             # threads, on nodes of their own
    keys_of_call: int = 100_000
    speed: float = 1.0            # of a core, relative to the machine that was measured


@dataclasses.dataclass(frozen=True)
class Spread:
    """A set of keys as filters in shards over masters."""
    filters: int          # the set is split if one filter would be too large
    filter_: batches.Filter
    keys: int
    bytes: float          # of all filters, once
    nodes: int
    masters: int
    shards_of: tuple      # how many shards of one filter each master has


def spread(keys, rate, place, fleet):
    """At least three nodes, so that the others can agree that one is down."""
    bits_per_key, hashes = PLAIN[rate]
    bits = keys * bits_per_key
    filters = math.ceil(bits / MOST_BITS)
    copies = 1 + fleet.replicas
    nodes = max(3, math.ceil(bits / 8 * copies / (fleet.memory * fleet.used)))
    masters = nodes * fleet.servers_of_node // copies
    shards = slots.shards_for(math.ceil(bits / filters), masters)
    of_one = int(bits / filters) // (512 * shards) * 512 * shards
    shards_of = tuple(slots.shards_of_servers(shards, slots.even(masters), masters))
    return Spread(filters, batches.Filter(place, shards, of_one, hashes, rate), keys, bits / 8, nodes, masters, shards_of)
