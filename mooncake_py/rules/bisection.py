"""Python's ``bisect`` in Python: for key functions, and sequences of the user's classes."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

__all__ = ["IN_PYTHON"]


def left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    """Return the first position whose key is not less than `x`."""
    hi = check(a, lo, hi)
    while lo < hi:
        mid = (lo + hi) // 2
        item = a[mid]
        if (item if key is None else key(item)) < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
    """Return the first position whose key is greater than `x`."""
    hi = check(a, lo, hi)
    while lo < hi:
        mid = (lo + hi) // 2
        item = a[mid]
        if x < (item if key is None else key(item)):
            hi = mid
        else:
            lo = mid + 1
    return lo


def check(a: Any, lo: int, hi: int | None) -> int:
    """Return the upper bound."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return len(a) if hi is None else hi


def insort_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    """Insert `x` before what has the same key."""
    a.insert(left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    """Insert `x` after what has the same key."""
    a.insert(right(a, x if key is None else key(x), lo, hi, key=key), x)


IN_PYTHON: dict[Any, Callable[..., Any]] = {
    bisect.bisect_left: left,
    bisect.bisect_right: right,
    bisect.insort_left: insort_left,
    bisect.insort_right: insort_right,
}
