"""Kinds of values: whether a value can carry a derivative, and how cotangents fit it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.kinds import Like
from mooncake_py.rules.numbers import NUMBERS

__all__ = [
    "FLOAT64", "INEXACT_SCALARS", "NUMBERS", "SEQUENCES", "fit_to", "is_inexact", "is_of_math",
    "like", "spec_of", "take_usual_dtype",
]  # fmt: skip

FLOAT64 = np.dtype(np.float64)
INEXACT_SCALARS = frozenset({
    float, complex, np.float16, np.float32, np.float64, np.longdouble, np.complex64,
    np.complex128, np.clongdouble,
})  # fmt: skip

SEQUENCES = frozenset({list, tuple, range})
"""The types of sequences that NumPy turns into arrays."""

USUAL = {dtype: dtype for dtype in map(np.dtype, "fdFD")}
# Assignment is deprecated from NumPy 2.5 on.
SET_DTYPE: Any = getattr(ndarray, "_set_dtype", ndarray.__dict__["dtype"].__set__)


def take_usual_dtype(a: ndarray) -> None:
    """Give an array NumPy's one instance of its dtype, if it has an equal one.

    Arrays that were pickled have their own dtype, and so has what is computed of them.  Quick
    ways ask which dtype it is, not what it equals.
    """
    usual = USUAL.get(a.dtype)
    if usual is not None and usual is not a.dtype and a.dtype.metadata is None:
        SET_DTYPE(a, usual)


def is_inexact(y: Any) -> bool:
    """Return whether a value can carry a derivative: a float or complex array or scalar."""
    if type(y) is ndarray:
        return y.dtype.kind in "fc"
    return isinstance(y, (float, complex, np.inexact))


def is_of_math(f: Any) -> bool:
    """Return whether a callable is of the module `math`; ufuncs of NumPy 2.0 name no module."""
    return getattr(f, "__module__", None) == "math"


def fit_to(arg: Any, y: Any) -> Any:
    """Return how a cotangent like `y` must be fitted to `arg`: None if it is like it already."""
    if type(arg) is not ndarray:
        return 0
    shape, dtype = arg.shape, arg.dtype
    if type(y) is ndarray and y.shape == shape and y.dtype is dtype:
        return None
    return shape, dtype


def like(primal: Any) -> Like:
    """Return a stand-in with the shape and dtype of an operand."""
    if type(primal) is ndarray:
        return Like(primal.shape, primal.dtype, primal.strides)
    a = np.asarray(primal)
    return Like(a.shape, a.dtype)


def spec_of(primal: Any) -> Any:
    """Return shape and dtype to which a cotangent is fitted; 0 for a number."""
    return (primal.shape, primal.dtype) if type(primal) is ndarray else 0
