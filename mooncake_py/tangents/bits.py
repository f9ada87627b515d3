"""The significant bits of numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["bits_of"]


def bits_of(a: Any) -> bytes:
    """Return the bytes of an array or a number of NumPy, equal where all numbers agree bit for bit.

    On x86 a `longdouble` is 10 bytes and a padding, which copies and results leave as it is.
    """
    data = ndarray.tobytes(a) if issubclass(type(a), ndarray) else a.tobytes()  # past a class's own
    if a.dtype.char not in "gG":
        return data
    size, width = layout_of_longdouble()
    return np.frombuffer(data, np.uint8).reshape(-1, size)[:, :width].tobytes()


@cache
def layout_of_longdouble() -> tuple[int, int]:
    """Return the bytes of one, and how many of them, the first, are its value."""
    size = np.dtype(np.longdouble).itemsize
    return size, 10 if np.finfo(np.longdouble).nmant == 63 else size
