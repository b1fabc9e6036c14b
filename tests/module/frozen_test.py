#!/usr/bin/env python3
"""A frozen filter that has come only in part denies nothing, however it is saved, copied or sent on meanwhile.

usage: frozen_test.py MODULE
"""

import struct
import sys

from expect import expect, says
from replicated_test import frozen_chunks
from server import Server, wait_until

ITEMS = [f"i{i}" for i in range(300)]
OTHERS = [f"i{i}" for i in range(300, 3001)]
LOADING = 32  # an option in the header (module/values/dump_header.cpp)
WRONG = 15  # of the others, which is pinned by replicated_test.py


def answers(server, key):
    return sum(server.ask("BF.MEXISTS", key, *ITEMS)), sum(server.ask("BF.MEXISTS", key, *OTHERS))


def is_maybe(server, key):
    expect(f"a part of {key}", answers(server, key), (len(ITEMS), len(OTHERS)))


def is_whole(server, key):
    expect(f"all of {key}", answers(server, key), (len(ITEMS), WRONG))


def rewritten(server):
    """Reads an AOF again that consists of commands."""
    server.ask("BGREWRITEAOF")
    wait_until("the AOF is rewritten",
               lambda: "aof_rewrite_in_progress:0" in server.ask("INFO", "persistence").decode())
    server.ask("DEBUG", "LOADAOF")


WAYS = {
    "DEBUG RELOAD": lambda server: server.ask("DEBUG", "RELOAD"),
    "the AOF": lambda server: server.ask("DEBUG", "LOADAOF"),
    "the rewritten AOF": rewritten,
    "COPY": lambda server: (server.ask("COPY", "f", "g", "REPLACE"), server.ask("COPY", "g", "f", "REPLACE")),
    "RESTORE": lambda server: server.ask("RESTORE", "f", 0, server.ask("DUMP", "f"), "REPLACE"),
}


def main(module):
    (_, header), (end, data) = frozen_chunks()
    parts = [(1 + len(data) * i // 4, data[len(data) * (i - 1) // 4:len(data) * i // 4]) for i in range(1, 5)]
    with Server(module, config=("--appendonly", "yes", "--appendfsync", "no",
                                "--aof-use-rdb-preamble", "no")) as server:
        # Options, and how much has come, as an RDB file has them: no client says that bytes came which did not.
        forged = header[:28] + struct.pack("<I", LOADING) + header[32:]
        for come, said in ((0, "OK"), (len(data), "OK"), (len(data) + 1, "ERR received bad data"), (2**64 - 1, "ERR received bad data")):
            server.ask("DEL", "f")
            says(server, said, "BF.LOADCHUNK", "f", 1, forged + struct.pack("<Q", come))
            if said == "OK":
                is_maybe(server, "f")
                says(server, "ERR a chunk before this one", "BF.LOADCHUNK", "f", *parts[3])
        for name, way in WAYS.items():
            for come in range(4):
                server.ask("DEL", "f", "g")
                expect("header", server.ask("BF.LOADCHUNK", "f", 1, header), "OK")
                for iterator, part in parts[:come]:
                    expect("a part", server.ask("BF.LOADCHUNK", "f", iterator, part), "OK")
                if come < 3:
                    says(server, "ERR a chunk before this one", "BF.LOADCHUNK", "f", *parts[come + 1])
                    says(server, "ERR a chunk before this one", "BF.LOADCHUNK", "f", *parts[3])
                is_maybe(server, "f")
                way(server)
                is_maybe(server, "f")
                for iterator in (0, 1):
                    says(server, "ERR the frozen filter is being loaded", "BF.SCANDUMP", "f", iterator)
                if come > 0:
                    expect(f"{name}: a part again", server.ask("BF.LOADCHUNK", "f", *parts[come - 1]), "OK")
                for iterator, part in parts[come:]:
                    is_maybe(server, "f")
                    expect(f"{name}: a part after it", server.ask("BF.LOADCHUNK", "f", iterator, part), "OK")
                is_whole(server, "f")
                way(server)
                is_whole(server, "f")
                expect("its end", server.ask("BF.SCANDUMP", "f", end)[0], 0)
        server.ask("BF.ADD", "g", "x")
        for words in (("BF.MERGE", "f", "g"), ("BF.MERGE", "g", "f"), ("BF.MERGE", "new", "f")):
            says(server, "ERR a frozen filter cannot be merged", *words)
        says(server, "ERR the filter is frozen, and would take no items", "BF.CLEAR", "f")
        expect("words", server.ask("BF.INFO", "f", "RESERVE"), [[b"0.01", b"300", b"FROZEN"]])
        expect("numbers", server.ask("BF.DEBUG", "f"), [
            b"size:300", b"bytes:%d fingerprintbits:7 partitions:1 narrow:0 capacity:300 ratio:0.01" % len(data)])
        is_whole(server, "f")


if __name__ == "__main__":
    main(*sys.argv[1:])
