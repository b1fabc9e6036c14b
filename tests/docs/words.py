#!/usr/bin/env python3
"""Words have one meaning: none that the glossary retires is used, and every term that it explains is.

usage: words.py ROOT

Looked at are documents, public headers, the text literals and comments of all code (help texts, messages,
explanations), and the parts of the names in it.
"""

import pathlib
import re
import sys

MOST_TERMS = 40
# Text literals, also those that a compiler joins, and comments; not the code around them.
PROSE = re.compile(r'"((?:[^"\\\n]|\\.)*)"|//([^\n]*)|/\*(.*?)\*/', re.DOTALL)
# What other programs print or what an inner language has is quoted; file names are no prose.
QUOTED = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
# A name that is defined here; behind a point or an arrow stand names of other libraries too.
NAME = re.compile(r"(?<![.>\w])[A-Za-z_]\w+")
PART_OF_NAME = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
CODE = ("cli", "src", "module", "include/bloomery/detail", "c", "php", "python", "bench", "tests", "examples", "fuzz",
        "web/src", "web/wasm")


def rows(glossary, heading):
    """The first cells of the table behind a heading, without its head."""
    _, _, text = glossary.partition(heading)
    cells = []
    for line in text.splitlines():
        if line.startswith("#") and cells:
            break
        if line.startswith("| "):
            cells.append(line.split("|")[1].strip())
    return cells[1:]


def words_of(cells):
    return [word.strip() for cell in cells for word in cell.split(",")]


def pattern(words):
    """Any of the words, the longest that is there."""
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(r"\s+".join(map(re.escape, word.split())) for word in longest_first)
                      + r")(?![\w-])", re.IGNORECASE)


def prose(source):
    """The text literals and comments of C, C++ or TypeScript, each on lines of its own."""
    found = PROSE.finditer(re.sub(r'"\s*\n\s*"', "", source))
    return "\n".join(re.sub(r"\n\s*\*", "\n", "".join(filter(None, at.groups()))) for at in found)


def texts(root):
    """(name, text) of everything that users read."""
    for file in sorted([*root.glob("*.md"), *root.glob("docs/*.md")]):
        if file.name != "glossary.md" and "zh-CN" not in file.name:
            yield file, QUOTED.sub("", file.read_text())
    headers = root / "include"
    for file in sorted([headers / "bloomery.h", *(headers / "bloomery").glob("*.h*")]):
        yield file, re.sub(r"\n\s*(//|\*)", "\n", file.read_text())
    for file in code(root, *CODE):
        text = file.read_text()
        yield file, text if file.suffix in (".py", ".php", ".phpt") else prose(text)


def code(root, *folders):
    suffixes = (".c", ".cpp", ".hpp", ".h", ".ts", ".mjs", ".py", ".php", ".phpt")
    return [file for folder in folders for file in sorted((root / folder).rglob("*"))
            if file.suffix in suffixes and "node_modules" not in file.parts and file.name != "words.py"]


def retired_names(root, retired):
    """The names in the code that have a retired word as a part: kMend, pour_bits, SettledKeys."""
    for file in code(root, *CODE, "include"):
        for name in sorted(set(NAME.findall(file.read_text()))):
            for word in sorted(retired & {part.lower() for part in PART_OF_NAME.findall(name)}):
                yield f"{file.relative_to(root)} has a name with '{word}': {name}"


def main(root):
    glossary = (root / "docs/glossary.md").read_text()
    cells = rows(glossary, "# Glossary")
    retired = set(words_of(rows(glossary, "## Words that are not used")))
    everything = list(texts(root))
    found = []
    if len(cells) > MOST_TERMS:
        found.append(f"docs/glossary.md has {len(cells)} terms, more than {MOST_TERMS}")
    any_retired = pattern(retired)
    for file, text in everything:
        found += [f"{file.relative_to(root)} has '{' '.join(at.group().split())}': "
                  f"{' '.join(text[max(0, at.start() - 40):at.end() + 40].split())}" for at in any_retired.finditer(text)]
    found += retired_names(root, {word for word in retired if re.fullmatch("[a-z]+", word)})
    # A term may stand in quotes, as the name of a flag does.
    read = "\n".join(file.read_text() for file, _ in everything)
    found += [f"docs/glossary.md explains '{term}', which nothing uses" for term in words_of(cells)
              if not re.search(re.escape(term).replace(r"\ ", r"[\s-]+"), read, re.IGNORECASE)]
    if not retired or not everything:
        found.append("nothing was looked at")
    print("\n".join(found) if found else f"{len(cells)} terms are used, {len(retired)} words are not, in {len(everything)} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
