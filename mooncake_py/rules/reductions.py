"""Rules for sums, means, products, variances and extrema, as functions, methods and ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import (
    Axes,
    count,
    flatten,
    from_lines,
    keep,
    reverse_cumsum,
    select,
    spread,
    to_lines,
)
from mooncake_py.rules.declare import from_vjp, linear, overlay
from mooncake_py.rules.inplace import written
from mooncake_py.rules.no_value import NoValue, given

__all__ = [
    "cumulative_product",
    "extremum",
    "mean_cotangent",
    "product",
    "product_cotangent",
    "variance_cotangent",
]

Result = tuple[Any, Callable[[Any], Any]]


# Sums and means: linear maps.


@linear(np.sum, np.ndarray.sum)
def sum_adjoint(
    dy, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True
):
    """Spread the cotangent over the summed axes."""
    return select(where, spread(dy, axis, a.shape))


@linear(np.add.reduce)
def add_reduce_adjoint(
    dy, array, axis=0, dtype=None, out=None, keepdims=False, initial=0, where=True
):
    return select(where, spread(dy, axis, array.shape))


@linear(np.mean, np.ndarray.mean)
def mean_adjoint(dy, a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Spread the cotangent, divided by the number of elements in each mean."""
    return mean_cotangent(dy, a.shape, axis, where)


@linear(np.cumsum, np.ndarray.cumsum)
def cumsum_adjoint(dy, a, axis=None, dtype=None, out=None):
    """Sum from the other end: x[i] enters y[i] and all that follow."""
    return reverse_cumsum(dy, 0 if axis is None else axis).reshape(a.shape)


@linear(np.add.accumulate)
def add_accumulate_adjoint(dy, array, axis=0, dtype=None, out=None):
    return reverse_cumsum(dy, axis)


# Products.


@from_vjp(np.prod, np.ndarray.prod)
def prod_rule(
    a, axis=None, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    return product(a, axis, dtype, keepdims, initial, where)


@from_vjp(np.multiply.reduce)
def multiply_reduce_rule(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    return product(array, axis, dtype, keepdims, initial, where)


@from_vjp(np.cumprod, np.ndarray.cumprod)
def cumprod_rule(a, axis=None, dtype=None, out=None) -> Result:
    a = np.asarray(a)
    y, line_pullback = cumulative_product(*flatten(a, axis), dtype)

    def cumprod_pullback(dy):
        return line_pullback(dy).reshape(a.shape)

    return y, cumprod_pullback


@from_vjp(np.multiply.accumulate)
def multiply_accumulate_rule(array, axis=0, dtype=None, out=None) -> Result:
    return cumulative_product(np.asarray(array), axis, dtype)


# Variances.


@from_vjp(np.var, np.ndarray.var)
def var_rule(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=NoValue,
    correction=NoValue,
) -> Result:
    options = given(keepdims=keepdims, where=where, mean=mean, correction=correction)
    y = np.var(a, axis, dtype, ddof=ddof, **options)
    a = np.asarray(a)

    def var_pullback(dy):
        freedom = ddof if correction is NoValue else correction
        return variance_cotangent(dy, a, axis, freedom, where, mean)

    return y, var_pullback


@from_vjp(np.std, np.ndarray.std)
def std_rule(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=NoValue,
    correction=NoValue,
) -> Result:
    """Take std as sqrt(var); where all elements are equal the derivative is set to zero."""
    options = given(keepdims=keepdims, where=where, mean=mean, correction=correction)
    y = np.std(a, axis, dtype, ddof=ddof, **options)
    a = np.asarray(a)

    def std_pullback(dy):
        freedom = ddof if correction is NoValue else correction
        return variance_cotangent(root_cotangent(dy, y), a, axis, freedom, where, mean)

    return y, std_pullback


# Extrema: elements that tie share the cotangent equally.


@from_vjp(np.max, np.amax, np.ndarray.max)
def max_rule(a, axis=None, out=None, keepdims=False, initial=NoValue, where=True) -> Result:
    return extremum(np.maximum, a, axis, keepdims, initial, where)


@from_vjp(np.min, np.amin, np.ndarray.min)
def min_rule(a, axis=None, out=None, keepdims=False, initial=NoValue, where=True) -> Result:
    return extremum(np.minimum, a, axis, keepdims, initial, where)


@from_vjp(np.maximum.reduce)
def maximum_reduce_rule(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    return extremum(np.maximum, array, axis, keepdims, initial, where, dtype)


@from_vjp(np.minimum.reduce)
def minimum_reduce_rule(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    return extremum(np.minimum, array, axis, keepdims, initial, where, dtype)


@from_vjp(np.fmax.reduce)
def fmax_reduce_rule(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    return extremum(np.fmax, array, axis, keepdims, initial, where, dtype)


@from_vjp(np.fmin.reduce)
def fmin_reduce_rule(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    return extremum(np.fmin, array, axis, keepdims, initial, where, dtype)


@overlay(np.ptp)
def ptp(a, axis=None, out=None, keepdims=False):
    result = np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims)
    return result if out is None else written(out, result)


# The formulas.


def mean_cotangent(dy: Any, shape: tuple[int, ...], axis: Axes, where: Any) -> ndarray:
    """Return the cotangent of the argument of a mean over the elements that `where` selects."""
    if where is True:
        # At least 1: an empty mean has an empty cotangent.
        return spread(dy / max(count(shape, axis), 1), axis, shape)
    dy = keep(dy, axis, shape)
    return select(where, np.broadcast_to(dy / count(shape, axis, where).astype(dy.dtype), shape))


def variance_cotangent(
    dy: Any, a: ndarray, axis: Axes, ddof: float, where: Any = True, mean: Any = NoValue
) -> Any:
    """Return 2 (a - mean) dy / (n - ddof).

    The mean itself contributes nothing: the deviations from it add up to zero.
    """
    if mean is NoValue:
        mean = np.mean(a, axis, keepdims=True, where=where)
    dy = keep(dy, axis, a.shape)
    freedom = np.maximum(count(a.shape, axis, where) - ddof, 0)
    return select(where, (a - mean) * (2 * dy / freedom.astype(dy.dtype)))


def root_cotangent(dy: Any, y: Any) -> Any:
    """Return the cotangent of v for y = sqrt(v), and zero where y is zero."""
    zero = y == 0
    return np.where(zero, 0, dy / (2 * np.where(zero, 1, y)))


def product(
    a: Any, axis: Axes, dtype: Any, keepdims: bool, initial: Any = NoValue, where: Any = True
) -> Result:
    """Multiply along axes; the cotangent of each factor is the product of the others times dy."""
    a = np.asarray(a)
    y = np.multiply.reduce(
        a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where
    )

    def prod_pullback(dy):
        factors = (a if where is True else np.where(where, a, 1)).astype(y.dtype, copy=False)
        scale = dy if initial is NoValue else dy * initial.conjugate()
        return select(where, product_cotangent(scale, factors, axis))

    return y, prod_pullback


def product_cotangent(dy: Any, factors: ndarray, axis: Axes) -> ndarray:
    """Return dy times the product of the other factors, without a division: zeros are right."""
    lines = to_lines(factors, axis)
    before, after = np.ones_like(lines), np.ones_like(lines)
    np.multiply.accumulate(lines[..., :-1], -1, out=before[..., 1:])
    np.multiply.accumulate(lines[..., :0:-1], -1, out=after[..., -2::-1])
    others = from_lines(np.multiply(before, after, out=before), axis, factors.shape)
    return keep(dy, axis, factors.shape) * others.conj()


def cumulative_product(a: ndarray, axis: int, dtype: Any) -> Result:
    """Multiply cumulatively along one axis.

    x[i] enters all products from y[i] on, so that its cotangent is sum_{k >= i} dy[k] y[k] / x[i];
    where a product is zero or not finite, the sum is built without the division.
    """
    y = np.multiply.accumulate(a, axis, dtype)

    def cumprod_pullback(dy):
        factors = a.astype(y.dtype, copy=False)
        if np.all(y) and np.all(np.isfinite(y)):
            return reverse_cumsum(dy * y.conj(), axis) / factors.conj()
        return _cumprod_cotangent(dy, factors, axis)

    return y, cumprod_pullback


def _cumprod_cotangent(dy: ndarray, factors: ndarray, axis: int) -> ndarray:
    """Return prod(x[:i]) * s[i] with the recurrence s[i] = dy[i] + x[i+1] s[i+1]."""
    x = np.moveaxis(factors, axis, 0)
    before = np.ones_like(x)
    np.multiply.accumulate(x[:-1], 0, out=before[1:])
    total = np.array(np.moveaxis(dy, axis, 0))
    for i in range(len(total) - 2, -1, -1):
        total[i] += x[i + 1].conj() * total[i + 1]
    return np.moveaxis(before.conj() * total, 0, axis)


def extremum(
    ufunc: Any,
    a: Any,
    axis: Axes,
    keepdims: bool,
    initial: Any,
    where: Any,
    dtype: Any = None,
) -> Result:
    """Reduce by a maximum or minimum; elements that tie, `initial` too, share equally.

    An extremum that is nan gives a zero cotangent: no element is equal to it.
    """
    a = np.asarray(a)
    y = ufunc.reduce(a, axis, dtype, None, keepdims, initial, where)

    def extremum_pullback(dy):
        peak = keep(y, axis, a.shape)
        tied = (a == peak) if where is True else (a == peak) & where
        number = np.sum(tied, axis=axis, keepdims=True)
        if initial is not NoValue:
            number = number + (peak == initial)
        share: Any = keep(dy, axis, a.shape)
        return np.where(tied, share / np.maximum(number, 1).astype(share.real.dtype), 0)

    return y, extremum_pullback
