"""Arrays with the same values in other layouts, and parts of arrays in other shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooncake_py.tangents.memory import is_writeable
from mooncake_py.testing.structure import walk

__all__ = ["LAYOUTS", "RESHAPES", "as_broadcast", "layout", "other_layout"]

Array = NDArray[Any]
Change = Callable[[Array], Array | None]
"""Returns a changed copy of an array; None where there is nothing to change."""


def as_c_order(array: Array) -> Array | None:
    """Return a C-ordered copy of an array that is not."""
    return None if array.flags.c_contiguous else np.array(array, order="C")


def as_fortran_order(array: Array) -> Array | None:
    """Return a Fortran-ordered copy of an array that is not."""
    return None if array.flags.f_contiguous else np.array(array, order="F")


def as_strided_view(array: Array) -> Array | None:
    """Return a view of every other element, along the last axis, of a larger array."""
    if array.ndim == 0:
        return None
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), dtype=array.dtype)
    view = wide[..., 1::2]
    view[...] = array
    return view


def as_reversed_view(array: Array) -> Array | None:
    """Return a view that runs backwards, along the first axis, through a copy."""
    return None if array.ndim == 0 else np.array(array[::-1], order="K")[::-1]


def as_zero_d(array: Array) -> Array | None:
    """Return the first element as an array without axes."""
    return None if array.ndim == 0 or array.size == 0 else array.ravel()[:1].reshape(()).copy()


def as_size_one(array: Array) -> Array | None:
    """Return the first element as an array with as many axes."""
    if array.ndim == 0 or array.size <= 1:
        return None
    return array[(slice(0, 1),) * array.ndim].copy()


def as_empty(array: Array) -> Array | None:
    """Return an array of length 0 along the first axis."""
    return None if array.ndim == 0 or array.size == 0 else array[:0].copy()


def as_broadcast(array: Array) -> Array | None:
    """Return the first row repeated along the first axis, with stride 0 and read-only."""
    if array.ndim == 0 or array.shape[0] < 2:
        return None
    return np.broadcast_to(array[:1].copy(), array.shape)


LAYOUTS: dict[str, Change] = {
    "C order": as_c_order,
    "Fortran order": as_fortran_order,
    "strided views": as_strided_view,
    "negative strides": as_reversed_view,
}
"""Changes that keep shape and values."""

RESHAPES: dict[str, Change] = {
    "0-d": as_zero_d,
    "of size 1": as_size_one,
    "empty": as_empty,
}
"""Changes that keep part of the values."""


def layout(array: Array) -> tuple[tuple[int, ...], bool]:
    """Return the strides of the axes that are longer than one, and whether it may be written."""
    pairs = zip(array.strides, array.shape, strict=True)
    return tuple(s for s, n in pairs if n > 1) if array.size else (), is_writeable(array)


def other_layout(expected: Any, got: Any, path: str) -> tuple[str, str, str] | None:
    """Return the first array with another layout in nested values of one structure.

    Returns
    -------
    tuple or None
        Its path, and both layouts in words.
    """
    for (where, a), (_, b) in zip(walk(expected, path), walk(got, path), strict=False):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and layout(a) != layout(b):
            return where, in_words(a), in_words(b)
    return None


def in_words(array: Array) -> str:
    """Return the layout of an array for a message."""
    return f"strides {array.strides}" + ("" if is_writeable(array) else ", read-only")
