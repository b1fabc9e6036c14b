#!/usr/bin/env python3
"""The commands CF.*: the same replies as RedisBloom's, and the same filters on every copy.

usage: cuckoo_test.py MODULE

RedisBloom 8.10's replies to 3,272 commands, its RDB file, and what it answers from that file are
golden: every byte must be the same, dumps too. Then copies: replicas whose settings differ, DUMP and
RESTORE, COPY, an AOF, SCANDUMP and LOADCHUNK. Then what must be refused.
"""

import random
import shutil
import sys

from hostile_test import cuckoo_header as header
from replicated_test import follow
from replies_test import GOLDEN, complaints_of_redisbloom, recorded
from server import ReplyError, Server, digests, dumped, free_port, wait_until

KEYS = ["k0", "k1", "k2"]


def replies_are_redisblooms(module):
    with Server(module) as server:
        yield from complaints_of_redisbloom(server, "redisbloom-cuckoo-replies.jsonl.xz")


def files_are_redisblooms(module):
    server = Server(module)
    shutil.copy(GOLDEN / "redisbloom-cuckoo.rdb", server.directory / "dump.rdb")
    with server:
        for again in (False, True):
            if again:  # from the file that the module writes
                before = digests(server)
                server.ask("SAVE")
                server.ask("DEBUG", "RELOAD")
                if digests(server) != before:
                    yield "a reload changed filters"
            for (_, protocol), commands in recorded("redisbloom-cuckoo-rdb-replies.jsonl.xz").items():
                connection = server.connect()
                connection.ask("HELLO", protocol)
                for words, expected in commands:
                    said = connection.ask_raw(*words)
                    if said != expected:
                        yield f"from a file: {words} {said!r}, not {expected!r}"
                connection.close()


def random_command(random_):
    key = random_.choice(KEYS)
    item = f"item:{random_.randrange(600)}"
    items = [f"item:{random_.randrange(600)}" for _ in range(random_.randrange(1, 40))]
    return random_.choices([
        ("CF.ADD", key, item),
        ("CF.ADDNX", key, item),
        ("CF.DEL", key, item),
        ("CF.INSERT", key, "ITEMS", *items),
        ("CF.INSERTNX", key, "CAPACITY", random_.choice((8, 64, 512)), "ITEMS", *items),
        ("CF.COMPACT", key),
        ("CF.RESERVE", key, random_.choice((8, 100)), "BUCKETSIZE", random_.choice((1, 2, 4)),
         "EXPANSION", random_.choice((0, 1, 2))),
        ("DEL", key)], weights=[8, 4, 16, 4, 2, 1, 2, 0.2])[0]


def try_to(server, *words):
    try:
        return server.ask(*words)
    except ReplyError as error:
        return str(error)


def copies_are_equal(module):
    """A replica whose settings differ, an AOF, and every other way to copy a filter."""
    random_ = random.Random(17)
    master = Server(module, "CF_INITIAL_SIZE", 64, "CF_MAX_EXPANSIONS", 6, port=free_port())
    with master:
        replica = Server(module, "cf-initial-size", 4096, "CF_BUCKET_SIZE", 8, "CF_EXPANSION_FACTOR",
                         4, "CF_MAX_ITERATIONS", 3, "CF_MAX_EXPANSIONS", 1, port=free_port(),
                         config=("--replicaof", f"127.0.0.1 {master.port}"))
        with replica:
            follow(master, replica)
            master.ask("CONFIG", "SET", "appendonly", "yes")
            compacted = 0
            for _ in range(20):
                for _ in range(200):
                    try_to(master, *random_command(random_))
                follow(master, replica)
                if digests(master) != digests(replica):
                    yield "a replica differs"
                compacted += sum(b"filters:1 " not in master.ask("CF.DEBUG", key)
                                 for key in KEYS if master.ask("EXISTS", key))
            if compacted == 0:
                yield "no filter has ever had two sub-filters"
            said = try_to(replica, "CF.COMPACT", "k0")
            if not said.startswith("READONLY"):
                yield f"a replica compacts: {said}"
        before = digests(master)
        for rewritten in (False, True):
            if rewritten:
                master.ask("CONFIG", "SET", "aof-use-rdb-preamble", "no")
                master.ask("BGREWRITEAOF")
                wait_until("the AOF is rewritten", lambda: b"aof_rewrite_in_progress:0" in
                           master.ask("INFO", "persistence") and b"aof_rewrite_scheduled:0" in
                           master.ask("INFO", "persistence"))
            master.ask("DEBUG", "LOADAOF")
            if digests(master) != before:
                yield f"an AOF brings other filters (rewritten: {rewritten})"
        yield from other_copies(master)


def other_copies(server):
    for key in [key for key in KEYS if server.ask("EXISTS", key)]:
        digest = server.ask("DEBUG", "DIGEST-VALUE", key)
        server.ask("COPY", key, "copied")
        server.ask("RESTORE", "restored", 0, server.ask("DUMP", key))
        for at, chunk in dumped(server, key, "CF"):
            server.ask("CF.LOADCHUNK", "loaded", at, chunk)
            server.ask("CF.LOADCHUNK", "loaded", at, chunk) if at > 1 else None
        for copy in ("copied", "restored", "loaded"):
            if server.ask("DEBUG", "DIGEST-VALUE", copy) != digest:
                yield f"{key} was {copy} otherwise"
            server.ask("DEL", copy)


def hostile_is_refused(module):
    with Server(module) as server:
        for wrong in (header(buckets=0), header(buckets=3), header(buckets=1 << 56), header(filters=0),
                      header(filters=65536), header(filters=1 << 63), header(bucket_size=0),
                      header(bucket_size=256), header(iterations=0), header(expansion=3),
                      header(expansion=0, filters=2), header(buckets=1 << 32),
                      header(expansion=32768, filters=4)):
            said = try_to(server, "CF.LOADCHUNK", "h", 1, wrong)
            if said != "Couldn't create filter!":
                yield f"{wrong!r}: {said}"
        server.ask("CF.RESERVE", "used", 8)
        server.ask("CF.ADD", "used", "a")
        before = server.ask("DEBUG", "DIGEST-VALUE", "used")
        for position in range(2, 10):
            said = try_to(server, "CF.LOADCHUNK", "used", position, b"\xff")
            if not said.startswith("ERR the chunk would overwrite"):
                yield f"a chunk was taken by a filter in use: {said}"
        if server.ask("DEBUG", "DIGEST-VALUE", "used") != before:
            yield "a refused chunk changed a filter"
        server.ask("CF.LOADCHUNK", "half", 1, header(items=5, buckets=4))
        for chunk, wanted in ((b"\1\0", "OK"), (b"\1\2", "OK"), (b"\3\2", "ERR the chunk")):
            if not try_to(server, "CF.LOADCHUNK", "half", 3, chunk).startswith(wanted):
                yield f"the chunk {chunk!r} of a filter that is being loaded: not {wanted}"
        server.ask("CF.LOADCHUNK", "none", 1, header(items=0, buckets=4))
        if try_to(server, "CF.LOADCHUNK", "none", 3, b"\1\0") != "OK":
            yield "a filter whose header counts no item is not being loaded"
        server.ask("CF.ADD", "half", "a")
        if try_to(server, "CF.LOADCHUNK", "half", 9, b"\1") == "OK":
            yield "a filter is being loaded after an item was added"
        payload = server.ask("DUMP", "used")
        for at in range(len(payload)):
            for value in (0, 1, 255):
                try_to(server, "RESTORE", "r", 0, payload[:at] + bytes([value]) + payload[at + 1:])
        if server.ask("PING") != "PONG":
            yield "the server is gone"


def changes_end_loading(module):
    """What changes the items of a filter ends its loading, and what changes nothing does not."""
    with Server(module) as server:
        server.ask("CF.RESERVE", "k", 8)
        server.ask("CF.ADD", "k", "there")  # the first entry of a bucket of two, so not the last of all
        (_, start), (last, entries) = dumped(server, "k", "CF")
        for words, ends in (
                (("ADD", "new"), True), (("ADDNX", "new"), True), (("ADDNX", "there"), False),
                (("INSERT", "ITEMS", "new"), True), (("INSERTNX", "ITEMS", "new"), True),
                (("INSERTNX", "ITEMS", "there"), False), (("DEL", "there"), True), (("DEL", "new"), False),
                (("COMPACT",), True), (("EXISTS", "there"), False), (("COUNT", "there"), False)):
            server.ask("DEL", "k")
            server.ask("CF.LOADCHUNK", "k", 1, start)
            server.ask("CF.LOADCHUNK", "k", last - 1, entries[:-1])
            server.ask(f"CF.{words[0]}", "k", *words[1:])
            said = try_to(server, "CF.LOADCHUNK", "k", last, b"\1")
            if said.startswith("ERR the chunk would overwrite") != ends:
                yield f"the last chunk after {words}: {said}"


def arguments_are_refused(module):
    with Server(module) as server:
        server.ask("CF.RESERVE", "empty", 8)
        server.ask("CONFIG", "SET", "bf.cf-bucket-size", 4, "bf.cf-initial-size", 7)
        arity = "ERR wrong number of arguments for 'cf.insert' command"
        of_insert = "Capacity must be in the range [cf-bucket-size * 2, 1073741824]"
        of_reserve = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
        for words, wanted in (
                (("CF.INSERT", "k", "NOCREATE", "CAPACITY"), arity),
                (("CF.INSERT", "k", "NOCREATE", "ITEMS"), arity),
                (("CF.INSERT", "k", "CAPACITY", 8), arity),
                (("CF.INSERT", "k", "", "ITEMS", "x"), "Unknown argument received"),
                (("CF.INSERT", "k", "nocreate", "items", "x"), "ERR not found"),
                (("CF.INSERT", "k", "capacity", 7, "ITEMS", "x"), of_insert),
                (("CF.INSERT", "k", "CAPACITY", 2**30 + 1, "ITEMS", "x"), of_insert),
                (("CF.ADD", "k", "x"), "ERR Could not create filter"),
                (("CF.RESERVE", "k", 100, "X", "MAXITERATIONS"), "Couldn't parse MAXITERATIONS"),
                (("CF.RESERVE", "k", 7), of_reserve), (("CF.RESERVE", "k", 2**30 + 1), of_reserve),
                *((("CF.LOADCHUNK", "empty", position, b"\1\1"), "Couldn't load chunk!")
                  for position in (2, -1, -2**63, 10, 2**63 - 1)),
                (("CF.LOADCHUNK", "empty", 3, b""), "Couldn't load chunk!"),
                (("CF.SCANDUMP", "empty", 0), [0, None]), (("CF.SCANDUMP", "empty", 1), [0, None])):
            said = try_to(server, *words)
            if said != wanted:
                yield f"{words}: {said}, not {wanted}"
        if server.ask("EXISTS", "k"):
            yield "a filter was made"
        for capacity in (8, 2**30):
            if server.ask("CF.INSERT", f"k{capacity}", "CAPACITY", capacity, "ITEMS", "x") != [1]:
                yield f"a filter for {capacity} items is not made"


def aof_of(server):
    return b"".join(file.read_bytes() for file in server.directory.glob("appendonlydir/*.aof"))


def is_replicated(module):
    """What is added only if it is absent is decided by the master; no write gets past a pause."""
    with Server(module, config=("--appendonly", "yes", "--appendfsync", "always")) as server:
        server.ask("CF.ADDNX", "k", "a")
        server.ask("CF.INSERTNX", "k", "ITEMS", "a", "b", "c")
        server.ask("CF.ADD", "k", "d")
        aof = aof_of(server)
        if b"NX" in aof or aof.count(b"CF.INSERT") != 2 or b"CF.ADD" not in aof:
            yield f"the AOF has {aof}"
        before = server.ask("DEBUG", "DIGEST")
        server.ask("DEBUG", "LOADAOF")
        if server.ask("DEBUG", "DIGEST") != before:
            yield "the AOF brings another filter"
        other = server.connect()
        other.ask("CLIENT", "PAUSE", 200, "WRITE")
        if server.ask("CF.COMPACT", "k") != "OK" or other.ask("PING") != "PONG":
            yield "CF.COMPACT does not wait for the end of a pause"
        said = try_to(server, "EVAL_RO", "return redis.call('CF.COMPACT', KEYS[1])", 1, "k")
        if "Write commands are not allowed" not in said:
            yield f"a script that reads compacts: {said}"


def main(module):
    failed = 0
    for part in (replies_are_redisblooms, files_are_redisblooms, copies_are_equal, hostile_is_refused,
                 changes_end_loading, arguments_are_refused, is_replicated):
        found = list(part(module))
        print("\n".join(found[:10]))
        print(f"{part.__name__}: {len(found)} complaints")
        failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
