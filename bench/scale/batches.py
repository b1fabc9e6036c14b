"""The batches, parts of shards, commands, and bytes each way that a call of many keys becomes.

A *part* is one shard's share of a batch, a *visit* is one server's share. All numbers are expected values
over random keys. The names are those of src/redis/shards/key_batches.cpp.
"""

import dataclasses
import math

import slots

KEYS_OF_NODE, KEYS_OF_SHARD = 1024, 32
KEYS_AT_ONCE = 262_144  # a call of RedisFilter is divided into calls of so many keys
FEWEST_BLOCK_READS = 8  # parts with fewer keys ask for bits, others for whole blocks
ITEM = 16               # bytes of a key
IDENTITY_DIGITS = 19.5  # of a random 64-bit number with its sign


@dataclasses.dataclass(frozen=True)
class Filter:
    """A filter in shards. place: strings or module."""
    place: str
    shards: int
    bits: int
    hashes: int
    fpr: float
    name: str = "urls"
    item: int = ITEM

    @property
    def markers(self):
        return min(64, max(4, math.ceil(16 / -math.log10(self.fpr) - 1e-9)))

    @property
    def key(self):
        """The mean length of its keys."""
        return len(self.name) + 3 + sum(len(str(tag)) for tag in slots.shard_tags(self.shards)) / self.shards


def most_keys(servers, shards):
    return max(KEYS_OF_NODE * servers, KEYS_OF_SHARD * shards)


def batches(filter_, servers, keys):
    """The keys of each batch of a call, in groups; the client waits for a whole group before the next."""
    most = most_keys(servers, filter_.shards)
    at_once = KEYS_AT_ONCE if filter_.place == "strings" else keys
    groups = []
    while keys > 0:
        group = min(at_once, keys)
        keys -= group
        groups.append([most] * (group // most) + ([group % most] if group % most else []))
    return groups


def at_least(trials, share, least):
    """The probability that at least so many of so many trials with this share succeed."""
    if least <= 0:
        return 1.0
    if trials < least:
        return 0.0
    if share >= 1:
        return 1.0
    term, below = math.exp(trials * math.log1p(-share)), 0.0
    for successes in range(least):
        below += term
        term *= (trials - successes) / (successes + 1) * share / (1 - share)
    return max(0.0, 1 - below)


@dataclasses.dataclass(frozen=True)
class Load:
    """The share of one server in one batch."""
    keys: float = 0      # by bits, or items of a module
    blocks: float = 0    # keys that are looked up by whole blocks
    parts: float = 0
    visits: float = 0
    sent: float = 0      # bytes to the server
    received: float = 0  # bytes from it

    def __add__(self, other):
        return Load(*(a + b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other))))


def word(length):
    """The bytes of a word of a command."""
    return len(str(math.ceil(length))) + 5 + length


def words(*texts):
    return sum(word(len(text)) for text in texts)


def digits(largest):
    """The mean number of digits of a number from 0 to `largest`."""
    sum_, low, length = 0.0, 0, 1
    while low <= largest:
        high = min(largest, 10**length - 1)
        sum_ += (high - low + 1) * length
        low, length = high + 1, length + 1
    return sum_ / (largest + 1)


def array(elements):
    return 3 + len(str(max(1, round(elements))))


def string_bytes(filter_, operation, load):
    """(sent, received) for keys by bits, keys by blocks and parts of strings."""
    shard_bits = filter_.bits // filter_.shards
    key, hashes = word(filter_.key), filter_.hashes
    offset = word(digits(shard_bits + 1024))
    at_byte = word(digits(shard_bits / 8 + 128))
    name, each = ("BITFIELD", words("SET", "u1", "1")) if operation == "insert" else ("BITFIELD_RO", words("GET", "u1"))
    bits_command = array(5 + (4 if operation == "insert" else 3) * hashes) + words(name, "GET", "i64", "512") + key
    bits_command += hashes * (each + offset)
    bits_reply = array(hashes + 1) + 3 + IDENTITY_DIGITS + 4 * hashes
    length = array(2) + words("STRLEN") + key
    proof, proof_reply = array(4) + words("GETRANGE") + key + 2 * at_byte, 14
    if operation == "insert":
        proof, proof_reply = length, 3 + digits(shard_bits / 8)
    block = array(4) + words("GETRANGE") + key + 2 * at_byte
    around = 2 * array(1) + words("MULTI", "EXEC") + length
    around += array(4) + words("GETRANGE", "64", "71") + key
    by_blocks = load.parts * load.blocks / max(1e-9, load.blocks + load.keys)
    by_bits = load.parts - by_blocks
    sent = load.keys * bits_command + by_bits * proof + load.blocks * block + by_blocks * around
    received = load.keys * bits_reply + by_bits * proof_reply
    received += load.blocks * (9 + 71) + by_blocks * (5 + 2 * 9 + array(load.blocks / max(1, by_blocks)) + 12 + 14)
    return sent, received


def module_bytes(filter_, operation, load):
    key, markers = word(filter_.key), 2 * filter_.markers  # its own, and those of a copy
    question = array(2 + markers) + words("BF.MEXISTS") + key + markers * word(24)
    sent = load.keys * word(filter_.item) + load.parts * question
    received = load.keys * 4 + load.parts * (array(markers) + 4 * markers)
    if operation == "insert":
        per_part = load.keys / max(1e-9, load.parts)
        sent += load.parts * (array(4 + per_part) + words("BF.INSERT", "NOCREATE", "ITEMS") + key)
        sent += load.parts * (2 * array(1) + words("MULTI", "EXEC"))
        received += load.parts * (array(per_part) + len("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n"))
    return sent, received


def loads(filter_, operation, counts, keys):
    """The share of each server in a batch. counts: the shards of each server."""
    share = 1 / filter_.shards
    asked = at_least(keys, share, 1)
    by_blocks = 0.0
    if filter_.place == "strings" and operation == "look-up":
        by_blocks = at_least(keys - 1, share, FEWEST_BLOCK_READS - 1)
    result, known = [], {}
    for count in counts:
        if count not in known:
            here = keys * count * share
            load = Load(here * (1 - by_blocks), here * by_blocks, count * asked, at_least(keys, count * share, 1))
            sent, received = (string_bytes if filter_.place == "strings" else module_bytes)(filter_, operation, load)
            known[count] = dataclasses.replace(load, sent=sent, received=received)
        result.append(known[count])
    return result


def call_loads(filter_, operation, counts, keys):
    """The share of each server in a whole call."""
    sums = [Load() for _ in counts]
    for group in batches(filter_, sum(1 for count in counts if count), keys):
        for size in group:
            sums = [a + b for a, b in zip(sums, loads(filter_, operation, counts, size))]
    return sums
