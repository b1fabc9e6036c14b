#!/usr/bin/env python3
"""What RedisBloom 8.10 answered to 2,780 commands, and what the module answers to them.

usage: replies_test.py MODULE

With `layout redisbloom` every reply is the same, byte for byte. With the default layout replies
are the same except for what docs/redisbloom.md lists: sizes, dumps and debug text, the name of the type,
the largest capacity, and which absent items are falsely reported. An oracle of exact sets knows
which items are there: none of them may ever be missing, and false reports must be rare.
"""

import json
import lzma
import pathlib
import sys

from server import Server

GOLDEN = pathlib.Path(__file__).parent / "golden"


def recorded(name):
    """(group, protocol) -> [(words, reply), ...] in order."""
    groups = {}
    for line in lzma.open(GOLDEN / name, "rt"):
        row = json.loads(line)
        words = [word.encode("latin-1") for word in row["cmd"]]
        groups.setdefault((row["group"], row["proto"]), []).append(
            (words, row["reply"].encode("latin-1")))
    return groups


def replay(server, commands, protocol):
    connection = server.connect()
    connection.ask("FLUSHALL", "SYNC")
    connection.ask("HELLO", protocol)
    for words, expected in commands:
        yield words, expected, connection.ask_raw(*words)
    connection.close()


def complaints_of_redisbloom(server, name="redisbloom-replies.jsonl.xz"):
    for (group, protocol), commands in recorded(name).items():
        for words, expected, said in replay(server, commands, protocol):
            if said != expected:
                yield f"{group}, RESP{protocol}: {words} {said!r}, not {expected!r}"


class Oracle:
    """Exact sets in the place of filters, fed by the replies."""

    def __init__(self):
        self.added = {}
        self.new = {}  # how many items of a key were answered as new
        self.false_reports = 0
        self.looked = 0

    def forget(self, key):
        self.added.pop(key, None)
        self.new.pop(key, None)

    def rename(self, key, to):
        self.added[to], self.new[to] = self.added.pop(key, set()), self.new.pop(key, 0)

    def judge(self, key, items, answers, adds):
        """A complaint, or None. answers: True where an item was new (adds) or is there."""
        known = self.added.setdefault(key, set()) if adds else self.added.get(key, set())
        for item, answer in zip(items, answers):
            there = item in known
            says_there = not answer if adds else answer
            if there and not says_there:
                return f"{item} was added to {key} and is missing"
            self.looked += not there
            self.false_reports += says_there and not there
            if adds:
                known.add(item)
                self.new[key] = self.new.get(key, 0) + answer
        return None


def booleans(said):
    """The booleans of a reply, however its protocol writes them; errors in it are left out."""
    return [line in (b":1", b"#t") for line in said.split(b"\r\n")
            if line in (b":0", b":1", b"#f", b"#t")]


def items_of(words):
    name = words[0].upper()
    if name != b"BF.INSERT":
        return words[2:]
    large = [word.upper() for word in words]
    return words[large.index(b"ITEMS") + 1:] if b"ITEMS" in large else []


def numbers_masked(said, mask_all):
    lines = said.split(b"\r\n")
    for i, line in enumerate(lines):
        follows = i > 0 and lines[i - 1] in (b"+Size", b"+Number of items inserted")
        if line.startswith(b":") and (mask_all or follows):
            lines[i] = b":?"
    return lines


def complaints_of_default(server):
    oracle = Oracle()
    for (group, protocol), commands in recorded("redisbloom-replies.jsonl.xz").items():
        oracle.added.clear()
        oracle.new.clear()
        for words, expected, said in replay(server, commands, protocol):
            name, key = words[0].upper(), words[1] if len(words) > 1 else b""
            where = f"{group}, RESP{protocol}: {words}"
            if name == b"RENAME":
                oracle.rename(key, words[2])
            elif name in (b"DEL", b"UNLINK"):
                oracle.forget(key)
            adds = name in (b"BF.ADD", b"BF.MADD", b"BF.INSERT")
            if (adds or name in (b"BF.EXISTS", b"BF.MEXISTS")) and not said.startswith(b"-"):
                complaint = oracle.judge(key, items_of(words), booleans(said), adds)
                if complaint:
                    yield f"{where}: {complaint}"
                # As many answers of the same kind as RedisBloom gives.
                masked = said.replace(b"#t", b"#f").replace(b":1\r", b":0\r")
                wanted = expected.replace(b"#t", b"#f").replace(b":1\r", b":0\r")
                if group not in ("nonscaling full",) and b"full" not in expected + said \
                        and masked != wanted:
                    yield f"{where}: {said!r}, not like {expected!r}"
            elif name == b"TYPE":
                if said != b"+bloomery-\r\n":
                    yield f"{where}: {said!r}"
            elif name in (b"BF.SCANDUMP", b"BF.DEBUG") and not said.startswith(b"-"):
                if said[:2] != expected[:2]:
                    yield f"{where}: {said!r}, not like {expected!r}"
            elif name == b"BF.INFO" and not said.startswith(b"-"):
                field = words[2].upper() if len(words) > 2 else b""
                # Other false reports can make one sub-filter more or fewer: all numbers are compared
                # only in the recorded groups of few items.
                lax = group.startswith("random") or group in ("scaling", "expansion 1 and 4")
                if numbers_masked(said, lax or field == b"SIZE") != \
                        numbers_masked(expected, lax or field == b"SIZE"):
                    yield f"{where}: {said!r}, not {expected!r}"
            elif name == b"BF.CARD" and not said.startswith(b"-"):
                if said != b":%d\r\n" % oracle.new.get(key, 0):
                    yield f"{where}: {said!r}, but {oracle.new.get(key, 0)} were new"
            elif said != expected.replace(b"[1, 1073741824]", b"[1, 274877906944]"):
                yield f"{where}: {said!r}, not {expected!r}"
    print(f"{oracle.looked} looks for absent items, {oracle.false_reports} false reports")
    # Rates of 0.01 and lower but for few filters of 0.1: RedisBloom has 0.6 % here. Twice as
    # many as 2 % of a few thousand has a chance below 1e-9.
    if oracle.false_reports > 0.04 * oracle.looked:
        yield f"{oracle.false_reports} false reports in {oracle.looked} looks"


def main(module):
    failed = 0
    for title, arguments, judge in (("redisbloom", ("layout", "redisbloom"), complaints_of_redisbloom),
                                    ("default", (), complaints_of_default)):
        with Server(module, *arguments) as server:
            found = list(judge(server))
        print("\n".join(found[:20]))
        print(f"{title}: {len(found)} replies are not as they should be")
        failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
