"""What a checker of types says of programs that use the package: mypy --strict finds nothing here, and each mark below
is of a mistake that it finds."""

import array
import pathlib

import bloomery
from bloomery import BloomFilter, CountingFilter, FrozenFilter, Plan, Stats


def right() -> int:
    seen = BloomFilter(1000, 0.01)
    new: bool = seen.add("text") or seen.add(b"bytes") or seen.add(7) or seen.add(memoryview(b"view"))
    known: bool = "text" in seen
    both: BloomFilter = seen | seen.copy() & seen
    both |= seen
    both.update(["a"], (b"b" for _ in range(3)), {7: "x"}, array.array("q", [1]))
    count: int = both.insert_many(["a", b"b", 7], bytearray(3)) + len(both)
    removed: bool = CountingFilter(10, 0.1).remove("a")
    stats: Stats = FrozenFilter(range(9), 0.01).stats(exact=True)
    plan: Plan = bloomery.plan(1000, 0.01)
    with seen as same:
        same.save(pathlib.Path("f.bloom"))
    bloomery.convert("f.bloom", pathlib.Path("g.bloom"), replace=True)
    bloomery.merge([pathlib.Path("f.bloom"), "g.bloom"], "h.bloom")
    new |= bloomery.verify("h.bloom")
    return of_any_kind(seen) + new + known + count + removed + (stats.inserted or 0) + plan.bytes


def of_any_kind(seen: bloomery.Filter) -> int:
    seen.update(["a"])
    with seen as same:
        return len(same) + same.stats().capacity


def wrong() -> None:
    seen = BloomFilter(1000, 0.01)
    seen.add(1.5)  # type: ignore[arg-type]
    seen.add(None)  # type: ignore[arg-type]
    seen.insert_many([1.5])  # type: ignore[list-item]
    seen.insert_many(7)  # type: ignore[arg-type]
    seen.remove("a")  # type: ignore[attr-defined]
    seen | {"a"}  # type: ignore[operator]
    BloomFilter("many", 0.01)  # type: ignore[arg-type]
    counting: CountingFilter = seen.copy()  # type: ignore[assignment]
    keys: float = seen.stats().estimated_items  # type: ignore[assignment]

    class Mine(BloomFilter):  # type: ignore[misc]
        pass
