#!/usr/bin/env python3
"""declarations.h is read as it is by parsers of C that have no preprocessor, cffi and PHP's FFI, which then call
the library.

usage: parsers_test.py LIBRARY DECLARATIONS
"""

import os
import pathlib
import subprocess
import sys

import cffi

PHP = """
$c = FFI::cdef(file_get_contents($argv[2]), $argv[1]);
$error = $c->new('bloomery_error');
$spec = $c->new('bloomery_spec');
$spec->size = FFI::sizeof($spec);
$spec->capacity = 1000;
$spec->fpr = 0.01;
$filter = $c->bloomery_new(FFI::addr($spec), null, FFI::addr($error));
$new = $c->bloomery_insert($filter, 'key', 3, null);
$found = $c->bloomery_contains($filter, 'key', 3, null);
$absent = $c->bloomery_contains($filter, 'other', 5, null);
$c->bloomery_free($filter);
$spec->fpr = 7;
$null = $c->bloomery_new(FFI::addr($spec), null, FFI::addr($error));
echo "$new$found$absent ", $null === null ? FFI::string($error->text) : 'made';
"""


def by_cffi(library, declarations):
    ffi = cffi.FFI()
    ffi.cdef(pathlib.Path(declarations).read_text())
    c = ffi.dlopen(library)
    error = ffi.new("bloomery_error *")
    spec = ffi.new("bloomery_spec *", {"size": ffi.sizeof("bloomery_spec"), "capacity": 1000, "fpr": 0.01})
    handle = c.bloomery_new(spec, ffi.NULL, error)
    answers = [c.bloomery_insert(handle, b"key", 3, error), c.bloomery_contains(handle, b"key", 3, error),
               c.bloomery_contains(handle, b"other", 5, error)]
    c.bloomery_free(handle)
    spec.fpr = 7
    assert c.bloomery_new(spec, ffi.NULL, error) == ffi.NULL
    assert error.code == c.BLOOMERY_INVALID_ARGUMENT
    return "".join(map(str, answers)) + " " + ffi.string(error.text).decode()


def by_php(library, declarations):
    done = subprocess.run(["php", "-d", "ffi.enable=1", "-r", PHP, "--", library, declarations],
                          capture_output=True, text=True)
    return done.stdout + done.stderr


def main(library, declarations):
    for parse in by_cffi, by_php:
        said = parse(os.path.abspath(library), declarations)
        print(parse.__name__, said)
        if not said.startswith("110 ") or "false-positive rate" not in said:
            sys.exit("is not what it should say")


if __name__ == "__main__":
    main(*sys.argv[1:])
