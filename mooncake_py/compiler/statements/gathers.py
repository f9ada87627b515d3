"""Operands read by index arrays and masks: ``x[columns]``, ``x[x > 0.0]``; writes by masks.

The read creates a copy, in which an element of the array may occur several times; by a mask each
occurs once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.pulls import is_basic

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = [
    "frozen", "gathers_in", "is_gather", "is_index", "is_mask", "same_as_mask", "scatter",
]  # fmt: skip

SMALL = 4096  # bytes up to which an index array is copied for the way back


def is_gather(index: Any) -> bool:
    """Return True for an array of ints, or a mask."""
    return type(index) is ndarray and index.dtype.kind in "iub" and index.ndim > 0


def is_index(index: Any) -> bool:
    """Return True for what operands may be read by."""
    return is_basic(index) or is_gather(index)


def is_mask(index: Any, written: ndarray) -> bool:
    """Return True for a mask by which an array is written that does not change the mask."""
    if type(index) is not ndarray or index.dtype.kind != "b" or not index.ndim:
        return False
    alone = index.base is None is written.base
    return alone or not np.may_share_memory(index, written)


def gathers_in(positions: Any, values: Any) -> frozenset[int]:
    """Return those of some positions at which there is an index array or a mask."""
    return frozenset([p for p in positions if is_gather(values[p])])


def same_as_mask(position: int, positions: Any, values: Any) -> frozenset[int]:
    """Return those of some positions at which there is the mask that is at a given one."""
    return frozenset([p for p in positions if p != position and values[p] is values[position]])


def frozen(ctx: ReverseMode, index: ndarray) -> ndarray:
    """Return an index array as it is now: a copy, or a large one itself, protected."""
    return index.copy() if index.nbytes <= SMALL else ctx.frozen_index(index)


def scatter(ufunc: np.ufunc, node: Any, index: ndarray, c: Any) -> None:
    """Add what was read, or subtract it; elements that were read repeatedly receive all of it."""
    if index.dtype.kind != "b":
        ufunc.at(node.shadow(), index, c)
        return
    untouched = node.memory.grad is None
    d = node.shadow()
    d[index] = ufunc(0.0 if untouched else d[index], c)
