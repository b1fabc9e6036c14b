#!/usr/bin/env python3
"""Whatever a document points to is there: its links, and the files that it names.

usage: references.py ROOT FILE...

Looked at are relative links, with their #anchors, and every `path` in backquotes that begins
with one of our folders.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:bench|cli|cmake|docs|examples|fuzz|include|packaging|src|tests|tools)/[\w./-]*)`")
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(document):
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", document.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def complaints(root, document):
    text = BLOCK.sub("", document.read_text())
    for link in LINK.findall(text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if not target.exists():
            yield f"links to {link}, which is not there"
        elif anchor and anchor not in anchors(target):
            yield f"links to {link}, which has no such heading"
    for name in NAMED.findall(text):
        if not (root / name).exists():
            yield f"names `{name}`, which is not there"


def main(root, documents):
    found = [f"{document.relative_to(root)} {complaint}" for document in documents
             for complaint in complaints(root, document)]
    print("\n".join(found) if found else f"{len(documents)} documents point to what is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]))
