"""Whether two ways of a derivative agree: values to the last bit, derivatives up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.tangents.kinds import Fields

__all__ = ["agree"]

RTOL, NOISE = 1e-6, 1e-9  # of numbers themselves, and of the largest one among them
NUMBERS = (float, complex, int, bool, np.number, np.bool_)


def agree(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return True if the first items are the same, bit for bit, and the others are alike."""
    value, *derivatives = one
    return compare(value, other[0], same) and all(map(alike, derivatives, other[1:]))


def alike(a: Any, b: Any) -> bool:
    """Return True for derivatives that differ by rounding only; functions are not compared."""
    return compare(a, b, close)


def compare(a: Any, b: Any, leaves: Callable[[ndarray, ndarray], bool]) -> bool:
    """Return True if two structures are of the same types, and what is numbers in them compares."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (ndarray, *NUMBERS)):
        p, q = np.asarray(a), np.asarray(b)
        return p.shape == q.shape and p.dtype == q.dtype and leaves(p, q)
    if type(a) is dict:
        return a.keys() == b.keys() and all(compare(a[key], b[key], leaves) for key in a)
    if isinstance(a, Fields):
        return [*a] == [*b] and all(compare(a[name], b[name], leaves) for name in a)
    if type(a) in (tuple, list):
        return len(a) == len(b) and all(compare(p, q, leaves) for p, q in zip(a, b, strict=True))
    return True


def same(a: ndarray, b: ndarray) -> bool:
    """Return True for the same bits."""
    return a.tobytes() == b.tobytes()


def close(a: ndarray, b: ndarray) -> bool:
    """Return True for numbers that differ by rounding."""
    if a.dtype.kind not in "fc":
        return same(a, b)
    if not np.isfinite(a).all():
        return bool(np.array_equal(a, b, equal_nan=True))
    largest = np.max(np.abs(a), initial=0.0)
    return bool(np.allclose(b, a, rtol=RTOL, atol=NOISE * largest))
