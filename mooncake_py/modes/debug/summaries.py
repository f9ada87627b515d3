"""Short descriptions of values, for messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.active import primal_of

__all__ = ["summary"]


def summary(value: Any) -> str:
    """Return the type, shape, range and non-finite elements of a value, on one line."""
    value = primal_of(value)
    if not issubclass(type(value), ndarray):
        text = str(value) if isinstance(value, (float, complex, np.generic)) else repr(value)
        return f"{type(value).__name__} {text:.60}"
    head = f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if value.dtype.kind not in "fciub" or not value.size:
        return head
    if value.size <= 4:
        return f"{head} {np.array2string(value, precision=6)}".replace("\n", "")
    return f"{head}, {extent(value)}"


def extent(a: ndarray) -> str:
    """Return the range of the finite elements of an array, and how many others there are."""
    finite = np.isfinite(a)
    parts = []
    numbers = a[finite]
    if numbers.size and a.dtype.kind != "c":
        parts.append(f"from {numbers.min():.6g} to {numbers.max():.6g}")
    elif numbers.size:
        parts.append(f"of size up to {np.abs(numbers).max():.6g}")
    zeros = int(np.count_nonzero(a == 0))
    if zeros:
        parts.append(f"{zeros} zero")
    others = int(a.size - numbers.size)
    if others:
        first = np.unravel_index(int(np.argmin(finite)), a.shape)
        index = ", ".join(map(str, first))
        parts.append(f"{others} not finite, first [{index}] = {a[first]}")
    return ", ".join(parts)
