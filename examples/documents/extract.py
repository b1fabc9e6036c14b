#!/usr/bin/env python3
"""The programs in the documents, as source files: what people copy must compile.

usage: extract.py OUT_DIR FILE...

From Markdown: every block marked ```cpp; and ```cpp redis, whose name begins with `redis_`: it needs
the Redis client, and a server to be run. From a header: the first lines of its opening comment
that are indented by three spaces. A block without `main` becomes the body of one. Prints
the path of each program, one per line.
"""

import pathlib
import re
import sys


def blocks_of_markdown(text):
    """(prefix of the name, block) of each."""
    return [("redis_" if redis else "", block) for redis, block in
            re.findall(r"^```cpp( redis)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def blocks_of_header(text):
    block = re.search(r"^(?://   .*\n(?://\n)*)+", text, re.MULTILINE).group()
    return [("", "".join(line[5:] + "\n" for line in block.splitlines()))]


def program_of(block):
    if "main(" in block:
        return block
    if block.startswith("#include"):
        return block + "\nint main() {}\n"
    return f"#include <bloomery/bloomery.hpp>\n\n#include <cstdio>\n\nint main() {{\n{block}}}\n"


def main(out, files):
    out.mkdir(parents=True, exist_ok=True)
    for file in files:
        text = file.read_text()
        blocks = blocks_of_header(text) if file.suffix == ".hpp" else blocks_of_markdown(text)
        for number, (prefix, block) in enumerate(blocks, 1):
            path = out / f"{prefix}{file.stem.lower()}_{number}.cpp"
            program = f"// Block {number} of {file.name}.\n" + program_of(block)
            # An unchanged file keeps its time, and so is not compiled again.
            if not path.exists() or path.read_text() != program:
                path.write_text(program)
            print(path)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]])
