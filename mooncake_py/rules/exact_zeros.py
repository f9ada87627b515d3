"""A zero cotangent contributes exactly zero, even if its factor is infinite or nan.

In a sum of products such as ``dy @ b.T`` a term ``0 * inf`` would spoil the whole sum.  One pass
over the data excludes this; the other case is rare, and may be slow.

A tangent goes the other way, and meets the partials that would have made a cotangent zero after
the factors that are infinite: there a zero partial contributes exactly zero too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.holomorphic import Wirtinger
from mooncake_py.tangents.kinds import NoTangent

__all__ = [
    "ONE_THREAD",
    "is_sound",
    "parts",
    "pushed",
    "pushed_linearly",
    "scaled",
    "sum_of_products",
    "sum_of_pushed",
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
    """Return the tangent p * t, exactly zero where one is zero even if the other is not finite."""
    if isinstance(p, Wirtinger):
        return pushed(t, p.dz) + pushed(np.conj(t), p.dzbar)
    if isinstance(p, np.ndarray) and p.dtype == bool:
        return np.where(p, t, 0)  # a choice, not a product
    c = t * p
    if np.all(np.isfinite(c)):
        return c
    kept = np.where(((t == 0) | (p == 0)) & np.isnan(c), 0, c)
    return kept if kept.ndim else kept[()]


def sum_of_products(terms: Callable[..., Any], dy: Any, *factors: Any) -> Any:
    """Return ``terms(dy, *factors)``, linear in each, without the terms in which `dy` is zero.

    Of a sum that an infinite factor or nan enters by another term as well, all is kept.
    """
    c = terms(dy, *factors)
    if is_sound(c, *factors) or np.isfinite(c).all():
        return c
    used = [marks(dy != 0, GOLDEN), *(np.ones(np.shape(x)) for x in factors)]
    return without_spoilt(terms, (dy, *factors), used, c, 1)


def sum_of_pushed(terms: Callable[..., Any], *factors: Any) -> Any:
    """Return ``terms(*factors)``, linear in each, without the terms in which a factor is zero."""
    c = terms(*factors)
    if is_finite(c):
        return c
    used = [marks(x != 0, GOLDEN / (k + 1)) for k, x in enumerate(factors)]
    return without_spoilt(terms, factors, used, c, 0)


def without_spoilt(
    terms: Callable[..., Any], factors: Any, used: list[ndarray], c: Any, first: int
) -> Any:
    """Return sums without terms that a zero makes nan: where no other term is spoilt.

    Parameters
    ----------
    used : list of ndarray
        For each factor numbers where it counts, and zeros where it drops terms.
    c : array or number
        The sums as they are.
    first : int
        The first factor that may be infinite or nan.
    """
    spoilt = [~np.isfinite(x) for x in factors[first:]]
    if not any(map(np.any, spoilt)):
        return c
    kept: Any = False
    for k, bad in enumerate(spoilt, first):
        kept = kept | (terms(*used[:k], marks(bad, ROOT), *used[k + 1 :]) != 0)
    zeroed = [np.where(bad, 0, x) for bad, x in zip(spoilt, factors[first:], strict=True)]
    return np.where(kept, c, terms(*factors[:first], *zeroed))


def pushed_linearly(push: Callable[[Any], Any], tangents: Any) -> Any:
    """Return ``push(tangents)``, linear in numbers, arrays and sequences of them; None is zero.

    What depends on no tangent that is infinite or nan is not spoilt by these.
    """
    t = push(tangents)
    if is_finite(t) or is_finite(tangents):
        return t
    depends = push(each_part(lambda x: marks(~np.isfinite(x), ROOT), tangents))
    rest = push(each_part(lambda x: np.where(np.isfinite(x), x, 0), tangents))
    return chosen(depends, t, rest)


def each_part(f: Callable[[Any], Any], value: Any) -> Any:
    """Return a structure of what a function makes of numbers and arrays, of the same types."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return type(value)([each_part(f, part) for part in value])
    found = f(value)
    return found.astype(value.dtype) if isinstance(value, ndarray) else type(value)(found)


def chosen(depends: Any, t: Any, rest: Any) -> Any:
    """Return numbers and arrays, in each part those of one of two structures."""
    if t is None or type(t) is NoTangent:  # of an output that is an int
        return t
    if isinstance(t, (list, tuple)):
        return [chosen(*parts) for parts in zip(depends, t, rest, strict=True)]
    kept = np.where(depends != 0, t, rest)
    return kept if isinstance(t, ndarray) else type(t)(kept[()])


def is_finite(value: Any) -> bool:
    """Return whether a number, an array, or all in a sequence is finite; so is anything else."""
    if isinstance(value, (list, tuple)):
        return all(is_finite(part) for part in value)
    if isinstance(value, (ndarray, np.generic)):
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    return not isinstance(value, (float, complex)) or bool(np.isfinite(value))


def marks(where: Any, irrational: float) -> ndarray:
    """Return numbers where a mask is true, such that differences of products do not vanish."""
    where = np.asarray(where)
    fractions = np.modf(irrational * np.arange(where.size))[0]
    return where * (1 + fractions.reshape(where.shape))
