#!/usr/bin/env python3
"""Dependencies point one way: cli, module, web -> store -> format -> filter -> hash, plan -> base.

Every #include of the shipped code is looked at. A file belongs to a room, by its folder in
src/ or, for a public header, by the table below; it may include its own room and those that
its room stands on.
"""

import pathlib
import re
import sys

STANDS_ON = {
    "base": [],
    "hash": ["base"],
    "plan": ["base"],
    "filter": ["hash", "plan"],
    "format": ["filter"],
    "store": ["format"],
    "legacy": ["hash", "plan"],
    "umbrella": ["store", "legacy"],
    "redis": ["format", "legacy"],
    "numbers": ["plan"],
    "cli": ["umbrella", "redis", "numbers"],
    "module": ["store", "legacy"],
    "web": ["plan", "numbers"],
}

ROOM_OF_PUBLIC_HEADER = {
    "error.hpp": "base",
    "version.hpp": "base",
    "hash.hpp": "hash",
    "plan.hpp": "plan",
    "scalable_plan.hpp": "plan",
    "window_plan.hpp": "plan",
    "detail/block.hpp": "filter",
    "detail/inline_block.hpp": "filter",
    "detail/kernel.hpp": "filter",
    "detail/counting_kernel.hpp": "filter",
    "detail/bit_memory.hpp": "base",
    "detail/keys.hpp": "hash",
    "detail/window_kernel.hpp": "filter",
    "filter_view.hpp": "filter",
    "filter.hpp": "filter",
    "counting_view.hpp": "filter",
    "counting_filter.hpp": "filter",
    "concurrent_filter.hpp": "filter",
    "scalable_filter.hpp": "filter",
    "window_filter.hpp": "filter",
    "kind.hpp": "plan",
    "counting_plan.hpp": "plan",
    "spec.hpp": "plan",
    "encode.hpp": "format",
    "filter_file.hpp": "store",
    "redis_filter.hpp": "redis",
    "redis_url.hpp": "redis",
    "module_dump.hpp": "redis",
    "module_filter.hpp": "redis",
    "rotating_redis_filter.hpp": "redis",
    "sharded_module_filter.hpp": "redis",
    "sharded_redis_filter.hpp": "redis",
    "sharded_redis_writer.hpp": "redis",
    "php_hash.hpp": "legacy",
    "php_filter.hpp": "legacy",
    "bloomery.hpp": "umbrella",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def reachable(room):
    rooms = {room}
    for below in STANDS_ON[room]:
        rooms |= reachable(below)
    return rooms


def room_of_file(path, root):
    """The room of one of our files; None for a folder that has no place in the order."""
    parts = path.relative_to(root).parts
    if "/".join(parts) in ("cli/numbers.hpp", "cli/numbers.cpp"):  # the tool and the page read numbers alike
        return "numbers"
    if parts[0] == "include":
        return ROOM_OF_PUBLIC_HEADER.get("/".join(parts[2:]))
    room = parts[1] if parts[0] == "src" else parts[0]
    return room if room in STANDS_ON else None


def resolve(include, includer, root):
    """The file of ours that an include names; None for the system's."""
    for base in (includer.parent, root / "src", root / "include", root):
        if (base / include).is_file():
            return (base / include).resolve()
    return None


def complaints(root):
    files = [f for d in ("src", "include", "cli", "module", "web/wasm") for f in sorted((root / d).rglob("*.[ch]pp"))]
    if not files:
        yield f"no source in {root}"
    for file in files:
        name = file.relative_to(root)
        room = room_of_file(file, root)
        if room is None:
            yield f"{name}: belongs to no room; give it one in {pathlib.Path(__file__).name}"
            continue
        for include in INCLUDE.findall(file.read_text()):
            target = resolve(include, file, root)
            other = room_of_file(target, root) if target else None
            if other and other not in reachable(room):
                yield f"{name} ({room}) includes {include} ({other}); {room} does not stand on {other}"


if __name__ == "__main__":
    found = list(complaints(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found) if found else "every dependency points down")
    sys.exit(1 if found else 0)
