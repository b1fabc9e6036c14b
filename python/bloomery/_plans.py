"""What a filter costs, before it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _bloomery, _request


@dataclass(frozen=True)
class Plan:
    """The plan of a filter."""

    kind: str
    capacity: int
    fpr: float
    bytes: int
    hashes: int
    layout: str | None
    bits_per_key: float


def plan(capacity: int | None = None, fpr: float | None = None, **more: Any) -> Plan:
    """The plan for a request: two of capacity, fpr, bits and hashes, and the other numbers of `open`.

    >>> plan(1_000_000, 0.01).bits_per_key < 10
    True
    """
    made = _bloomery.solve(_request.spec_of(capacity=capacity, fpr=fpr, **more))
    return Plan(_request.word_of(_request.KINDS, made["kind"]) or "", made["capacity"], made["fpr"], made["bytes"],
                made["hashes"], _request.word_of(_request.LAYOUTS, made["layout"]), made["bits_per_key"])


def predicted_fpr(keys: float, capacity: int | None = None, fpr: float | None = None, **more: Any) -> float:
    """The false-positive rate of the filter of this plan with `keys` distinct keys in it."""
    return _bloomery.predict(_request.spec_of(capacity=capacity, fpr=fpr, **more), keys)
