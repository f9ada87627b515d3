"""Python's ``bisect`` with a key function, which the engine must derive."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

__all__ = ["WITH_KEY"]


def left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any) -> int:
    """Return the first position whose key is not less than `x`."""
    hi = check(a, lo, hi)
    while lo < hi:
        mid = (lo + hi) // 2
        if key(a[mid]) < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any) -> int:
    """Return the first position whose key is greater than `x`."""
    hi = check(a, lo, hi)
    while lo < hi:
        mid = (lo + hi) // 2
        if x < key(a[mid]):
            hi = mid
        else:
            lo = mid + 1
    return lo


def check(a: Any, lo: int, hi: int | None) -> int:
    """Return the upper bound."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return len(a) if hi is None else hi


def insort_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any) -> None:
    """Insert `x` before what has the same key."""
    a.insert(left(a, key(x), lo, hi, key=key), x)


def insort_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any) -> None:
    """Insert `x` after what has the same key."""
    a.insert(right(a, key(x), lo, hi, key=key), x)


WITH_KEY: dict[Any, Callable[..., Any]] = {
    bisect.bisect_left: left,
    bisect.bisect_right: right,
    bisect.insort_left: insort_left,
    bisect.insort_right: insort_right,
}
