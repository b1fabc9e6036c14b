"""What a caller asks for, as the numbers of bloomery.h; what cannot be meant is a ``TypeError`` or ``ValueError``."""

from __future__ import annotations

import operator
from typing import Any

from . import _bloomery

KINDS = {"plain": 1, "counting": 2, "scalable": 3, "window": 4, "frozen": 5}
LAYOUTS = {"blocked": 1, "blocked2": 2, "standard": 3}
HASHES = {"xxh3": 1, "siphash": 2}
DURABILITIES = {"sync": 1, "process": 2, "none": 3}
UNITS = {"insertions": 1, "seconds": 2}
RANDOM_SEED, REPLACE, ROTATING, SHARED = 1, 2, 4, 8


def number_of(name: str, table: dict[str, int], word: str | None) -> int:
    if word is None:
        return 0
    if not isinstance(word, str) or word not in table:
        raise ValueError(f"{name} is one of {', '.join(table)}, and not {_bloomery.shown(word)}")
    return table[word]


def word_of(table: dict[str, int], number: int) -> str | None:
    return next((name for name, value in table.items() if value == number), None)


def integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is an integer, as 1_000_000, and not {_bloomery.shown(value)}") from None


def whole_number(name: str, value: int | None, most: int = 2**64 - 1) -> int:
    if value is None:
        return 0
    if not 0 < (whole := integer(name, value)) <= most:
        raise ValueError(f"{name} is from 1 to {most}, and not {whole}")
    return whole


def real(name: str, value: Any) -> float:
    if not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise TypeError(f"{name} is a number, as 0.01, and not {_bloomery.shown(value)}")
    return float(value)


def spec_of(kind: str | None = None, capacity: int | None = None, fpr: float | None = None, bits: int | None = None,
            hashes: int | None = None, layout: str | None = None, counter_bits: int | None = None,
            growth: int | None = None, window: int | None = None, window_unit: str | None = None,
            slices: int | None = None, delta: int | None = None, **unknown: Any) -> tuple[Any, ...]:
    if unknown:
        raise TypeError(f"there is no option {_bloomery.shown(next(iter(unknown)))}")
    if fpr == 0:
        raise ValueError("a false-positive rate of 0 is impossible; give one from 1e-15 to 0.5")
    small = 2**32 - 1
    return (number_of("kind", KINDS, kind), whole_number("capacity", capacity), 0.0 if fpr is None else real("fpr", fpr),
            whole_number("bits", bits), whole_number("hashes", hashes, small), number_of("layout", LAYOUTS, layout),
            whole_number("counter_bits", counter_bits, small), whole_number("growth", growth, small),
            whole_number("window", window), number_of("window_unit", UNITS, window_unit),
            whole_number("slices", slices, small), whole_number("delta", delta))


def scheme_of(php_hashes: str | None = None, php_bits: int | None = None,
              php_items: int | None = None) -> tuple[str | None, int, int]:
    if php_hashes is not None and not isinstance(php_hashes, str):
        raise TypeError(f'php_hashes is a text, as "BKDR,SDBM,JS", and not {_bloomery.shown(php_hashes)}')
    return php_hashes, whole_number("php_bits", php_bits), whole_number("php_items", php_items)


def seed_bytes(seed: int | None, hash: str | None) -> bytes | None:
    if seed is None:
        return None
    size = 16 if hash == "siphash" else 8
    if not 0 <= (whole := integer("seed", seed)) < 2 ** (8 * size):
        raise ValueError(f"a seed has {8 * size} bits; {whole} does not fit")
    return whole.to_bytes(size, "little")
