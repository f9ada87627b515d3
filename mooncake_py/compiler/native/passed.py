"""Numbers and arrays as compiled code takes them and gives them back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT, NativeRegion
from mooncake_py.compiler.sites.items import Items
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.quiet import Quiet

__all__ = [
    "all_finite", "as_complex", "as_real", "dtype_of", "in_order", "is_in_rows", "numbers_in",
    "share_memory", "without",
]  # fmt: skip

DTYPES = {FLOAT: np.dtype("d"), FLOAT32: np.dtype("f"), INT: np.dtype("l"), BOOL: np.dtype("?")}
EFFORT = 1000  # to find out whether two arrays have an element in common


def as_real(a: ndarray) -> ndarray:
    """Return a complex array, in C order, with real and imaginary parts along an axis more."""
    return a[..., None].view(np.finfo(a.dtype).dtype)


def as_complex(a: ndarray) -> ndarray:
    """Return real and imaginary parts as a complex array."""
    return a.view(np.result_type(a, np.complex64))[..., 0]


def is_in_rows(a: ndarray) -> bool:
    """Return True for an array whose axes go by smaller and smaller steps; a vector may go back."""
    steps = a.strides
    return a.ndim < 2 or (steps[-1] > 0 and all(p >= q for p, q in pairwise(steps)))


def numbers_in(a: ndarray, make: Any) -> list[Any]:
    """Return the elements of a vector as a list of numbers of Python or of NumPy."""
    return a.tolist() if make in (float, int) else list(a)


def in_order(value: Any) -> Any:
    """Return a value as compiled code takes it: an array in another order as a copy."""
    if type(value) is Items:
        value = value.cells
    if type(value) is list:
        return np.array(value)
    if type(value) is not ndarray:
        return value.primal if type(value) is Active else value
    flags = value.flags
    return value if flags.c_contiguous and flags.aligned else np.array(value, order="C")


def without(arrays: list[ndarray], a: ndarray) -> Iterator[ndarray]:
    """Yield arrays except one; if it is there twice, once."""
    seen = False
    for other in arrays:
        if other is a and not seen:
            seen = True
        else:
            yield other


def share_memory(a: ndarray, b: ndarray) -> bool:
    """Return whether two arrays may have an element in common."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=EFFORT)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def all_finite(values: Iterable[Any]) -> bool:
    """Return whether all floats in numbers and arrays are finite."""
    return all(map(finite, values))


def finite(y: Any) -> bool:
    """Return whether a number, or all of an array, is finite, as far as the sum tells."""
    if type(y) is not ndarray:
        return math.isfinite(y)
    if y.dtype.kind != "f":
        return True
    with Quiet():
        return math.isfinite(np.add.reduce(y, axis=None))


def dtype_of(region: NativeRegion, name: str) -> np.dtype:
    """Return the dtype of an array that is an input."""
    dtype = DTYPES[region.kinds[name]]
    return np.result_type(dtype, np.complex64) if name in region.complexes else dtype
