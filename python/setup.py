"""The extension is linked with the installed libbloomery.so.0, which pkg-config finds as bloomery-c."""

import glob
import os
import subprocess

from setuptools import Extension, setup

os.chdir(os.path.dirname(os.path.abspath(__file__)))  # the paths are relative


def pkg_config(*words):
    return subprocess.run(["pkg-config", *words, "bloomery-c"], check=True, capture_output=True, text=True).stdout.split()


setup(
    version=pkg_config("--modversion")[0],
    ext_modules=[Extension("bloomery._bloomery", sorted(glob.glob("extension/*.c")), depends=glob.glob("extension/*.h"),
                           define_macros=[("Py_LIMITED_API", "0x030B0000")], py_limited_api=True,
                           extra_compile_args=pkg_config("--cflags"), extra_link_args=pkg_config("--libs"))],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
