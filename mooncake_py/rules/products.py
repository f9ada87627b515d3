"""Rules for products and cumulative products; also those that pass over nan."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import (
    Axes,
    Result,
    counted,
    flatten,
    from_lines,
    keep,
    reverse_cumsum,
    select,
    single,
    to_lines,
)
from mooncake_py.rules.declare import from_vjp, plain_jvp
from mooncake_py.rules.exact_zeros import scaled
from mooncake_py.rules.no_value import NoValue, given

__all__ = ["products_of_others"]


@from_vjp(np.prod, np.ndarray.prod)
def prod_rule(
    a, axis=None, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    options = given(keepdims=keepdims, initial=initial, where=where)
    return product(np.prod(a, axis, dtype, **options), a, axis, initial, where)


@from_vjp(np.multiply.reduce)
def multiply_reduce_rule(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    options = given(keepdims=keepdims, initial=initial, where=where)
    y = np.multiply.reduce(array, axis, dtype, **options)
    return product(y, array, axis, initial, where)


@from_vjp(np.nanprod)
def nanprod_rule(
    a, axis=None, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    options = given(keepdims=keepdims, initial=initial, where=where)
    return product(np.nanprod(a, axis, dtype, **options), a, axis, initial, counted(a, where))


@plain_jvp(np.prod, np.ndarray.prod)
def prod_jvp(
    tangents, y, a, axis=None, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Any:
    """Return the sum of the tangents, each times the product of the other factors."""
    a = np.asarray(a)
    if initial is not NoValue or where is not True or dtype is not None or a.dtype.kind != "f":
        return NotImplemented
    others = from_lines(products_of_others(to_lines(a, axis)), axis, a.shape)
    return np.sum(tangents[0] * others, axis, keepdims=bool(keepdims))


def product(y: Any, a: Any, axis: Axes, initial: Any, where: Any) -> Result:
    """Multiply along axes; the cotangent of each factor is the product of the others times dy."""
    a = np.asarray(a)

    def prod_pullback(dy):
        factors = a if where is True else np.where(where, a, 1)
        factors = factors.astype(np.asarray(y).dtype, copy=False)
        scale = dy if initial is NoValue or initial is None else scaled(dy, initial.conjugate())
        da = select(where, product_cotangent(scale, factors, axis))
        if initial is NoValue:
            return da
        others = np.multiply.reduce(factors.conj(), axis, keepdims=True)
        dinitial = scaled(keep(dy, axis, a.shape), others)
        return da, *[None] * 4, np.sum(dinitial)

    return y, prod_pullback


def product_cotangent(dy: Any, factors: ndarray, axis: Axes) -> ndarray:
    """Return dy times the product of the other factors, without a division: zeros are right."""
    others = from_lines(products_of_others(to_lines(factors, axis)), axis, factors.shape)
    return scaled(keep(dy, axis, factors.shape), others.conj())


def products_of_others(lines: ndarray) -> ndarray:
    """Return for each number of a line the product of all others in it."""
    before, after = np.ones_like(lines), np.ones_like(lines)
    np.multiply.accumulate(lines[..., :-1], -1, out=before[..., 1:])
    np.multiply.accumulate(lines[..., :0:-1], -1, out=after[..., -2::-1])
    return np.multiply(before, after, out=before)


# Cumulative products.


@from_vjp(np.cumprod, np.ndarray.cumprod)
def cumprod_rule(a, axis=None, dtype=None, out=None) -> Result:
    a = np.asarray(a)
    y, line_pullback = cumulative_product(*flatten(a, axis), dtype)
    return y, lambda dy: line_pullback(dy).reshape(a.shape)


@plain_jvp(np.cumprod, np.ndarray.cumprod)
def cumprod_jvp(tangents, y, a, axis=None, dtype=None, out=None) -> Any:
    """Return y times the sums of dx / x until each element, where no product is zero."""
    a, k = flatten(np.asarray(a), axis)
    if dtype is not None or a.dtype.kind != "f" or not (np.all(y) and np.all(np.isfinite(y))):
        return NotImplemented
    shares = flatten(np.asarray(tangents[0]), axis)[0] / a
    return y * np.add.accumulate(shares, k)


@from_vjp(np.multiply.accumulate)
def multiply_accumulate_rule(array, axis=0, dtype=None, out=None) -> Result:
    return cumulative_product(np.asarray(array), single(axis), dtype)


@from_vjp(np.nancumprod)
def nancumprod_rule(a, axis=None, dtype=None, out=None) -> Result:
    a = np.asarray(a)
    factors = np.array(a)  # laid out like `a`, as NumPy's own copy
    factors[np.isnan(a)] = 1
    y, line_pullback = cumulative_product(*flatten(factors, axis), dtype)
    return y, lambda dy: select(counted(a), line_pullback(dy).reshape(a.shape))


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
        total[i] += scaled(total[i + 1], x[i + 1].conj())
    return np.moveaxis(scaled(total, before.conj()), 0, axis)
