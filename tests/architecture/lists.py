#!/usr/bin/env python3
"""Layouts, kinds, instruction sets and forms of addresses: every list of them that no compiler compares.

usage: lists.py ROOT

The library's are the enumerations of plan.hpp and kind.hpp; which layouts people are offered cli/flags/options.hpp
says. A list that has others, or has them in another order, is named.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])


def text(file):
    return (ROOT / file).read_text()


def part(file, pattern):
    """What the group of the pattern matches; a pattern that matches nothing is an error, and no empty list."""
    found = re.search(pattern, text(file), re.DOTALL)
    return found.group(1) if found else sys.exit(f"{file} has nothing like {pattern}")


def numbers(file, name):
    return {word: int(number) for word, number in re.findall(r"(\w+) = (\d+)", part(file, f"enum class {name}[^{{]*{{(.*?)}}"))}


def words(file, pattern, word=r'"(\w+)"'):
    return [found.lower() for found in re.findall(word, part(file, pattern))]


layouts = numbers("include/bloomery/plan.hpp", "Layout")
kinds = numbers("include/bloomery/kind.hpp", "Kind")
sets = sorted(set(re.findall(r"SET\(([a-z]\w*),", text("src/filter/kernels/instruction_sets.hpp"))))
forms = set(re.findall(r"^//   ([a-z][a-z+]*://)", text("include/bloomery/any_filter.hpp"), re.MULTILINE))
offered = words("cli/flags/options.hpp", r"kOfferedLayouts\{(.*?)\}", r"Layout::(\w+)")

FLAG = r'"{0}", "{1}", "([a-z0-9|]*)"'
wrong = [f"{file} has {', '.join(found)} and should have {', '.join(there)}"
         for file, found, there in (
             ("docs/format.md", words("docs/format.md", r"\| layout: (.*?) \|", r"\d (\w+)"), list(layouts)),
             ("docs/format.md", words("docs/format.md", r"\| kind: (.*?) \|", r"\d (\w+)"), list(kinds)),
             ("include/bloomery/declarations.h",
              words("include/bloomery/declarations.h", r"enum bloomery_layout \{(.*?)\}", r"BLOOMERY_(\w+) ="), offered),
             ("include/bloomery/declarations.h",
              words("include/bloomery/declarations.h", r"enum bloomery_kind \{(.*?)\}", r"BLOOMERY_(\w+) ="), list(kinds)),
             ("cli/flags/flags.cpp", words("cli/flags/flags.cpp", FLAG.format("layout", "LAYOUT"), r"\w+"), offered),
             ("cli/flags/flags.cpp", words("cli/flags/flags.cpp", FLAG.format("kind", "KIND"), r"\w+"), list(kinds)),
             ("python/bloomery/_request.py", words("python/bloomery/_request.py", r"LAYOUTS = \{(.*?)\}"), offered),
             ("python/bloomery/_request.py", words("python/bloomery/_request.py", r"KINDS = \{(.*?)\}"), list(kinds)),
             ("php/options.c", words("php/options.c", r"bloomery_layouts\[\] = \{(.*?)\}"), offered),
             ("php/options.c", words("php/options.c", r"bloomery_kinds\[\] = \{(.*?)\}"), list(kinds)),
             ("web/src/planner.ts", words("web/src/planner.ts", r"ALL_LAYOUTS[^=]*= \[(.*?)\]"), list(layouts)),
             ("web/src/planner.ts", words("web/src/planner.ts", r"KINDS[^=]*= \[(.*?)\]"), list(kinds)),
             ("include/bloomery/detail/kernel.hpp",
              sorted(words("include/bloomery/detail/kernel.hpp", r"BLOOMERY_KERNEL names \((.*?)\)")), sets),
             ("cli/flags/topics.cpp", sorted(words("cli/flags/topics.cpp", r"instruction set \((.*?)\)", r"\w+")), sets),
             ("docs/configuration.md",
              sorted(words("docs/configuration.md", r"forces a kernel: (.*?);", r"`(\w+)`")), sets),
             ("cli/flags/topics.cpp", [form for form in sorted(forms) if form in text("cli/flags/topics.cpp")], sorted(forms)),
         ) if found != there]
print("\n".join(wrong) if wrong else f"{len(layouts)} layouts, {len(kinds)} kinds, {len(sets)} instruction sets, {len(forms)} forms of addresses are in every list")
sys.exit(1 if wrong else 0)
