"""Random commands that RedisBloom and the module share, and whether two servers have the same filters after them.

The tests with a real RedisBloom use it: redisbloom_test.py.
"""

import hashlib

from server import ReplyError, dumped, quietly

ITEMS = [f"x{i}" for i in range(1500)]
# None of them is ever added.
STRANGERS = [f"y{i}" for i in range(3000)]
BLOOM = [f"b{i}" for i in range(24)]
CUCKOO = [f"c{i}" for i in range(16)]


def family_of(key):
    return "CF" if key.startswith("c") else "BF"


def some(draw, most=60):
    return [draw.choice(ITEMS) for _ in range(draw.choice((1, 1, 5, draw.randrange(1, most))))]


def bloom_words(draw):
    key = draw.choice(BLOOM)
    items = some(draw)
    # At most 0.25: higher rates RedisBloom 8 cuts, and 2.8 does not.
    rate = draw.choice(("0.1", "0.01", "0.001", "1e-6", "0.25"))
    capacity = draw.choice((1, 7, 100, 1000))
    growth = draw.choice(([], [], ["NONSCALING"], ["EXPANSION", draw.choice((0, 1, 2, 4))]))
    return draw.choices([
        ["BF.ADD", key, items[0]],
        ["BF.MADD", key, *items],
        ["BF.INSERT", key, "CAPACITY", capacity, "ERROR", rate, *growth, "ITEMS", *items],
        ["BF.INSERT", key, *draw.choice((["NOCREATE"], [])), "ITEMS", *items],
        ["BF.RESERVE", key, rate, capacity, *growth],
        ["BF.EXISTS", key, items[0]],
        ["BF.MEXISTS", key, *items],
        ["BF.CARD", key],
        ["DEL", key]], weights=[8, 8, 4, 3, 4, 1, 1, 1, 0.6])[0]


def cuckoo_words(draw):
    key = draw.choice(CUCKOO)
    items = some(draw, 30)
    capacity = draw.choice((8, 64, 500))
    return draw.choices([
        ["CF.ADD", key, items[0]],
        ["CF.ADDNX", key, items[0]],
        ["CF.INSERT", key, "ITEMS", *items],
        ["CF.INSERTNX", key, "CAPACITY", capacity, "ITEMS", *items],
        ["CF.INSERT", key, "NOCREATE", "ITEMS", *items],
        ["CF.DEL", key, items[0]],
        ["CF.COUNT", key, items[0]],
        ["CF.MEXISTS", key, *items],
        ["CF.COMPACT", key],
        ["CF.RESERVE", key, capacity, "BUCKETSIZE", draw.choice((1, 2, 4)), "MAXITERATIONS", draw.choice((5, 20)),
         "EXPANSION", draw.choice((0, 1, 2, 4))],
        ["DEL", key]], weights=[4, 4, 4, 3, 2, 14, 1, 1, 0.5, 2, 0.3])[0]


class Writer:
    """Writes random commands, and knows which items every Bloom filter has."""

    def __init__(self, draw, connection):
        self.draw, self.connection, self.has, self.loads = draw, connection, {}, 0

    def write(self, count):
        for i in range(count):
            if i % 250 == 249:
                self.load()
            words = self.draw.choice((bloom_words, cuckoo_words))(self.draw)
            self.note(words, quietly(self.connection, *words))

    def note(self, words, said):
        name, key = words[:2]
        if name == "DEL":
            self.has.pop(key, None)
        if isinstance(said, ReplyError) or name not in ("BF.ADD", "BF.MADD", "BF.INSERT"):
            return
        items = words[words.index("ITEMS") + 1:] if name == "BF.INSERT" else words[2:]
        answers = said if isinstance(said, list) else [said]
        self.has.setdefault(key, set()).update(
            item for item, answer in zip(items, answers) if not isinstance(answer, ReplyError))

    def load(self):
        """A dump of a filter becomes another one, which is then used."""
        key = self.draw.choice(BLOOM + CUCKOO)
        family = family_of(key)
        chunks = dumped(self.connection, key, family) if self.connection.ask("EXISTS", key) else []
        if not chunks:
            return
        self.loads += 1
        copy = f"{key} {self.loads}"
        for at, chunk in chunks:
            self.connection.ask(f"{family}.LOADCHUNK", copy, at, chunk)
        self.has[copy] = set(self.has.get(key, ()))
        words = [f"{family}.{'INSERT' if family == 'CF' else 'MADD'}", copy,
                 *(["ITEMS"] if family == "CF" else []), *some(self.draw)]
        self.note(words, quietly(self.connection, *words))


def missing(writer, connection):
    """Items that were added and that a server does not have: none, ever."""
    for key, items in writer.has.items():
        asked = sorted(items)
        if key.startswith("b") and asked and not all(connection.ask("BF.MEXISTS", key, *asked)):
            yield f"{key} lacks items"


def state(connection):
    """Key -> question -> reply, of every filter: type, information, dump, and whether each item is there."""
    return {key: of_key(connection, key) for key in sorted(key.decode() for key in connection.ask("KEYS", "*"))}


def of_key(connection, key):
    family = family_of(key)
    questions = [("TYPE", key), *((f"{family}.{name}", key) for name in ("INFO", "DEBUG")),
                 (f"{family}.MEXISTS", key, *ITEMS, *STRANGERS)]
    said = {words[0]: connection.ask_raw(*words) for words in questions}
    digest = hashlib.sha1()
    for at, chunk in dumped(connection, key, family):
        digest.update(b"%d %d " % (at, len(chunk)))
        digest.update(chunk)
    said["dump"] = digest.hexdigest()
    if family == "CF":
        said["counts"] = [connection.ask("CF.COUNT", key, item) for item in ITEMS[:200]]
    return said


def differences(one, other):
    """How two states differ; empty if they are equal."""
    if one.keys() != other.keys():
        yield f"keys that only one has: {sorted(one.keys() ^ other.keys())}"
    for key in sorted(one.keys() & other.keys()):
        for question, said in one[key].items():
            if said != other[key][question]:
                yield f"{question} of {key}: {said[:300]!r} and {other[key][question][:300]!r}"
