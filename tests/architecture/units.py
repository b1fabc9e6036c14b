#!/usr/bin/env python3
"""Which unit may include which, by every #include of the tree.

usage: units.py ROOT

A unit is a header with its source file: src/filter/x.hpp with src/filter/x.cpp; a public header, too, is one
with the file of its name below src/. The laws:

1. Rooms depend on those below them: cli, bindings -> handle -> store, redis, module -> format -> filter ->
   hash, plan -> base. A room is a folder of src/ with all below it, or c, cli, module, web. A public header
   belongs to the room of its source file, and if it has none, the table below names the room.
2. No circles: units can be put in an order in which each includes only those before it.
3. No circles among folders: src/redis/shards stands on src/redis/wire, which knows nothing of it.
4. No folder is a tower: a chain of includes within it has at most MOST_FLOORS units.
5. Headers of src/, c, cli and module, and those of include/bloomery/detail, are private: other folders include
   what is installed.
6. A quoted #include names a file of the tree; one that this test could not follow would hide what it leads to.

What breaks a law today is listed, and so is taken out of the list when it does not any more.
"""

import os
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
    "durability.hpp": "base",
    "error.hpp": "base",
    "kind.hpp": "plan",
    "plan.hpp": "plan",
    "any_filter.hpp": "handle",
    "filter_stats.hpp": "handle",
    "detail/answers.hpp": "hash",
    "detail/key_parts.hpp": "hash",
    "detail/text_calls.hpp": "hash",
    "detail/keys.hpp": "hash",
    "detail/bit_array.hpp": "filter",
    "detail/block.hpp": "filter",
    "detail/fuse.hpp": "filter",
    "detail/inline_block.hpp": "filter",
    "detail/relaxed_block.hpp": "filter",
    "detail/kernel.hpp": "filter",
    "module_messages.hpp": "redis",
    "concurrent_filter.hpp": "filter",
    "counting_filter.hpp": "filter",
    "filter.hpp": "filter",
    "detail/key_calls.hpp": "hash",
    "stats.hpp": "plan",
    "detail/owning.hpp": "filter",
    "detail/vectors.hpp": "filter",
}

# Rooms whose private headers a file or a folder may include after all; "detail" is include/bloomery/detail.
USES_PRIVATE = {
    "module": ["base", "filter", "legacy", "detail"],  # is the library in another form, built with it
    "web": ["numbers"],  # reads numbers as the tool does
    "bench": ["detail"],  # measures the parts themselves, as do those below
    "bench/redis/floor.cpp": ["module"],
    "bench/highway_static.cpp": ["filter"],
    "bench/php_bench.cpp": ["legacy"],
    "bench/quotient_candidates.hpp": ["module"],
    "bench/redis_bench.cpp": ["redis"],
    "bench/redis_servers.hpp": ["redis"],
    "bench/window_bench.cpp": ["filter"],
}

MOST_FLOORS = 5

# Below which folders a quoted #include is looked for, besides the one of the file.
INCLUDED_FROM = ("src", "include", "c", "cli", "module", "bench", "")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


class Tree:
    """The C++ files of some folders: their units, and what each includes of the others."""

    def __init__(self, root):
        self.root = root
        folders = ("include", "src", "c", "cli", "module", "web/wasm", "bench", "examples")
        self.files = [file for folder in folders for file in sorted((root / folder).rglob("*.[ch]pp"))]
        self.known = set(self.files)
        self.by_path = {str(file): file for file in self.files}
        self.unit = {file: self.unit_of(file) for file in self.files}
        self.sources = {self.unit[file]: file for file in self.files if file.suffix == ".cpp"}
        self.unknown = []
        self.includes = {file: list(self.included_by(file)) for file in self.files}

    def unit_of(self, file):
        """The header of a source file, or the file itself."""
        own = [file.with_suffix(".hpp")]
        if file.is_relative_to(self.root / "src"):
            public = self.root / "include/bloomery"
            own += [public / own[0].name, public / "detail" / own[0].name]
        return next((header for header in own if header in self.known), file)

    def included_by(self, file):
        top = self.root / file.relative_to(self.root).parts[0]
        folders = [str(file.parent), str(top), *(str(self.root / folder) for folder in INCLUDED_FROM)]
        for mark, name in INCLUDE.findall(file.read_text()):
            paths = [os.path.normpath(f"{folder}/{name}") for folder in folders]
            found = next((self.by_path[path] for path in paths if path in self.by_path), None)
            if found:
                yield found
            elif mark == '"' and not any(map(os.path.exists, paths)):
                self.unknown.append((file, name))

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

    def folder(self, file):
        """Where a file stands; a public header, where its source file does."""
        unit = self.unit[file]
        if not self.name(unit).startswith("include/"):
            return self.name(file.parent)
        return self.name(self.sources[unit].parent) if unit in self.sources else f"src/{self.room(unit)}"


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


def graph(tree, node):
    """What `node` makes of each file, and of the files that it includes."""
    edges = {}
    for file in tree.files:
        edges.setdefault(node(file), set()).update(node(other) for other in tree.includes[file])
    return {one: others - {one} for one, others in edges.items()}


def in_circles(tree):
    for circle in circles(graph(tree, lambda file: tree.unit[file])):
        yield "these include each other: " + ", ".join(sorted(map(tree.name, circle)))
    for circle in circles(graph(tree, tree.folder)):
        yield "these folders include each other: " + ", ".join(sorted(circle))


def too_high(tree):
    """Public headers stand in one folder, whatever they are of, and do not count. Circles have no height."""
    edges = graph(tree, lambda file: tree.unit[file])
    if any(circles(edges)):
        return
    heights = {}

    def height(unit):
        if unit not in heights:
            heights[unit] = 1 + max((height(other) for other in edges.get(unit, ()) if other.parent == unit.parent), default=0)
        return heights[unit]

    for unit in edges:
        if not tree.name(unit).startswith("include/") and height(unit) > MOST_FLOORS:
            yield f"{tree.name(unit)} stands on {height(unit) - 1} floors of {tree.name(unit.parent)}; give the folder rooms"


def private_room(tree, header):
    """Of a header that is not installed for all: whose it is."""
    parts = header.relative_to(tree.root).parts
    if parts[0] == "include":
        return "detail" if "detail" in parts else None
    return tree.room(header)


def private_headers(tree):
    unused = {(user, room) for user, rooms in USES_PRIVATE.items() for room in rooms}
    for file in tree.files:
        folder = tree.name(file).split("/")[0]
        own = ("src", "include") if folder in ("src", "include") else (folder,)
        for target in tree.includes[file]:
            room = private_room(tree, target)
            if room is None or tree.name(target).startswith(own):
                continue
            uses = {(user, room) for user in (folder, tree.name(file)) if room in USES_PRIVATE.get(user, [])}
            unused -= uses
            if not uses:
                yield f"{tree.name(file)} includes {tree.name(target)}, which is private"
    for user, room in sorted(unused):
        yield f"{user} includes nothing private of {room} any more; take it out of USES_PRIVATE"


def unknown_names(tree):
    for file, name in tree.unknown:
        yield f'{tree.name(file)} includes "{name}", which is nowhere'


def broken_laws(root):
    tree = Tree(root)
    if not tree.files:
        return tree, [f"no source in {root}"]
    laws = (against_the_order, in_circles, too_high, private_headers, unknown_names)
    return tree, [sentence for law in laws for sentence in law(tree)]


def main(root):
    tree, found = broken_laws(root)
    print("\n".join(found) if found else f"{len(tree.files)} files include each other as they may")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
