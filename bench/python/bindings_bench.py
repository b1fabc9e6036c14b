#!/usr/bin/env python3
"""Compares the look-up of a str through each binding tool that Debian has with this package, which is written by hand
in C for the limited API: medians of rounds that take turns.

usage: bindings_bench.py BUILD [KEYS]     BUILD: a release build with the package, such as build/release
needs the Debian packages cython3 pybind11-dev python3-cffi python3-dev
"""

import collections
import ctypes
import importlib
import pathlib
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

CYTHON = """
# cython: language_level=3
cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
cdef extern from "bloomery.h":
    ctypedef struct bloomery_filter:
        pass
    ctypedef struct bloomery_error:
        pass
    int bloomery_contains(bloomery_filter *filter, const void *key, size_t size, bloomery_error *error)

cdef class Filter:
    cdef bloomery_filter *filter
    def __init__(self, size_t address):
        self.filter = <bloomery_filter *>address
    def __contains__(self, str key):
        cdef Py_ssize_t size
        cdef const char *text = PyUnicode_AsUTF8AndSize(key, &size)
        return bloomery_contains(self.filter, text, size, NULL) == 1
"""

PYBIND = """
#include <bloomery.h>
#include <pybind11/pybind11.h>
struct Filter {
  explicit Filter(std::size_t address) : filter(reinterpret_cast<bloomery_filter*>(address)) {}
  bool contains(std::string_view key) const {
    return bloomery_contains(filter, key.data(), key.size(), nullptr) == 1;
  }
  bloomery_filter* filter;
};
PYBIND11_MODULE(by_pybind11, module) {
  pybind11::class_<Filter>(module, "Filter")
      .def(pybind11::init<std::size_t>())
      .def("__contains__", &Filter::contains);
}
"""


def compile_module(folder, build, compiler, source, name):
    headers = [f"-I{ROOT}/include", f"-I{sysconfig.get_paths()['include']}"]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    libraries = [f"-L{build}/c", "-lbloomery", f"-Wl,-rpath,{build}/c"]
    subprocess.run([*compiler, "-O2", "-fPIC", "-shared", *headers, str(source), *libraries,
                    "-o", str(folder / f"{name}{suffix}")], check=True)


def by_cython(folder, build):
    (folder / "by_cython.pyx").write_text(CYTHON)
    subprocess.run(["cython3", str(folder / "by_cython.pyx")], check=True)
    compile_module(folder, build, ["gcc"], folder / "by_cython.c", "by_cython")
    return importlib.import_module("by_cython").Filter


def by_pybind11(folder, build):
    (folder / "by_pybind11.cpp").write_text(PYBIND)
    compile_module(folder, build, ["g++", "-std=c++17", "-fvisibility=hidden"], folder / "by_pybind11.cpp",
                   "by_pybind11")
    return importlib.import_module("by_pybind11").Filter


def by_cffi(folder, build):
    import cffi
    ffi = cffi.FFI()
    ffi.cdef((ROOT / "include/bloomery/declarations.h").read_text())
    ffi.set_source("by_cffi", "#include <bloomery.h>", include_dirs=[f"{ROOT}/include"], library_dirs=[f"{build}/c"],
                   libraries=["bloomery"], runtime_library_dirs=[f"{build}/c"])
    ffi.compile(tmpdir=str(folder))
    module = importlib.import_module("by_cffi")

    class Filter:
        def __init__(self, address):
            self.filter = module.ffi.cast("bloomery_filter *", address)

        def __contains__(self, key):
            text = key.encode()
            return module.lib.bloomery_contains(self.filter, text, len(text), module.ffi.NULL) == 1

    return Filter


def by_ctypes(_, build):
    contains = ctypes.CDLL(f"{build}/c/libbloomery.so.0").bloomery_contains
    contains.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]

    class Filter:
        def __init__(self, address):
            self.filter = address

        def __contains__(self, key):
            text = key.encode()
            return contains(self.filter, text, len(text), None) == 1

    return Filter


def address_of(filter, build):
    """A handle of the C library with the same keys."""
    decode = ctypes.CDLL(f"{build}/c/libbloomery.so.0").bloomery_decode
    decode.restype = ctypes.c_void_p
    decode.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
    encoded = bytes(filter)
    return decode(encoded, len(encoded), None)


def main(build, count=100_000):
    build = str(pathlib.Path(build).resolve())
    sys.path.insert(0, f"{build}/python")
    bloomery = importlib.import_module("bloomery")
    texts = [f"http://example.org/{i}" for i in range(count)]
    ours = bloomery.BloomFilter(count, 0.01)
    ours.update(texts)
    filters = {"limited C, by hand (this package)": ours}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sys.path.insert(0, name)
        for label, make in {"Cython": by_cython, "pybind11": by_pybind11, "cffi, compiled": by_cffi,
                            "ctypes": by_ctypes}.items():
            filters[label] = make(folder, build)(address_of(ours, build))
        nothing = collections.deque(maxlen=0).append
        calls = {"an empty method in C": nothing}
        calls |= {label: filter.__contains__ for label, filter in filters.items()}
        times = {label: [] for label in calls}
        for _ in range(31):
            for label, call in calls.items():
                begin = time.process_time()
                collections.deque(map(call, texts), maxlen=0)
                times[label].append((time.process_time() - begin) / count * 1e9)
        assert all(text in filter for filter in filters.values() for text in texts)
    least = statistics.median(times["an empty method in C"])
    print(f"{'ns per look-up of a str':36}{'':>8}{'above empty':>14}")
    for label, samples in times.items():
        median = statistics.median(samples)
        print(f"{label:36}{median:8.1f}{median - least:14.1f}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
