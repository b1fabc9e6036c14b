"""Bloom filters: "have I seen this before?" for sets too large to keep.

>>> seen = BloomFilter(1_000_000, 0.01)      # keys, false-positive rate
>>> seen.add("http://example.org/")          # True: certainly new
True
>>> "http://example.org/" in seen            # False would be certain, True is wrong in 1 of 100 cases
True
>>> "http://example.org/other" in seen
False

Keys are ``str`` (as UTF-8), bytes-like objects, and ``int`` of 64 bits by value; anything else is a ``TypeError``.
The same key is the same bits as in the tool, in C and in C++, so that all of them read each other's files.

Classes: `BloomFilter`, `CountingFilter` (keys can be removed), `ScalableFilter` (grows), `WindowFilter` (forgets),
`FrozenFilter` (a set that does not change, the smallest).
`open` opens or creates a filter at a path or an address of a server. `convert` copies one from place to place, `merge`
makes one of many, `verify` checks one. `plan` says what a filter costs. Every failure is an `Error`, whose ``code`` is
for programs.

Threads may share a filter: calls that change it take turns, look-ups run side by side (on a server all calls take
turns), and long calls give the GIL away.
"""

from __future__ import annotations

import functools
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, final

from . import _bloomery, _request
from ._bloomery import Error
from ._locations import convert, merge, rotate, verify
from ._plans import Plan, plan, predicted_fpr

if TYPE_CHECKING:
    from ._bloomery import Key, Keys

__version__: str = _bloomery.__version__
__all__ = ["BloomFilter", "CountingFilter", "ScalableFilter", "WindowFilter", "FrozenFilter", "Filter", "Error", "Plan",
           "Stats", "open", "rebuild", "rotate", "convert", "merge", "verify", "from_bytes", "plan", "predicted_fpr"]

_Made = TypeVar("_Made", bound="Filter")
_COMPARED = (slice(12, 13), slice(16, 32), slice(8192, None))  # of an encoded filter: hash, seed, bits (docs/format.md)


def _in_memory(cls: type[_Made], spec: tuple[Any, ...], hash: str | None, seed: int | None) -> _Made:
    family = _request.number_of("hash", _request.HASHES, hash)
    made: _Made = _bloomery.make(cls, "new", "", 0, spec, 0, family, 0, _request.seed_bytes(seed, hash),
                                 _request.scheme_of())
    return _ready(made)


os.register_at_fork(after_in_child=_bloomery.forked)


def _ready(made: _Made, clock: bool = True) -> _Made:
    if clock and isinstance(made, WindowFilter):
        made._by_clock()
    return made


@dataclass(frozen=True)
class Stats:
    """The statistics of a filter. A value that its place does not tell is None, or 0 from counter_bits on."""

    kind: str | None
    capacity: int
    fpr: float | None  # stated
    bytes: int
    hashes: int | None
    layout: str | None
    inserted: int | None  # inserts that were certainly new; of a window, all inserts
    fill: float | None  # the share of bits that are set
    estimated_items: float | None  # distinct keys that give this fill; infinite if all bits are set
    current_fpr: float | None  # the false-positive rate with so many keys
    over_capacity: bool  # it holds more keys than its capacity
    sampled: bool  # only a part of the bits was counted
    counter_bits: int
    sub_filters: int
    saturated_counters: int
    window: int
    window_unit: str | None
    slices: int


class Filter(_bloomery.Filter):
    """The operations of filters of every kind."""

    __slots__ = ("__weakref__",)

    def __init_subclass__(cls) -> None:
        # A copy, a pickle or `|` would lose what a user's class adds.
        if cls.__module__ != __name__:
            raise TypeError("a filter's class cannot be subclassed; keep a filter in an attribute of your class")

    def update(self, *iterables: Keys) -> None:
        """Add the keys of each iterable."""
        for keys in iterables:
            self.insert_many(keys)

    def stats(self, exact: bool = False) -> Stats:
        """Count the bits that are set: a sample of at most 4 MiB, or with exact all of them."""
        told = self._stats(exact)
        told["kind"] = _request.word_of(_request.KINDS, told["kind"])
        told["layout"] = _request.word_of(_request.LAYOUTS, told["layout"])
        told["window_unit"] = _request.word_of(_request.UNITS, told["window_unit"])
        return Stats(**told)

    def __len__(self) -> int:
        """The number of distinct keys, estimated from the bits. TypeError: the server does not tell it."""
        items: float | None = self._stats(True)["estimated_items"]
        if items is None:
            raise TypeError(f"{self.name}: its server does not tell how many keys are in it, only stats().inserted")
        return 2**63 - 1 if math.isinf(items) else round(items)

    def __bool__(self) -> bool:
        return True  # a filter is true even if it is empty

    def __repr__(self) -> str:
        kind = "Filter" if type(self) is _Elsewhere else type(self).__name__
        try:
            told = self.stats()
        except Error as error:  # its server is away, or it is closed
            return f"<{kind} {error}>"
        stated = "" if told.fpr is None else f" at {told.fpr:.3g}"
        now = "" if told.current_fpr is None else f"; now about {told.estimated_items:,.0f} keys at {told.current_fpr:.3g}"
        made = f"{told.capacity:,} keys{stated}, " if told.capacity else ""  # the bits of a PHP class do not say it
        return f"<{kind} {self.name!r}: {made}{told.bytes:,} bytes{now}>"

    def __bytes__(self) -> bytes:
        """The filter as the bytes of a filter file, for `from_bytes`."""
        return self._encode()

    def __eq__(self, other: object) -> bool:
        """Whether both were made from the same plan, hash and seed and have the same bits."""
        if not isinstance(other, Filter):
            return NotImplemented
        made = ("kind", "capacity", "fpr", "bytes", "hashes", "layout", "counter_bits", "window", "slices")
        mine, theirs = self._stats(), other._stats()
        if any(mine[name] != theirs[name] for name in made):
            return False
        left, right = self._encode(), other._encode()
        return all(left[part] == right[part] for part in _COMPARED)

    __hash__ = None  # type: ignore[assignment]

    def copy(self: _Made) -> _Made:
        """A copy of the filter in memory."""
        return self._copy()

    __copy__ = copy

    def __deepcopy__(self: _Made, memo: dict[int, Any]) -> _Made:
        return self._copy()

    def __reduce__(self) -> Any:
        if self.name == "a filter in memory":
            return from_bytes, (self._encode(), self._is_timed)
        if "://" in self.name:
            raise TypeError("a filter on a server is not pickled: its name does not hold the password; open it there")
        if type(self) is _Elsewhere:
            raise TypeError(f"{self.name}: bits of a PHP class are not pickled, as they name no hashes; open them there")
        if self._is_unfinished():
            raise TypeError(f"{self.name}: is not pickled before close() puts it in its place")
        path = os.path.abspath(os.path.join(self._folder, self.name))
        return functools.partial(open, clock=self._is_timed), (path, "r")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the filter as a file, which appears whole or not at all. It replaces another filter file, and no other
        file."""
        self._save(path)

    def __enter__(self: _Made) -> _Made:
        return self

    def __exit__(self, *exception: object) -> None:
        # Part of a list must not replace a list.
        if exception[0] is not None and self._is_unfinished():
            self._drop()
        else:
            self.close()

    def _is_unfinished(self) -> bool:
        return self._is_rebuilt


class _Mergeable(Filter):
    """Filters that have a union."""

    __slots__ = ()

    def __ior__(self: _Made, other: Filter) -> _Made:
        self._merge(other)
        return self

    def __or__(self: _Made, other: Filter) -> _Made:
        if not isinstance(other, Filter):
            return NotImplemented
        both = self._copy()
        both._merge(other)
        return both


@final
class BloomFilter(_Mergeable):
    """A plain Bloom filter in memory, for `capacity` keys at the false-positive rate `fpr` (0.01 is 1 %).

    Two of capacity, fpr, bits (of memory) and hashes (bits per key) determine the others. ValueError, or Error
    (invalid_argument, too_large: 2^40 bits are the limit): no filter has such numbers; MemoryError. `|` and `&` of filters
    that were made from other numbers, hashes or seeds are Error (mismatch).

    >>> left, right = BloomFilter(1000, 0.001), BloomFilter(1000, 0.001)
    >>> left.update(["a", "b"]); right.update(["b", "c"])
    >>> [key in left | right for key in "abcd"]
    [True, True, True, False]
    >>> [key in left & right for key in "abcd"]
    [False, True, False, False]
    >>> left == left.copy(), left == right
    (True, False)
    """

    __slots__ = ()

    def __new__(cls, capacity: int | None = None, fpr: float | None = None, *, bits: int | None = None,
                hashes: int | None = None, layout: str | None = None, hash: str | None = None,
                seed: int | None = None) -> BloomFilter:
        return _in_memory(cls, _request.spec_of("plain", capacity, fpr, bits, hashes, layout), hash, seed)

    def __iand__(self: _Made, other: Filter) -> _Made:
        self._intersect(other)
        return self

    def __and__(self: _Made, other: Filter) -> _Made:
        if not isinstance(other, Filter):
            return NotImplemented
        both = self._copy()
        both._intersect(other)
        return both


@final
class CountingFilter(_Mergeable):
    """A filter from which keys can be removed, with counters of 4 or 8 bits. Remove only keys that were added: removing
    any other key can remove other keys too. Errors as for `BloomFilter`.

    >>> present = CountingFilter(1000, 0.001)
    >>> present.add(7), present.remove(7), 7 in present
    (True, True, False)
    """

    __slots__ = ()

    def __new__(cls, capacity: int | None = None, fpr: float | None = None, *, counter_bits: int | None = None,
                bits: int | None = None, hashes: int | None = None, hash: str | None = None,
                seed: int | None = None) -> CountingFilter:
        spec = _request.spec_of("counting", capacity, fpr, bits, hashes, counter_bits=counter_bits)
        return _in_memory(cls, spec, hash, seed)

    def remove(self, key: Key) -> bool:
        """Remove a key once. False: it was certainly not there. TypeError: it is not a key."""
        return self._remove(key)

    def remove_many(self, keys: Keys, out: Any = None) -> int:
        """Remove keys, as insert_many adds them, and return how many may have been there."""
        return self._remove_many(keys, out)


@final
class ScalableFilter(Filter):
    """A filter that grows: `capacity` is the first size in keys, and `fpr` holds for any number of keys. Each
    sub-filter is `growth` times as large as the one before it. Errors as for `BloomFilter`."""

    __slots__ = ()

    def __new__(cls, capacity: int, fpr: float, *, growth: int | None = None, layout: str | None = None,
                hash: str | None = None, seed: int | None = None) -> ScalableFilter:
        return _in_memory(cls, _request.spec_of("scalable", capacity, fpr, layout=layout, growth=growth), hash, seed)


@final
class WindowFilter(Filter):
    """A filter that forgets what is older than `window`: seconds by the clock of this machine, or insertions.

    `capacity` is the number of keys within a window, which is forgotten in so many `slices`. After `advance(now)` the
    caller sets the time, in seconds. Errors as for `BloomFilter`.
    """

    __slots__ = ()

    def __new__(cls, window: int, capacity: int | None = None, fpr: float | None = None, *,
                window_unit: str = "seconds", slices: int | None = None, layout: str | None = None,
                hash: str | None = None, seed: int | None = None) -> WindowFilter:
        return _in_memory(cls, _request.spec_of("window", capacity, fpr, layout=layout, window=window,
                                                window_unit=window_unit, slices=slices), hash, seed)

    def advance(self, now: int) -> None:
        """Set the time, instead of the clock: keys older than the window are forgotten."""
        self._advance(_request.whole_number("now", now))


@final
class FrozenFilter(Filter):
    """A filter of a set that does not change, in the fewest bits. It is built once, from all of its keys.

    >>> spam = FrozenFilter(["a@spam.example", "b@spam.example", "a@spam.example"], 0.001)
    >>> "a@spam.example" in spam, "c@spam.example" in spam, len(spam)
    (True, False, 2)

    `keys` is what `insert_many` takes. ``open(path, "x", fpr=0.001, kind="frozen")`` builds one in a file: add the
    keys, then close it; a ``with`` block that fails leaves the path as it was. With ``delta=n``, also in `open`, it
    takes n more keys afterwards, within the rate:

    >>> spam = FrozenFilter(["a@spam.example"], 0.001, delta=1000)
    >>> spam.add("c@spam.example"), "c@spam.example" in spam, "a@spam.example" in spam
    (True, True, True)
    """

    __slots__ = ()

    def __new__(cls, keys: Keys, fpr: float, *, delta: int | None = None, hash: str | None = None,
                seed: int | None = None) -> FrozenFilter:
        made = _in_memory(cls, _request.spec_of("frozen", fpr=fpr, delta=delta), hash, seed)
        made.insert_many(keys)
        made.sync()
        return made

    def _is_unfinished(self) -> bool:
        try:
            self.sync()
        except Error as error:
            return error.code == "invalid_argument"
        return False


class _Elsewhere(Filter):
    """A filter on a server that does not say its kind."""

    __slots__ = ()


_BY_KIND = (_Elsewhere, BloomFilter, CountingFilter, ScalableFilter, WindowFilter, FrozenFilter)


def open(location: str | os.PathLike[str], mode: str = "r", capacity: int | None = None, fpr: float | None = None, *,
         durability: str | None = None, hash: str | None = None, seed: int | None = None, random_seed: bool = False,
         rotating: bool = False, shared: bool = False, clock: bool = True, php_hashes: str | None = None,
         php_bits: int | None = None, php_items: int | None = None, **more: Any) -> Any:
    """Open the filter at a path, or at an address such as ``redis://10.0.0.7?key=seen``.

    mode: ``"r"`` to read, ``"w"`` to add to what is there, ``"a"`` the same, or a new filter if there is none, ``"x"``
    a new one, ``"n"`` a new one in the place of what is there, at once, so that readers miss keys until it is filled
    (`rebuild` replaces it when the new one is whole). A new filter is made from capacity, fpr and, by
    name, bits, hashes, layout, kind (plain, counting, scalable, window, frozen), counter_bits, growth, delta, window,
    window_unit (seconds, insertions) and slices, as by the classes and `plan`; an existing one must have those that are
    given (Error: mismatch). Any number of processes can read a
    file, which they share in memory, and one can write it; any number can write a plain filter if all of them set
    shared (its durability is ``"process"``). A reader of a plain filter sees at once what a writer adds, a reader of
    another kind after `reload`. A window filter of seconds follows the clock of this machine; without clock, only
    `advance` sets its time. rotating: two generations in Redis strings; `rotate` drops the older one. php_hashes, or
    php_bits and php_items: the bits of a PHP class, in Redis or in a file with the reply of GET: the names of its hashes,
    as ``"BKDR,SDBM,JS"``, or crc32 and mt_rand over so many bits for so many items.

    durability, only for files: what a change survives once its call returns; ``"sync"`` a power loss (each call waits
    for the device), ``"process"`` the death of the process, ``"none"`` nothing until `sync` or `close`. Error: its code
    is missing, exists, locked, not_a_filter, newer_format, corrupt, unclean, mismatch, unavailable and so on.
    """
    how = {"r": "open", "w": "open", "a": "open_or_create", "x": "create", "n": "create"}.get(mode)
    if how is None:
        raise ValueError(f"mode is one of r, w, a, x and n, and not {_bloomery.shown(mode)}")
    flags = (_request.RANDOM_SEED if random_seed else 0) | (_request.ROTATING if rotating else 0)
    flags |= (_request.REPLACE if mode == "n" else 0) | (_request.SHARED if shared else 0)
    spec = _request.spec_of(capacity=capacity, fpr=fpr, **more)
    return _ready(_bloomery.make(_BY_KIND, how, os.fspath(location), 1 if mode == "r" else 2, spec, flags,
                                 _request.number_of("hash", _request.HASHES, hash),
                                 _request.number_of("durability", _request.DURABILITIES, durability),
                                 _request.seed_bytes(seed, hash),
                                 _request.scheme_of(php_hashes, php_bits, php_items)), clock)


def rebuild(location: str | os.PathLike[str], capacity: int | None = None, fpr: float | None = None, *,
            hash: str | None = None, seed: int | None = None, random_seed: bool = False, clock: bool = True,
            **more: Any) -> Any:
    """A new filter for a file or a Redis string, which keeps its old one until `close` puts the new one in its place, in
    one step. A ``with`` block that fails, and a filter that is never closed, leave the old one. The numbers are those of
    `open`; there need not be an old filter. Error (wrong_kind): a module's filters are not replaced.
    """
    spec = _request.spec_of(capacity=capacity, fpr=fpr, **more)
    return _ready(_bloomery.make(_BY_KIND, "rebuild", os.fspath(location), 2, spec,
                                 _request.RANDOM_SEED if random_seed else 0,
                                 _request.number_of("hash", _request.HASHES, hash), 0,
                                 _request.seed_bytes(seed, hash), _request.scheme_of()), clock)


def from_bytes(data: Any, clock: bool = True) -> Any:
    """A filter in memory from the bytes of ``bytes(filter)`` or of a filter file; clock as in `open`. Error
    (not_a_filter, newer_format, corrupt): before memory is taken for it."""
    return _ready(_bloomery.decode(_BY_KIND, data), clock)
