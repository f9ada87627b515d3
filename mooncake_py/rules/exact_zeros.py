"""A zero cotangent contributes exactly zero, even if its factor is infinite or nan.

In a sum of products such as ``dy @ b.T`` a term ``0 * inf`` would spoil the whole sum.  One pass
over the data excludes this; the other case is rare, and may be slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.kinds import Wirtinger

__all__ = [
    "ONE_THREAD",
    "is_sound",
    "parts",
    "pushed",
    "scaled",
    "sum_of_products",
    "surely_finite",
]

INFINITY = float("inf")
ONE_THREAD = 10_000  # numbers that BLAS multiplies in one thread
GOLDEN, ROOT = 0.6180339887498949, 0.41421356237309515


def surely_finite(x: Any) -> bool:
    """Return whether a number or dense array is finite (and not huge), in one pass over it."""
    if type(x) is not ndarray:
        return x - x == 0
    flat = x if x.ndim == 1 else x.ravel("K")
    if flat.size <= ONE_THREAD:
        return bool(abs(flat.dot(flat)) < INFINITY)
    return all(surely_finite(part) for part in parts(flat))


def parts(flat: ndarray) -> Iterator[ndarray]:
    """Yield the parts of a vector that BLAS multiplies in one thread.

    It takes large arrays apart for its threads, which wait for each other on a busy machine:
    measured with 30,000 floats 10 us to 4 ms.
    """
    for start in range(0, flat.size, ONE_THREAD):
        yield flat[start : start + ONE_THREAD]


def is_sound(c: Any, *factors: Any) -> bool:
    """Return whether all factors are finite; of a product, inspect only the smaller factor."""
    if len(factors) == 1 and type(c) is ndarray:
        (factor,) = factors
        if type(factor) is ndarray and factor.size < c.size:
            return surely_finite(factor)
    return surely_finite(c)


def scaled(dy: Any, factor: Any) -> Any:
    """Return dy * factor, zero where `dy` is zero and the factor is not finite.

    Elsewhere the product with zero stays a product: its derivative is the factor.
    """
    c = dy * factor
    return c if surely_finite(c) else np.where((dy == 0) & np.isnan(c), 0, c)


def pushed(t: Any, p: Any) -> Any:
    """Return the tangent p * t, exactly zero where t is zero even if p is infinite or nan."""
    if isinstance(p, Wirtinger):
        return pushed(t, p.dz) + pushed(np.conj(t), p.dzbar)
    if isinstance(p, np.ndarray) and p.dtype == bool:
        return np.where(p, t, 0)  # a choice, not a product
    c = t * p
    if np.all(np.isfinite(c)):
        return c
    kept = np.where((t == 0) & np.isnan(c), 0, c)
    return kept if kept.ndim else kept[()]


def sum_of_products(terms: Callable[..., Any], dy: Any, *factors: Any) -> Any:
    """Return ``terms(dy, *factors)``, linear in each, without the terms in which `dy` is zero.

    Of a sum that an infinite factor or nan enters by another term as well, all is kept.
    """
    c = terms(dy, *factors)
    if is_sound(c, *factors) or np.isfinite(c).all():
        return c
    spoilt = [~np.isfinite(x) for x in factors]
    if not any(map(np.any, spoilt)):
        return c
    used = marks(dy != 0, GOLDEN)
    kept: Any = False
    for i, bad in enumerate(spoilt):
        others = [np.ones(np.shape(x)) for x in factors]
        kept = kept | (terms(used, *others[:i], marks(bad, ROOT), *others[i + 1 :]) != 0)
    zeroed = [np.where(bad, 0, x) for bad, x in zip(spoilt, factors, strict=True)]
    return np.where(kept, c, terms(dy, *zeroed))


def marks(where: Any, irrational: float) -> ndarray:
    """Return numbers where a mask is true, such that differences of products do not vanish."""
    where = np.asarray(where)
    fractions = np.modf(irrational * np.arange(where.size))[0]
    return where * (1 + fractions.reshape(where.shape))
