#!/usr/bin/env python3
"""What units.py has to find: each law is broken once in a small copy of the tree.

usage: units_test.py ROOT
"""

import pathlib
import shutil
import sys
import tempfile
import unittest

import units

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()


class Laws(unittest.TestCase):
    """A copy of the tree, so that the tables of units.py hold for it; each test adds to its includes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for file in units.Tree(ROOT).files:
            copy = self.root / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)

    def add(self, file, *included):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as out:
            out.writelines(f"\n#include {name}\n" for name in included)

    def found(self):
        return units.broken_laws(self.root)[1]

    def test_the_tree_itself_breaks_none(self):
        self.assertEqual(self.found(), [])

    def test_a_circle_in_every_room(self):
        for room, name in (("cli/stream", '"stream/{}"'), ("module/values", '"values/{}"'), ("web/wasm", '"{}"'),
                           ("c", '"{}"'), ("src/redis/wire", "<redis/wire/{}>")):
            with self.subTest(room):
                self.add(f"{room}/planted_a.hpp", name.format("planted_b.hpp"))
                self.add(f"{room}/planted_b.hpp", "<vector>")
                self.add(f"{room}/planted_b.cpp", name.format("planted_b.hpp"), name.format("planted_a.hpp"))
                self.assertEqual(self.found(), [f"these include each other: {room}/planted_a.hpp, {room}/planted_b.hpp"])
                for file in ("planted_a.hpp", "planted_b.hpp", "planted_b.cpp"):
                    (self.root / room / file).unlink()

    def test_a_circle_of_folders(self):
        self.add("src/redis/wire/planted.hpp", "<redis/shards/shard_plan.hpp>")
        self.assertEqual(self.found(), ["these folders include each other: src/redis/cluster, src/redis/shards, src/redis/wire"])

    def test_a_tower(self):
        for floor in range(6):
            self.add(f"web/wasm/planted_{floor}.hpp", f'"planted_{floor - 1}.hpp"' if floor else "<vector>")
        self.assertEqual(self.found(), ["web/wasm/planted_5.hpp stands on 5 floors of web/wasm; give the folder rooms"])

    def test_an_include_against_the_order(self):
        self.add("src/filter/planted.cpp", "<store/files.hpp>")
        self.assertIn("src/filter/planted.cpp includes src/store/files.hpp, and filter does not stand on store", self.found())

    def test_a_private_header(self):
        for user, name, file in (("cli/verbs", "<store/files.hpp>", "src/store/files.hpp"),
                                 ("examples", '"nowhere.hpp"', None),
                                 ("bench", '"values/value.hpp"', "module/values/value.hpp"),
                                 ("bench", '"../cli/input/block.hpp"', "cli/input/block.hpp"),
                                 ("c", "<bloomery/detail/layout.hpp>", "include/bloomery/detail/layout.hpp"),
                                 ("module", "<redis/wire/tls.hpp>", "src/redis/wire/tls.hpp")):
            planted = f"{user}/planted.cpp"
            with self.subTest(planted + name):
                self.add(planted, name)
                self.assertIn(f"{planted} includes {file}, which is private" if file
                              else f'{planted} includes {name}, which is nowhere', self.found())
                (self.root / planted).unlink()

    def test_what_needs_no_exception_any_more(self):
        (self.root / "bench/php_bench.cpp").unlink()
        self.assertEqual(self.found(),
                         ["bench/php_bench.cpp includes nothing private of legacy any more; take it out of USES_PRIVATE"])


if __name__ == "__main__":
    unittest.main()
