"""Operations on whole filters, which are named by their locations: a path, or an address of a server."""

from __future__ import annotations

import os
from typing import Iterable

from . import _bloomery, _request


def rotate(location: str | os.PathLike[str], *, php_hashes: str | None = None) -> bool:
    """Drop the older generation of a filter in Redis that was made with rotating, and begin a new one, for all its
    users. False: another client did it at the same time. php_hashes: of the bits of a PHP class; False: nothing was added
    since the last rotation. Error (wrong_kind): it has no generations."""
    return _bloomery.rotate(os.fspath(location), _request.scheme_of(php_hashes))


def convert(source: str | os.PathLike[str], out: str | os.PathLike[str], *, replace: bool = False,
            php_hashes: str | None = None, php_bits: int | None = None, php_items: int | None = None) -> None:
    """Copy a filter, bit for bit: a plain one between files, Redis strings, shards, dumps and modules; one of a module
    between servers and dumps; a frozen one into a module; the bits of a PHP class, as in `open`, between files and Redis.
    ``out`` gets the whole filter or nothing. As a path it becomes a filter file, or for a filter of a module a dump,
    unless its name ends in ".bloom".

    replace: a filter at ``out`` may be replaced; bits of a PHP class replace nothing. Error: exists; wrong_kind (``out``
    cannot hold these bits); those of `open`.
    """
    _bloomery.convert(os.fspath(source), os.fspath(out), _request.REPLACE if replace else 0,
                      _request.scheme_of(php_hashes, php_bits, php_items))


def merge(sources: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str], *, replace: bool = False) -> None:
    """Make a filter at ``out`` that has every key of the sources: plain filters in files and Redis strings, counting
    filters in files, filters of a module in shards. It takes a few megabytes of memory. Error: mismatch (their
    parameters differ); wrong_kind; exists, unless replace is set; those of `open`."""
    if isinstance(sources, (str, bytes, os.PathLike)):
        raise TypeError("sources is a list of locations, and not one location")
    _bloomery.merge(tuple(os.fsencode(source) for source in sources), os.fspath(out), replace)


def verify(location: str | os.PathLike[str], *, php_hashes: str | None = None, php_bits: int | None = None,
           php_items: int | None = None) -> bool:
    """Check every byte of a filter in a file, and change nothing; on a server only headers and lengths, because bits have
    no checksums there. True: it is what was written, or becomes that when it is next opened for writing. False: a
    writer has it open; try again later. Error (corrupt): it is damaged, and the text says what to do."""
    return _bloomery.verify(os.fspath(location), _request.scheme_of(php_hashes, php_bits, php_items))
