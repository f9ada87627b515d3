"""Tangents along several directions: one row for each, with the layout of the primal.

Along k directions those of an array of shape (*s) are an array of shape (k, *s), those of a number
one of shape (k,).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["aligned", "rows_at"]

BASIC = frozenset({int, np.int64, slice, type(Ellipsis), type(None)})


def aligned(rows: ndarray, ndim: int) -> ndarray:
    """Return rows that broadcast with values of so many axes; the rows have at most one more."""
    missing = ndim + 1 - rows.ndim
    if missing == 0:
        return rows
    shape = rows.shape
    return rows.reshape(shape[:1] + (1,) * missing + shape[1 + max(-missing, 0) :])


def rows_at(i: Any) -> Any:
    """Return the index of the rows of ``a[i]`` in those of `a`; None if each row must be read."""
    t = type(i)
    if t in BASIC or (t is ndarray and i.ndim and i.dtype.kind in "iub"):
        return (slice(None), i)
    if t is tuple and BASIC.issuperset(map(type, i)):
        return (slice(None), *i)
    return None
