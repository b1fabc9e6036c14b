"""The other tests again with an extension that is compiled for AddressSanitizer, and with every object of Python's from
malloc: nothing is read or written that is not there."""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

SOURCE, LIBRARY = pathlib.Path(os.environ["BLOOMERY_SOURCE"]), os.environ["BLOOMERY_C"]
TESTS = ["bad_input_test", "filters_test", "keys_test", "places_test"]


def runtime(name):
    return subprocess.run(["gcc", f"-print-file-name={name}.so"], check=True, capture_output=True, text=True).stdout.strip()


class Sanitized(unittest.TestCase):
    def test_reads_and_writes_what_is_there(self):
        with tempfile.TemporaryDirectory() as scratch:
            package = pathlib.Path(scratch) / "bloomery"
            shutil.copytree(SOURCE / "python/bloomery", package)
            subprocess.run(["gcc", "-shared", "-fPIC", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
                            *(SOURCE / "python/extension").glob("*.c"), f"-I{SOURCE}/include", f"-I{sysconfig.get_path('include')}", f"-L{LIBRARY}",
                            "-lbloomery", "-o", package / "_bloomery.abi3.so"], check=True)
            # What Python itself keeps until it ends is no leak of ours.
            environment = os.environ | {
                "PYTHONPATH": scratch, "LD_LIBRARY_PATH": LIBRARY, "PYTHONMALLOC": "malloc", "ASAN_OPTIONS": "detect_leaks=0",
                "LD_PRELOAD": f"{runtime('libasan')} {runtime('libubsan')}"}
            done = subprocess.run([sys.executable, "-B", "-m", "unittest", *TESTS], env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr[-10_000:])


if __name__ == "__main__":
    unittest.main()
