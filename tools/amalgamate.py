#!/usr/bin/env python3
"""Writes the library's filters in memory as two files to copy: bloomery.hpp and bloomery.cpp.

usage: amalgamate.py ROOT DIRECTORY

It starts at the headers in ROOTS and finds every other file by #include lines. A header adds the source file of its
name, and a folder of src/ that was reached adds its sources without a header.

The source of an instruction set (SETS lists them) is put between pragmas that allow its instructions, in a namespace of
its own and with a copy of what it inlines. So the user needs no flag, and the program chooses the best set at run time,
as the library does.
"""

import collections
import pathlib
import re
import sys

ROOTS = ["filter", "counting_filter", "scalable_filter", "window_filter", "frozen_filter", "concurrent_filter", "encode", "kind", "plan",
         "counting_plan", "scalable_plan", "window_plan", "frozen_plan", "spec", "version"]
SETS = "src/filter/kernels/instruction_sets.hpp"
# What the sources of instruction sets share with the others: the types of kernels, the types that kernels work on, and
# the locks.
SHARED = ["include/bloomery/detail/kernel.hpp", "include/bloomery/detail/bit_array.hpp",
          "include/bloomery/detail/fuse.hpp", "include/bloomery/detail/stripes.hpp"]

# A function of kernels whose parameters are all shared types: without the namespace, the call would also find the
# library's function.
CALL = re.compile(r"(?<!bool )\beach_word\(")

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
INTRINSICS = re.compile(r"\b(immintrin|arm_neon)\.h\b")
INTERFACE = "namespace bloomery::detail {"
DEPENDENCIES = "xxHash (libxxhash-dev) and libsodium (libsodium-dev)"


class Tree:
    """The files of the library, and which of them they include."""

    def __init__(self, root):
        self.root = root
        self.sources = sorted((root / "src").rglob("*.cpp"))

    def target(self, line, includer):
        """The file of the library that a line includes, or None."""
        include = INCLUDE.match(line)
        folders = [self.root / "include", self.root / "src", includer.parent]
        return include and next((folder / include[2] for folder in folders if (folder / include[2]).is_file()), None)

    def reached(self, files):
        """These files, and all files that they include, directly or indirectly."""
        seen, waiting = set(), list(files)
        while waiting:
            file = waiting.pop()
            if file not in seen:
                seen.add(file)
                waiting += filter(None, (self.target(line, file) for line in lines_of(file)))
        return seen

    def room(self, file):
        return file.relative_to(self.root).parts[:2]

    def header_of(self, source):
        public = self.root / "include/bloomery"
        names = [source.with_suffix(".hpp"), public / f"{source.stem}.hpp", public / "detail" / f"{source.stem}.hpp"]
        return next((name for name in names if name.is_file()), None)

    def sources_for(self, headers):
        """The sources that a program with these headers needs."""
        found, more = [], headers
        while more:
            headers = self.reached([*headers, *more])
            rooms = {self.room(file) for file in headers}
            more = [source for source in self.sources if source not in found and
                    (self.header_of(source) in headers if self.header_of(source) else self.room(source) in rooms)]
            found += more
        return found


def lines_of(file):
    return file.read_text().splitlines()


class Text:
    """The text of files, each once and after the files that it includes, without #include lines of the library. Files
    in `elsewhere` are left out; `change` is applied to every line."""

    def __init__(self, tree, elsewhere=(), change=lambda line, file: line):
        self.tree, self.elsewhere, self.change = tree, set(elsewhere), change
        self.files, self.lines = set(), []

    def put(self, file):
        if file in self.files:
            return
        self.files.add(file)
        body = []
        for line in lines_of(file):
            if target := self.tree.target(line, file):
                self.put(target)
            elif line != "#pragma once":
                body.append(self.change(line, file))
        if file not in self.elsewhere:
            self.lines += ["", f"// ---- {file.relative_to(self.tree.root)}", *body]


def instruction_sets(tree):
    """{name: (condition of the preprocessor, features)}"""
    found, condition = {}, "1"
    for line in lines_of(tree.root / SETS):
        if branch := re.match(r"#(?:(?:el)?if (defined\(\w+\))|else)$", line):
            condition = branch[1] or "1"
        if entry := re.match(r"(?:#define .*)?\s+SET\((\w+), (.*)\)", line):
            found[entry[1]] = condition, re.findall(r'"([^"]+)"', entry[2])
    return found


def section(tree, name, condition, features, shared):
    """The kernels of one instruction set. Their names hide those of bloomery::detail."""
    inside = f"namespace bloomery::{name}_::detail {{"
    end = "}  // namespace bloomery::detail"

    def change(line, file):
        if line == INTERFACE:
            return inside
        return CALL.sub("detail::each_word(", line).replace(end, f"}}  // namespace bloomery::{name}_::detail")
    text = Text(tree, shared, change)
    text.put((tree.root / SETS).with_name(f"{name}.cpp"))
    lines = [inside, "using namespace bloomery::detail;", "}", *text.lines]
    if features:
        lines = [*allowed(features), *lines, *forbidden(features)]
    return ["", f"#if {condition}", *lines, INTERFACE,
            f"constexpr KernelSet {name}_kernels = bloomery::{name}_::detail::{name}_kernels;", "}", "#endif"]


def allowed(features):
    """From here on functions may use the CPU's features. clang does not define their macros by itself."""
    target = ",".join(features)
    lines = ["#if defined(__clang__)",
             f'#pragma clang attribute push(__attribute__((target("{target}"))), apply_to = function)', "#else",
             "#pragma GCC push_options", f'#pragma GCC target("{target}")',
             '#pragma GCC diagnostic push  // its own intrinsics, bug 105593',
             '#pragma GCC diagnostic ignored "-Wuninitialized"',
             '#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"', "#endif"]
    for macro in (f"__{feature.upper()}__" for feature in features):
        lines += [f"#if !defined({macro})", f"#define {macro} 1", f"#define BLOOMERY_DEFINED{macro}", "#endif"]
    return lines


def forbidden(features):
    lines = []
    for macro in (f"__{feature.upper()}__" for feature in features):
        lines += [f"#if defined(BLOOMERY_DEFINED{macro})", f"#undef {macro}", f"#undef BLOOMERY_DEFINED{macro}", "#endif"]
    return lines + ["#if defined(__clang__)", "#pragma clang attribute pop", "#else", "#pragma GCC diagnostic pop",
                    "#pragma GCC pop_options", "#endif"]


def own_names(file):
    """What a source declares in its unnamed namespaces."""
    for block in re.findall(r"^namespace \{$(.*?)^\}  // namespace$", file.read_text(), re.MULTILINE | re.DOTALL):
        yield from re.findall(r"^(?:struct|class|enum class|enum) (\w+)", block, re.MULTILINE)
        yield from re.findall(r"^using (\w+) =", block, re.MULTILINE)
        yield from re.findall(r"^(?!using )[A-Za-z_[][^\n=;(]*?\b(\w+)(?:\(| =|\{|\[|;)", block, re.MULTILINE)
        for values in re.findall(r"^enum \w+[^{]*\{(.*?)\}", block, re.MULTILINE | re.DOTALL):
            yield from re.findall(r"^\s*(\w+)", values.replace(",", "\n"), re.MULTILINE)


def renamed(tree, sources):
    """A change that gives different names to the things that several sources declare under one name. A function that a
    source's own headers declare too is an overload, and keeps its name."""
    users = collections.defaultdict(list)
    for source in sources:
        headers = "\n".join(file.read_text() for file in tree.reached([source]) - {source})
        for name in set(own_names(source)):
            if not re.search(rf"\b{name}\(", headers):
                users[name].append(source)
    new = {source: {} for source in sources}
    for name, files in users.items():
        for file in files[1:]:
            new[file][name] = f"{name}_of_{file.stem}"

    def change(line, file):
        return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: new[file].get(word[0], word[0]), line) if new.get(file) else line
    return change


def version_of(root):
    return re.findall(r"#define BLOOMERY_VERSION_\w+ (\d+)", (root / "include/bloomery/version.hpp").read_text())


def head(root, what):
    return [f"// Bloomery {'.'.join(version_of(root))}, {what}", "//",
            "// Written by ./dev amalgamate from the headers and sources of the library; do not edit it.",
            "// SPDX-License-Identifier: Apache-2.0"]


def main(root, directory):
    tree = Tree(root)
    roots = [root / "include/bloomery" / f"{name}.hpp" for name in ROOTS]
    sets = instruction_sets(tree)
    of_sets = [(root / SETS).with_name(f"{name}.cpp") for name in sets]
    sources = [source for source in tree.sources_for(roots) if source not in of_sets]

    header = Text(tree)
    for file in roots:
        header.put(file)
    source = Text(tree, header.files, renamed(tree, sources))
    for file in sources:
        source.put(file)

    # Everything that a kernel inlines must be compiled for its instruction set, also the details in headers.
    shared = {file for file in header.files | source.files if file.parent.name != "detail"}
    shared |= {root / name for name in SHARED}
    system = {line for file in tree.reached(of_sets) for line in lines_of(file)
              if INCLUDE.match(line) and not tree.target(line, file) and not INTRINSICS.search(line)}

    # Two libraries of one program may bring copies of different versions: the names of each copy are its own.
    version = "v" + "_".join(version_of(root))

    def write(file, lines):
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines) + "\n")
        file.write_text(re.sub(r"^namespace bloomery\b(?=.* \{$)", f"namespace bloomery::inline {version}", text, flags=re.MULTILINE))
        print(file)

    directory.mkdir(parents=True, exist_ok=True)
    write(directory / "bloomery.hpp", [
        *head(root, "filters in memory: compile bloomery.cpp with your program"), "#pragma once", *header.lines])
    write(directory / "bloomery.cpp", [
        *head(root, f"for bloomery.hpp. Needs {DEPENDENCIES}."),
        "// Compile it with -ffp-contract=off for CPUs with FMA (-march=native, aarch64): else plans may be rounded in another way",
        "// than on other machines, and filters with different plans cannot be merged.", '#include "bloomery.hpp"', "",
        *sorted(system),
        "#if defined(__x86_64__)", "#include <immintrin.h>", "#elif defined(__ARM_NEON)", "#include <arm_neon.h>", "#endif",
        *source.lines, *(line for name in sets for line in section(tree, name, *sets[name], shared))])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
