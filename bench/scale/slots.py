"""The node of each shard: the slots of a Redis Cluster and the names of shards, as in docs/format.md."""

import itertools

SLOTS = 16_384


def crc16(data):
    """CRC16 (XMODEM), with which Redis Cluster hashes keys."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021) & 0xFFFF if crc & 0x8000 else crc << 1
    return crc


def slot_of(key):
    """The slot of a key: the hash of the text between its first braces if there is any, otherwise of the key."""
    begin = key.find("{")
    end = key.find("}", begin + 1)
    tag = key[begin + 1:end] if begin >= 0 and end > begin + 1 else key
    return crc16(tag.encode()) % SLOTS


def shard_tags(shards):
    """The tag of each shard: the smallest number in the shard's range of slots; the first has 0."""
    first = slot_of("0") * shards // SLOTS
    tags = [None] * shards
    left = shards
    for number in itertools.count():
        shard = (slot_of(str(number)) * shards // SLOTS - first) % shards
        if tags[shard] is None:
            tags[shard] = number
            left -= 1
            if left == 0:
                return tags


def shard_keys(name, shards):
    return [f"{name}:{{{tag}}}" for tag in shard_tags(shards)]


def shards_for(bits, servers):
    """How many shards the client makes by default: four for each server, none above 256 MiB."""
    wanted = max(-(-bits // 2**31), servers * 4 if servers > 1 else 1)
    return max(1, min(1024, -(-wanted // servers) * servers))


def even(servers):
    """The owner of each slot if each server has one range, as in a new cluster of the tools."""
    owners = []
    for server in range(servers):
        owners += [server] * ((server + 1) * SLOTS // servers - server * SLOTS // servers)
    return owners


def weighted(weights):
    """The same, with the lengths of the ranges in proportion to the weights."""
    owners, sum_so_far = [], 0
    for server, weight in enumerate(weights):
        sum_so_far += weight
        owners += [server] * (round(sum_so_far / sum(weights) * SLOTS) - len(owners))
    return owners


def grown(owners, servers):
    """The owners after servers were added and the slots balanced: every old server gives its first slots away,
    as `redis-cli --cluster rebalance --cluster-use-empty-masters` does."""
    before = max(owners) + 1
    to_take = [(new + 1) * SLOTS // servers - new * SLOTS // servers for new in range(before, servers)]
    to_give = []
    for old in range(before):
        has = [slot for slot, owner in enumerate(owners) if owner == old]
        keeps = (old + 1) * SLOTS // servers - old * SLOTS // servers
        to_give += has[:max(0, len(has) - keeps)]
    after = list(owners)
    for new, count in enumerate(to_take, before):
        for slot in to_give[:count]:
            after[slot] = new
        to_give = to_give[count:]
    return after


def shards_of_servers(shards, owners, servers=None):
    """How many shards each server has."""
    counts = [0] * (servers or max(owners) + 1)
    for tag in shard_tags(shards):
        counts[owners[slot_of(str(tag))]] += 1
    return counts


def moved(shards, before, after):
    """How many shards are on a different server afterwards."""
    return sum(before[slot] != after[slot] for slot in (slot_of(str(tag)) for tag in shard_tags(shards)))


def skew(counts):
    """The load of the busiest server, relative to the mean."""
    return max(counts) * len(counts) / sum(counts)
