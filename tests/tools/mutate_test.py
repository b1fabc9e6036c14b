"""usage: mutate_test.py SOURCE_DIR

Mutants are found where code does something, and nowhere else; each is tried on a copy, which is whole again
afterwards, and counted as what it is. The tree that it is tried with has one file, a test with a hole, and
programs in the place of cmake and ninja.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SOURCE / "tools"))
sys.dont_write_bytecode = True

import mutate  # noqa: E402
from mutations import mutants_of  # noqa: E402


def expect(what, said, wanted):
    if said != wanted:
        raise AssertionError(f"{what}: {said!r}, not {wanted!r}")


def lines_of(source):
    """What becomes of each line; a name of one letter is a statement's place."""
    text = "void f() {\n" + source + "\n}\n"
    return [mutant.apply(text).split("\n")[mutant.line - 1].strip() for mutant in mutants_of(text)]


def finds_mutants():
    for source, wanted in {
        "if (a < 2) return;": ["if (a <= 2) return;", "if (a >= 2) return;", "if (a < 3) return;",
                               "if (a < 1) return;", "if (!(a < 2)) return;", ";"],
        "return a && b == c;": ["return a || b == c;", "return a && b != c;"],
        "x += call(a, b);": ["x -= call(a, b);", "x += call(b, a);", ";"],
        "const auto x = y ? one : other;": ["const auto x = y ? other : one;"],
        "const auto x = std::min(a, b);": ["const auto x = std::max(a, b);", "const auto x = std::min(b, a);"],
        "thing.push_back(a);": [";"],
        "++x;": ["--x;", ";"],
        "const unsigned x = 0xFFU;": ["const unsigned x = 0x100U;", "const unsigned x = 0xfeU;"],
        "const unsigned x = 0077U;": ["const unsigned x = 0100U;", "const unsigned x = 0076U;"],
        "const auto x = 1'000;": ["const auto x = 1001;", "const auto x = 999;"],
        "const bool x = false;": ["const bool x = true;"],
        # What a line shows to be a text, a type or a declaration is left alone.
        "// if (a < 2) return;": [], "/* a + b */": [], "#include <a>": [], '#if X < 2': [],
        'throw Error(name + " a < b && 3: " + text);': [],
        "const auto x = 'a';": [], "const auto x = 1.5;": [], "const std::vector<int>& x = y;": [],
        "template <int n = 3>": [], "using X = Y<3>;": [], "static_assert(sizeof(int) == 4);": [],
        "[[nodiscard]] int f(int x = 3) const;": [], "void call(int a, int b) noexcept;": [], "class X : Y {": [],
        "case 3:": [], "call(a,\n     b + c);": ["b - c);"],
    }.items():
        expect(source, lines_of(source), wanted)
    for folder in ("src", "cli", "module"):
        for path in (SOURCE / folder).rglob("*.[ch]pp"):
            source = path.read_text()
            for mutant in mutants_of(source):
                if mutant.apply(source) == source:
                    raise AssertionError(f"{path}: {mutant} changes nothing")


CODE = """// A step: 1 < 2.
int step(int a, int b) {
  if (a > 3) return 10;
  return a + b;
}
int unused(const int* p) {
  return p == nullptr ? 5 : *p;
}
unsigned same(unsigned a) {
  return a * 1;
}
"""
# The sum is seen, and the bound on one side alone; `unused` is a hole.
TEST = """#include <unistd.h>
#include <cstdlib>
int step(int, int);
int main() {
  if (std::getenv("SLOW")) sleep(2);
  return step(1, 2) == 3 && step(0, 0) == 0 && step(9, 0) == 10 ? 0 : 1;
}
"""
PROGRAMS = {
    "cmake": "true",
    "ninja": "folder=build/release/tests/hash; mkdir -p $folder; "
             "c++ -O1 -c src/hash/a.cpp -o $folder/a.o && c++ tests/a.cpp $folder/a.o -o $folder/hash_test",
}


class Tree:
    def __init__(self, scratch):
        self.root = scratch / "tree"
        bin_ = scratch / "bin"
        for folder in ("tools", "src/hash", "tests"):
            (self.root / folder).mkdir(parents=True)
        bin_.mkdir()
        for name in ("mutate.py", "mutations.py"):
            shutil.copy(SOURCE / "tools" / name, self.root / "tools")
        (self.root / "src/hash/a.cpp").write_text(CODE)
        (self.root / "tests/a.cpp").write_text(TEST)
        (self.root / ".gitignore").write_text("build/\n__pycache__/\n")
        for name, body in PROGRAMS.items():
            (bin_ / name).write_text(f"#!/bin/sh\n{body}\n")
            (bin_ / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": "/dev/null"}
        self.git("init", "-q")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a", *words], cwd=self.root, check=True,
                       env=self.environment)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "a")

    def start(self, *words, **more):
        return subprocess.Popen([sys.executable, "tools/mutate.py", *words], cwd=self.root, text=True,
                                env={**self.environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *words, status=0):
        child = self.start(*words)
        said = child.communicate()[0]
        expect(f"the status of {words}, which said {said}", child.returncode, status)
        return said

    def expect_whole(self, code=CODE):
        expect("the file", (self.root / "src/hash/a.cpp").read_text(), code)
        expect("its copy", (self.root / "build/mutants/src/hash/a.cpp").read_text(), code)


def judges_them(tree):
    said = tree.run("--count", "9")
    tree.expect_whole()
    expect("the same seed", tree.run("--count", "9"), said)
    lines = said.split("\n")
    # Every line that can be changed has one mutant.
    expect("lines", [line.split(":")[1] for line in lines[:4]], ["3", "4", "7", "10"])
    expect("a table", "mutants  killed  survived  same program  did not compile  share killed" in said, True)
    (tree.root / "src/hash/a.cpp").write_text(CODE.replace("a * 1", "a * 2").replace("a + b", "b + a"))
    said = tree.run("--since", "HEAD", "src/hash")
    results = {line.split("  ", 1)[1].strip(): line.split("  ")[0].strip()
               for line in said.split("\n\n")[0].split("\n")}
    expect("mutants of changed lines", results, {
        "src/hash/a.cpp:4: + -> -": "killed",
        "src/hash/a.cpp:10: * -> /": "survived",
        "src/hash/a.cpp:10: 2 -> 3": "survived",
        "src/hash/a.cpp:10: 2 -> 1": "survived",
    })
    expect("the survivors", "src/hash/a.cpp:10: * -> /\n    return a / 2;" in said, True)
    tree.git("checkout", "-q", "src/hash/a.cpp")


def tells_what_makes_no_difference(tree):
    (tree.root / "src/hash/a.cpp").write_text(CODE.replace("return a * 1;", "return a | 0 * b;"))
    tree.commit()
    tree.run("--since", "HEAD~", status=1)  # it does not compile without a mutant either
    (tree.root / "src/hash/a.cpp").write_text(CODE.replace("a * 1;", "a | 0;\n  const bool b = true;"))
    tree.commit()
    said = tree.run("--since", "HEAD~")
    expect("a line behind the end", "same program     src/hash/a.cpp:11: true -> false" in said, True)
    (tree.root / "src/hash/a.cpp").write_text(CODE.replace("p == nullptr", "p != nullptr && *p"))
    tree.commit()
    said = tree.run("--since", "HEAD~")
    expect("no shares of nothing", "100 %" in said, False)


def puts_back_what_is_interrupted(tree):
    (tree.root / "src/hash/a.cpp").write_text(CODE)
    tree.commit()
    tree.run("--count", "1")
    for number in (signal.SIGINT, signal.SIGTERM):
        child = tree.start("--count", "9", SLOW="2")
        copy = tree.root / "build/mutants/src/hash/a.cpp"
        while not copy.is_file() or copy.read_text() == CODE:
            time.sleep(0.05)
        child.send_signal(number)
        child.communicate()
        expect("the status", child.returncode, 128 + number)
        tree.expect_whole()


def gives_tests_a_folder(scratch):
    folder = scratch / "build/release/tests/a"
    folder.mkdir(parents=True)
    for name, body in (("ends", "head -c 1M /dev/zero >$TMPDIR/f"),
                       ("fills", "head -c 300M /dev/zero >$TMPDIR/f; sleep 60"),
                       ("shares", "[ $(stat -c %a $TMPDIR) = 755 ]")):
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    mutate.ROOM = 200 << 20
    build = mutate.Build(scratch, 1)
    expect("tests that end", build.test(mutate.Tests(("ends",))), True)
    expect("tests that fill the disk", build.test(mutate.Tests(("fills",))), False)
    expect("tests that go on as another user", build.test(mutate.Tests(("shares",))), True)


def names_tests(tree):
    expect("tests", tree.run("--tests", "c"), "^c_test/|^c/\nc_test bloomery_c\n")
    expect("tests without a pattern", tree.run("--tests", "src/hash/"), "^hash_test/\nhash_test\n")
    for folder in ("c/keys.cpp", "src"):
        expect("no such folder", "the folders are src/base, " in tree.run("--tests", folder, status=1), True)


def refuses(tree):
    expect("nowhere", "there is nothing to change there" in tree.run("src/nowhere", status=1), True)
    (tree.root / "tests/a.cpp").write_text("int main() { return 1; }\n")
    expect("a test that fails", "fail without a mutant" in tree.run(status=1), True)


def main():
    finds_mutants()
    with tempfile.TemporaryDirectory() as scratch:
        tree = Tree(pathlib.Path(scratch))
        judges_them(tree)
        tells_what_makes_no_difference(tree)
        puts_back_what_is_interrupted(tree)
        names_tests(tree)
        gives_tests_a_folder(pathlib.Path(scratch) / "folder")
        refuses(tree)


main()
