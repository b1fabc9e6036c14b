"""setuptools makes a wheel for every Python from 3.11 on, and what is in it works."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, LIBRARY = pathlib.Path(os.environ["BLOOMERY_SOURCE"]), os.environ["BLOOMERY_C"]
PC = """Name: bloomery-c
Description: of this build
Version: 0.1.0
Cflags: -I{source}/include
Libs: -L{library} -lbloomery
"""


class Wheel(unittest.TestCase):
    # From the source distribution, so that this has all that it needs.
    def test_is_made_and_works(self):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            (scratch / "bloomery-c.pc").write_text(PC.format(source=SOURCE, library=LIBRARY))
            shutil.copytree(SOURCE / "python", scratch / "tree")
            environment = os.environ | {"PKG_CONFIG_PATH": str(scratch), "LD_LIBRARY_PATH": LIBRARY}

            # As pip has it made.
            def build(folder, what):
                done = subprocess.run([sys.executable, "-c", f"import setuptools.build_meta as b; b.build_{what}('dist')"],
                                      cwd=folder, env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)

            # From another folder it would find no sources, and link an extension without them.
            name = subprocess.run([sys.executable, scratch / "tree/setup.py", "--name"], cwd=scratch, env=environment,
                                  capture_output=True, text=True)
            self.assertEqual(name.stdout, "bloomery\n", name.stderr)
            build(scratch / "tree", "sdist")
            sources = list((scratch / "tree/dist").glob("bloomery-*.tar.gz"))
            self.assertEqual(len(sources), 1)
            shutil.unpack_archive(sources[0], scratch)
            (scratch / sources[0].name.removesuffix(".tar.gz")).rename(scratch / "python")
            build(scratch / "python", "wheel")
            wheels = list((scratch / "python/dist").glob("*.whl"))
            self.assertEqual(len(wheels), 1)
            self.assertRegex(wheels[0].name, r"^bloomery-[\d.]+-cp311-abi3-linux_\w+\.whl$")
            shutil.unpack_archive(wheels[0], scratch / "installed", "zip")
            files = {file.name for file in (scratch / "installed/bloomery").iterdir()}
            self.assertLessEqual({"__init__.py", "_locations.py", "_plans.py", "_request.py", "scrapy.py", "py.typed", "_bloomery.pyi", "_bloomery.abi3.so"}, files)
            said = subprocess.run([sys.executable, "-c", "import bloomery; print(bloomery.BloomFilter(9, 0.1).add('a'))"],
                                  env=environment | {"PYTHONPATH": str(scratch / "installed")}, cwd=scratch,
                                  capture_output=True, text=True)
            self.assertEqual(said.stdout, "True\n", said.stderr)


if __name__ == "__main__":
    unittest.main()
