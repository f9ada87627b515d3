"""How wrappers of BLAS and LAPACK take arrays: cast to their kind, overwritten where permitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import overlay

__all__ = ["KINDS", "each_kind", "is_in_place", "returned"]

KINDS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def each_kind(module: Any, name: str, kinds: str = "sdcz") -> Callable[[Any], Any]:
    """Replace a wrapper of every kind by what is made for its dtype."""

    def declare(made_for: Callable[[Any], Any]) -> Any:
        for kind in kinds:
            overlay(getattr(module, kind + name))(made_for(KINDS[kind]))
        return made_for

    return declare


def is_in_place(array: Any, overwrite: Any, dtype: Any) -> bool:
    """Return True if a wrapper that may overwrite an array works in it, not in a copy."""
    return (
        bool(overwrite)
        and isinstance(array, ndarray)
        and array.dtype == dtype
        and array.flags.f_contiguous
    )


def returned(result: Any, array: Any, overwrite: Any, dtype: Any) -> Any:
    """Return a result, in the array that the wrapper overwrites if it does."""
    if not is_in_place(array, overwrite, dtype):
        return result
    array[...] = result
    return array
