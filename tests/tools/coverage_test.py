"""usage: coverage_test.py SOURCE_DIR

What coverage.py says of a tree of two programs. One is killed, and both have a function of the same name.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])
FLAGS = re.search(r'"name": "coverage".*?"CMAKE_CXX_FLAGS":\s*"([^"]*)"', (SOURCE / "CMakePresets.json").read_text(),
                  re.DOTALL)[1].split()
CODE = {"src/one/a.cpp": """#include <csignal>
#include <cstdlib>
static int of(int x) {
  if (x > 2)
    return 1;
  return x == 1 || x == 2;
}
int main(int, char** words) {
  if (of(std::atoi(words[1]))) std::raise(SIGKILL);
  return 0;
}
""", "src/two/a.cpp": """static int of(int x) {
  return x > 1 ? 2 : 3;
}
int main(int count, char**) { return of(count); }
""", "tests/a.cpp": """int main() { return 0; }
"""}
MISSED = """src/one/a.cpp:4: if (x > 2)  // x > 2: never true
src/one/a.cpp:5: return 1;  // never ran
src/one/a.cpp:6: return x == 1 || x == 2;  // x == 2: never true
src/two/a.cpp:2: return x > 1 ? 2 : 3;  // x > 1: never true
"""
FOLDERS = {"src/one": "9 1 2", "src/two": "4 0 1", "all": "13 1 3"}


def main(root):
    build = root / "build"
    build.mkdir()
    for name, code in CODE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
        program = build / name.replace("/", "-")
        subprocess.run(["clang++", *FLAGS, "-fuse-ld=lld", path, "-o", program], check=True)
        environment = os.environ | {"LLVM_PROFILE_FILE": f"{build}/profiles/%c%2m.profraw"}
        for words in (["0"], ["1"]) if "one" in name else ([],):
            ran = subprocess.run([program, *words], env=environment)
            assert (ran.returncode == -9) == (words == ["1"]), ran
    one = {name: FOLDERS["src/one"] for name in ("src/one", "all")}
    for folder, numbers, lines in ([], FOLDERS, 4), (["src/one"], one, 3):
        said = subprocess.run([SOURCE / "tools/coverage.py", root, build, *folder], capture_output=True, text=True,
                              check=True).stdout
        missed = (build / "missed.txt").read_text()
        assert missed == "".join(MISSED.splitlines(keepends=True)[:lines]), missed
        folders = {words[0]: " ".join(words[1:]) for words in map(str.split, said.splitlines()[1:-1])}
        assert folders == numbers, said


with tempfile.TemporaryDirectory() as scratch:
    main(pathlib.Path(scratch).resolve())
