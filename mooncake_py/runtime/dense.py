"""Arrays laid out like the owner of a block: dense, in some order of the axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["dense", "zeros"]


def zeros(shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...]) -> ndarray:
    """Return zeros with the axes in the order that the strides of a dense array tell."""
    found = np.zeros(shape, dtype)
    if found.strides == strides or not found.size:
        return found
    order = sorted(range(len(shape)), key=lambda axis: -abs(strides[axis]))
    found = np.zeros([shape[axis] for axis in order], dtype)
    return found.transpose(np.argsort(order))


def dense(shadow: ndarray) -> ndarray:
    """Return the dense array, in memory order, whose bytes are those of an owner."""
    if shadow.flags.c_contiguous:
        return shadow
    base = shadow.base
    if type(base) is ndarray and base.flags.c_contiguous and base.nbytes == shadow.nbytes:
        return base
    order = sorted(range(shadow.ndim), key=lambda axis: -abs(shadow.strides[axis]))
    return shadow.transpose(order)
