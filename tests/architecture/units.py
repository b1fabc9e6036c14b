#!/usr/bin/env python3
"""Which unit may include which, by every #include of the tree.

usage: units.py ROOT

A unit is a header with its source file: src/filter/x.hpp with src/filter/x.cpp; a public header, too, is one
with the file of its name below src/. Three laws:

1. Rooms depend on those below them: cli, bindings -> handle -> store, redis, module -> format -> filter ->
   hash, plan -> base. A room is a folder of src/ with all below it, or c, cli, module, web. A public header
   belongs to the room of its source file, and if it has none, the table below names the room.
2. No circles: units can be put in an order in which each includes only those before it.
3. Headers of src/ are private: c, cli, module, bench and examples include what is installed.

What breaks a law today is listed, and so is taken out of the list when it does not any more.
"""

import pathlib
import re
import sys

# The rooms that a room may include, besides all that these may.
STANDS_ON = {
    "base": [],
    "hash": ["base"],
    "plan": ["base"],
    "filter": ["hash", "plan"],
    "format": ["filter"],
    "store": ["format"],
    "legacy": ["hash", "plan"],
    "redis": ["format", "legacy"],
    "handle": ["store", "redis", "legacy"],
    "umbrella": ["handle"],
    "numbers": ["plan"],
    "c": ["handle"],
    "cli": ["umbrella", "numbers"],
    "module": ["store", "legacy"],
    "web": ["plan", "numbers"],
}

# Public headers that have no source file of their name.
ROOM_OF_HEADER = {
    "bloomery.hpp": "umbrella",
    "version.hpp": "base",
    "error.hpp": "base",
    "kind.hpp": "plan",
    "plan.hpp": "plan",
    "any_filter.hpp": "handle",
    "filter_stats.hpp": "handle",
    "detail/answers.hpp": "hash",
    "detail/keys.hpp": "hash",
    "detail/bit_array.hpp": "filter",
    "detail/block.hpp": "filter",
    "detail/fuse.hpp": "filter",
    "detail/inline_block.hpp": "filter",
    "detail/relaxed_block.hpp": "filter",
    "detail/kernel.hpp": "filter",
    "durability.hpp": "store",
    "module_messages.hpp": "redis",
    "concurrent_filter.hpp": "filter",
    "counting_filter.hpp": "filter",
    "filter.hpp": "filter",
    "detail/key_calls.hpp": "hash",
    "stats.hpp": "plan",
    "detail/owning.hpp": "filter",
    "detail/vectors.hpp": "filter",
}

# Rooms of src/ whose private headers a file or a folder may include after all.
USES_PRIVATE = {
    "module": ["base", "filter", "legacy"],  # the module is the library in another form, built with it
    "bench/highway_static.cpp": ["filter"],  # measures the parts themselves, as do those below
    "bench/php_bench.cpp": ["legacy"],
    "bench/redis_bench.cpp": ["redis"],
    "bench/redis_servers.hpp": ["redis"],
    "bench/window_bench.cpp": ["filter"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


class Tree:
    """The C++ files of some folders: their units, and what each includes of the others."""

    def __init__(self, root):
        self.root = root
        folders = ("include", "src", "c", "cli", "module", "web/wasm", "bench", "examples")
        self.files = [file for folder in folders for file in sorted((root / folder).rglob("*.[ch]pp"))]
        self.known = set(self.files)
        self.unit = {file: self.unit_of(file) for file in self.files}
        self.sources = {self.unit[file]: file for file in self.files if file.suffix == ".cpp"}
        self.includes = {file: list(self.included_by(file)) for file in self.files}

    def unit_of(self, file):
        """The header of a source file, or the file itself."""
        own = [file.with_suffix(".hpp")]
        if file.is_relative_to(self.root / "src"):
            public = self.root / "include/bloomery"
            own += [public / own[0].name, public / "detail" / own[0].name]
        return next((header for header in own if header in self.known), file)

    def included_by(self, file):
        for name in INCLUDE.findall(file.read_text()):
            for folder in (file.parent, self.root / "src", self.root / "include", self.root):
                if (folder / name).resolve() in self.known:
                    yield (folder / name).resolve()
                    break

    def name(self, file):
        return file.relative_to(self.root).as_posix()

    def room(self, file):
        """None for a folder that has no place in the order."""
        parts = file.relative_to(self.root).parts
        if parts[0] == "include":
            source = self.sources.get(file)
            return self.room(source) if source else ROOM_OF_HEADER.get("/".join(parts[2:]))
        if parts[0] == "cli" and file.stem == "numbers":  # the tool and the page read numbers alike
            return "numbers"
        room = parts[1] if parts[0] == "src" else parts[0]
        return room if room in STANDS_ON else None


def reachable(room):
    return {room}.union(*map(reachable, STANDS_ON[room]))


def against_the_order(tree):
    for file in tree.files:
        if tree.name(file).startswith(("bench/", "examples/")):
            continue
        room = tree.room(file)
        if room is None:
            yield f"{tree.name(file)} belongs to no room; give it one in {pathlib.Path(__file__).name}"
            continue
        for target in tree.includes[file]:
            other = tree.room(target)
            if other and other not in reachable(room):
                yield f"{tree.name(file)} includes {tree.name(target)}, and {room} does not stand on {other}"


    for name in ROOM_OF_HEADER:
        header = tree.root / "include/bloomery" / name
        if header not in tree.known or header in tree.sources:
            yield f"{name} needs no entry in ROOM_OF_HEADER any more; take it out"


def circles(edges):
    """The strongly connected parts of a graph that have more than one member (Tarjan 1972)."""
    number, lowest, stack = {}, {}, []

    def visit(unit):
        number[unit] = lowest[unit] = len(number)
        stack.append(unit)
        for other in edges.get(unit, ()):
            if other not in number:
                yield from visit(other)
            if other in stack:
                lowest[unit] = min(lowest[unit], lowest[other])
        if lowest[unit] == number[unit]:
            circle = stack[stack.index(unit):]
            del stack[stack.index(unit):]
            if len(circle) > 1:
                yield circle

    for unit in edges:
        if unit not in number:
            yield from visit(unit)


def in_circles(tree):
    edges = {}
    for file in tree.files:
        edges.setdefault(tree.unit[file], set()).update(tree.unit[other] for other in tree.includes[file])
        edges[tree.unit[file]].discard(tree.unit[file])
    for circle in circles(edges):
        yield "these include each other: " + ", ".join(sorted(map(tree.name, circle)))


def private_headers(tree):
    unused = {(user, room) for user, rooms in USES_PRIVATE.items() for room in rooms}
    for file in tree.files:
        folder = tree.name(file).split("/")[0]
        if folder not in ("c", "cli", "module", "bench", "examples"):
            continue
        for target in tree.includes[file]:
            if not tree.name(target).startswith("src/"):
                continue
            uses = {(user, tree.room(target)) for user in (folder, tree.name(file))
                    if tree.room(target) in USES_PRIVATE.get(user, [])}
            unused -= uses
            if not uses:
                yield f"{tree.name(file)} includes {tree.name(target)}, which is private"
    for user, room in sorted(unused):
        yield f"{user} includes nothing private of {room} any more; take it out of USES_PRIVATE"


def main(root):
    tree = Tree(root)
    found = [*against_the_order(tree), *in_circles(tree), *private_headers(tree)]
    if not tree.files:
        found = [f"no source in {root}"]
    print("\n".join(found) if found else f"{len(tree.files)} files include each other as they may")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
