#!/usr/bin/env python3
"""What a compiler says of code that cannot work: one sentence that tells how to change it.

usage: compile_errors.py COMPILER INCLUDE_DIRECTORY
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

KEY = "a key is an integer of up to 64 bits, but no character; text (std::string_view); or bytes"
KEYS = "keys are a range of integers, text or bytes"
ANSWERS = "answers are a range of bools or other integers: std::vector<bool>, std::span<bool>"
THREADS = "several threads take keys that are contiguous and have a size, as in a std::vector"
LANGUAGE = "Bloomery needs C++20: compile with -std=c++20"
EXCEPTIONS = "Bloomery reports errors by exceptions: compile without -fno-exceptions"
CPU = "Bloomery is for 64-bit CPUs: compile without -m32"

# Code, the standard with other flags, and what the first error says; whether it is the only one.
CASES = [
    ("filter.insert(std::uint64_t{1});", "c++20", None, True),
    ("filter.insert(2.5);", "c++20", KEY, True),
    ("(void)filter.may_contain('x');", "c++20", KEY, True),
    ("volatile char x = 'x'; filter.insert(x);", "c++20", KEY, True),
    ("filter.insert(nullptr);", "c++20", KEY, True),
    ("filter.insert(std::vector<int>{});", "c++20", KEY, True),
    ("filter.insert_many(std::vector<double>{});", "c++20", KEYS, True),
    ("filter.may_contain_many(7);", "c++20", KEYS, True),
    ("std::vector<double> no; filter.insert_many(std::vector<int>{}, no);", "c++20", ANSWERS, True),
    ("filter.insert_many(std::vector<int>{}, std::span<bool>{}, 4);", "c++20", None, True),
    ("filter.insert_many(std::list<int>{}, std::span<bool>{}, 4);", "c++20", THREADS, True),
    ("filter.may_contain_many(ToZero{}, std::span<bool>{}, 4);", "c++20", THREADS, True),
    ("filter.insert_many(std::vector<double>{}, std::span<bool>{}, 4);", "c++20", KEYS, True),
    ("filter.insert_many(7, std::span<bool>{}, 4);", "c++20", KEYS, True),
    ("std::vector<double> no; filter.insert_many(std::vector<int>{}, no, 4);", "c++20", ANSWERS, True),
    ("any.insert_many(ToZero{}); any.may_contain_many(ToZero{});", "c++20", None, True),
    ("any.insert(std::uint64_t{1}); std::vector<bool> out(1); any.insert_many(std::vector<int>{1}, out);", "c++20",
     None, True),
    ("any.insert(2.5);", "c++20", KEY, True),
    ("(void)any.may_contain('x');", "c++20", KEY, True),
    ("any.remove(2.5F);", "c++20", KEY, True),
    ("any.insert_many(std::vector<double>{});", "c++20", KEYS, True),
    ("any.may_contain_many(7);", "c++20", KEYS, True),
    ("any.remove_many(7);", "c++20", KEYS, True),
    ("std::vector<double> no; any.may_contain_many(std::vector<int>{}, no);", "c++20", ANSWERS, True),
    ("", "c++17", LANGUAGE, False),
    ("", "c++20 -fno-exceptions", EXCEPTIONS, False),
    # As with -m32, for which a compiler needs more packages.
    ("", "c++20 -U__SIZEOF_INT128__", CPU, False),
]


STANDARD = "c++20"  # the headers are precompiled with it
INCLUDED = "bloomery/any_filter.hpp", "bloomery/filter.hpp", "list", "vector"
HEADERS = "".join(f"#include <{name}>\n" for name in INCLUDED)
# Contiguous, and without a size.
HEADERS += """
struct Zero { friend bool operator==(const std::uint64_t* at, Zero) { return *at == 0; } };
struct ToZero {
  std::uint64_t keys[3] = {1, 2, 0};
  const std::uint64_t* begin() const { return keys; }
  Zero end() const { return {}; }
};
"""


def errors_of(compiler, include, cases):
    """What the compiler says of each of these cases, all of the same flags, in one program: a list of errors for each
    piece of code."""
    source = "".join(f'#line 1 "case_{i}"\nvoid use_{i}(bloomery::Filter& filter, bloomery::AnyFilter& any) '
                     f"{{ (void)filter; (void)any; {case[0]} }}\n" for i, case in enumerate(cases))
    standard = cases[0][1]
    headers = "precompiled.hpp" if standard == STANDARD else "headers.hpp"
    flags = [*f"-std={standard}".split(), "-fsyntax-only", f"-I{include}", "-include", headers]
    run = subprocess.run([compiler, "-x", "c++", *flags, "-"], input=source, capture_output=True, text=True, check=False)
    errors, at = [[] for _ in cases], 0
    for line in run.stderr.splitlines():
        # An error in a header follows the line of the case that needs it.
        if found := re.match(r"case_(\d+):", line):
            at = int(found[1])
        if "error:" in line:
            errors[at].append(line)
    return errors


def is_good(case, errors):
    _, _, expected, only = case
    if expected is None:
        return not errors
    return bool(errors) and expected in errors[0] and (len(errors) == 1 or not only)


def failures(compiler, include, cases):
    """The cases that are not as they should be, with what the compiler says. It says what is wrong with a type only
    once, so cases whose error another one has had are in the next program."""
    while cases:
        errors = errors_of(compiler, include, cases)
        left = [(case, said) for case, said in zip(cases, errors) if not is_good(case, said)]
        if len(left) == len(cases):
            return left
        cases = [case for case, _ in left]
    return []


def main(compiler, include):
    os.chdir(scratch := tempfile.mkdtemp())
    pathlib.Path("headers.hpp").write_text(HEADERS)
    subprocess.run([compiler, "-x", "c++-header", f"-std={STANDARD}", f"-I{include}", "headers.hpp", "-o",
                    "precompiled.hpp.gch"], check=True)
    # What compiles is by itself, so that no error of other code hides one there.
    groups = {}
    for case in CASES:
        groups.setdefault((case[1], case[2] is None), []).append(case)
    failed = [failure for cases in groups.values() for failure in failures(compiler, include, cases)]
    for (code, standard, expected, _), errors in failed:
        print(f"{code or 'nothing but the headers'} in {standard}: expected {expected!r}, and the errors are",
              *errors[:5], sep="\n  ")
    shutil.rmtree(scratch)
    print(f"{len(CASES) - len(failed)} of {len(CASES)} pieces of code are refused, or taken, as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
