"""Operands read by index arrays and masks: ``x[columns]``, ``x[x > 0.0]``.

The read creates a copy, in which an element of the array may occur several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.pulls import is_basic

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["frozen", "gathers_in", "is_gather", "is_index", "scatter"]

SMALL = 4096  # bytes up to which an index array is copied for the way back


def is_gather(index: Any) -> bool:
    """Return True for an array of ints, or a mask."""
    return type(index) is ndarray and index.dtype.kind in "iub" and index.ndim > 0


def is_index(index: Any) -> bool:
    """Return True for what operands may be read by."""
    return is_basic(index) or is_gather(index)


def gathers_in(positions: Any, values: Any) -> frozenset[int]:
    """Return those of some positions at which there is an index array or a mask."""
    return frozenset([p for p in positions if is_gather(values[p])])


def frozen(ctx: ReverseMode, index: ndarray) -> ndarray:
    """Return an index array as it is now: a copy, or a large one itself, protected."""
    return index.copy() if index.nbytes <= SMALL else ctx.frozen_index(index)


def scatter(ufunc: np.ufunc, d: ndarray, index: ndarray, c: Any) -> None:
    """Add what was read, or subtract it; elements that were read repeatedly receive all of it."""
    if index.dtype.kind == "b":
        d[index] = ufunc(d[index], c)
    else:
        ufunc.at(d, index, c)
