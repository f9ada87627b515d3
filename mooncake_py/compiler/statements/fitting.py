"""Cotangents fitted to operands that were broadcast or summed, by BLAS where it is one call."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.broadcasting import fit
from mooncake_py.rules.exact_zeros import ONE_THREAD, parts, surely_finite
from mooncake_py.runtime import pulls
from mooncake_py.runtime.values import FLOAT64

__all__ = ["both_finite", "finite", "fitted", "inner", "mean", "reduced", "spread", "summed"]

SHORT = 1024  # length up to which vectors of ones are kept


def finite(d: Any) -> bool:
    """Return ``surely_finite(d)`` for a number or an array of floats, in less time."""
    if type(d) is ndarray and d.size <= ONE_THREAD:
        flat = d if d.ndim == 1 else d.ravel("K")
        return math.isfinite(flat.dot(flat))
    return surely_finite(d)


def both_finite(a: Any, b: Any) -> bool:
    """Return ``finite(a) and finite(b)``, by one pass if they have one size."""
    if type(a) is type(b) is ndarray and a.size == b.size:
        if a.ndim != 1 or b.ndim != 1:
            a, b = a.ravel("K"), b.ravel("K")
        if a.size <= ONE_THREAD:
            return math.isfinite(a.dot(b))
        return all(math.isfinite(p.dot(q)) for p, q in zip(parts(a), parts(b), strict=True))
    return finite(a) and finite(b)


def reduced(d: Any, factor: Any, shape: tuple[int, ...]) -> Any:
    """Return ``fitted(d * factor, shape)``, as one BLAS call where it is one."""
    c = pulls.product_sum(d, factor, (shape, FLOAT64)) if type(factor) is ndarray else None
    return fit(d * factor, shape, FLOAT64) if c is None else c


def fitted(d: Any, shape: tuple[int, ...]) -> Any:
    """Return a cotangent summed over the axes along which an operand was broadcast.

    Sums of rows or columns are products with ones, which BLAS does at a third of the price.
    """
    if type(d) is ndarray and d.ndim == 2:
        m, n = d.shape
        if shape == (m, 1) and n > 1:
            return d.dot(ones(n)).reshape(shape)
        if m > 1 and shape in ((n,), (1, n)):
            return ones(m).dot(d).reshape(shape)
    return fit(d, shape, FLOAT64)


def ones(n: int) -> ndarray:
    """Return a vector of ones; short ones are kept."""
    return few_ones(n) if n <= SHORT else np.ones(n)


@lru_cache(maxsize=64)
def few_ones(n: int) -> ndarray:
    return np.ones(n)


def summed(d: Any) -> Any:
    """Return the sum of a cotangent, for a number that was combined with an array."""
    return float(np.add.reduce(d, axis=None))


def inner(d: Any, factor: Any) -> Any:
    """Return ``summed(d * factor)`` as one BLAS call where it is one."""
    if type(factor) is ndarray and d.shape == factor.shape:
        return float(d.dot(factor) if d.ndim == 1 else d.ravel().dot(factor.ravel()))
    return summed(d * factor)


def mean(a: ndarray) -> Any:
    """Return the mean of all elements, as NumPy in half the time.

    Raises
    ------
    ZeroDivisionError
        If there are none.
    """
    return np.float64(float(np.add.reduce(a, axis=None)) / a.size)


def spread(d: Any, shape: tuple[int, ...]) -> ndarray:
    """Return the cotangent of what was summed as an array."""
    return d if type(d) is ndarray else np.full(shape, d)
