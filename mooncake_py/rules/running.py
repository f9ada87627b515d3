"""Running extrema, and logarithms of sums of exponentials, also running, of whole arrays.

    y[i] = maximum(y[i - 1], x[i])      y[i] = (1 - s[i]) * y[i - 1] + s[i] * x[i]

The share s is 1 where x is above all before it, 0 where it is below, and 1/2 where it is equal, as
for `np.maximum`; here it is counted in halves.  One element after the other takes hundreds of times
as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import from_vjp, linear, overlay, zero_derivative
from mooncake_py.rules.no_value import NoValue
from mooncake_py.rules.plain_values import same_values
from mooncake_py.rules.ufunc_methods import (
    accumulated_natively,
    ufunc_accumulate,
    ufunc_reduce,
)

__all__: list[str] = []


# Running extrema.


@overlay(np.maximum.accumulate)
def maximum_accumulate(array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """Return the largest element until each."""
    return running(np.maximum, array, axis, dtype, out)


@overlay(np.minimum.accumulate)
def minimum_accumulate(array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """Return the smallest element until each."""
    return running(np.minimum, array, axis, dtype, out)


def running(ufunc: np.ufunc, array: Any, axis: int, dtype: Any, out: Any) -> Any:
    """Return the extreme of the elements along an axis until each."""
    halves = None if dtype is not None or out is not None else halves_along(ufunc, array, axis)
    if halves is None:
        return ufunc_accumulate(ufunc, array, axis, dtype, out)
    moved = np.moveaxis(array, axis, -1)
    found = mixed(np.reshape(moved, -1), halves)
    result = np.moveaxis(np.reshape(found, moved.shape), -1, axis)
    return same_values(result, accumulated_natively(ufunc, array, axis))


def halves_along(ufunc: np.ufunc, array: Any, axis: int) -> ndarray | None:
    """Return the share of each element, rows along the axis one after the other; None for nan."""
    if type(array) is not ndarray or array.dtype.kind != "f" or not array.size or not array.ndim:
        return None
    x = np.moveaxis(array, axis, -1)
    before, now = ufunc.accumulate(x, axis=-1)[..., :-1], x[..., 1:]
    if np.isnan(x).any():
        return None
    halves = np.full(x.shape, 2)
    halves[..., 1:] = 2 * (now > before if ufunc is np.maximum else now < before)
    halves[..., 1:][now == before] = 1
    return halves.reshape(-1)


def mixed(x: ndarray, halves: ndarray) -> ndarray:
    """Return the y above, for shares in halves: 0, 1 or 2 of them."""
    if not np.any(halves == 1):
        return x[np.maximum.accumulate(np.where(halves == 2, np.arange(x.size), 0))]
    result: list[float] = []
    y = 0.0
    for value, share in zip(x.tolist(), halves.tolist(), strict=True):
        if share:
            y = value if share == 2 else 0.5 * y + 0.5 * value
        result.append(y)
    return np.array(result, x.dtype)


def gathered(dy: ndarray, halves: ndarray) -> ndarray:
    """Return each element's share of the cotangent: the adjoint of `mixed`."""
    result = np.zeros_like(dy)
    if not np.any(halves == 1):
        starts = np.flatnonzero(halves == 2)
        result[starts] = np.add.reduceat(dy, starts)
        return result
    received: list[float] = []
    g = 0.0
    for value, share in zip(dy[::-1].tolist(), halves[::-1].tolist(), strict=True):
        g += value
        received.append(0.0 if not share else g if share == 2 else 0.5 * g)
        if share:
            g = 0.0 if share == 2 else 0.5 * g
    result[...] = received[::-1]
    return result


linear(mixed, wrt=0)(lambda dy, x, halves: gathered(dy, halves))
linear(gathered, wrt=0)(lambda dx, dy, halves: mixed(dx, halves))


# Logarithms of sums of exponentials.


@overlay(np.logaddexp.reduce)
def logaddexp_reduce(
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """Return ``log(sum(exp(x)))`` along axes."""
    is_plain = dtype is None and out is None and initial is NoValue and where is True
    if not (is_plain and is_finite(array)):
        return ufunc_reduce(np.logaddexp, array, axis, dtype, out, keepdims, initial, where)
    return log_of_sum(array, axis, keepdims)


def is_finite(array: Any) -> bool:
    """Return True for an array of finite floats that has axes."""
    if type(array) is not ndarray or array.dtype.kind != "f" or not array.ndim:
        return False
    return bool(np.isfinite(array).all())


def log_of_sum(x: ndarray, axis: Any, keepdims: bool) -> Any:
    """Return ``log(sum(exp(x)))`` along axes, computed as NumPy does."""
    return np.logaddexp.reduce(x, axis, keepdims=keepdims)


def along(y: Any, x: ndarray, axis: Any, keepdims: bool) -> Any:
    """Return a result so that it broadcasts with what it was computed from."""
    if keepdims or axis is None:
        return y
    axes = axis if isinstance(axis, tuple) else (axis,)
    return np.expand_dims(y, tuple([a % x.ndim for a in axes]))


def log_of_sum_jvp(tangents: Any, y: Any, x: ndarray, axis: Any, keepdims: bool) -> Any:
    share = np.exp(x - along(y, x, axis, keepdims))
    return np.sum(tangents[0] * share, axis, keepdims=keepdims)


@from_vjp(log_of_sum, jvp=log_of_sum_jvp)
def log_of_sum_rule(x: ndarray, axis: Any, keepdims: bool) -> Any:
    y = np.logaddexp.reduce(x, axis, keepdims=keepdims)
    share = np.exp(x - along(y, x, axis, keepdims))
    return y, lambda dy: along(dy, x, axis, keepdims) * share


@overlay(np.logaddexp.accumulate)
def logaddexp_accumulate(array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """Return ``log(cumsum(exp(x)))`` along an axis."""
    if dtype is not None or out is not None or not (is_finite(array) and array.size):
        return ufunc_accumulate(np.logaddexp, array, axis, dtype, out)
    y = np.moveaxis(log_of_sums(np.moveaxis(array, axis, -1)), -1, axis)
    return same_values(y, accumulated_natively(np.logaddexp, array, axis))


def log_of_sums(x: ndarray) -> ndarray:
    """Return the logarithms of the sums of exponentials until each element of the last axis."""
    return np.logaddexp.accumulate(x, axis=-1)


def shares(x: ndarray, y: ndarray) -> tuple[ndarray, ndarray]:
    """Return the derivatives of each sum with respect to the one before it and to its element."""
    before = np.exp(y[..., :-1] - y[..., 1:])
    return np.concatenate([np.zeros_like(x[..., :1]), before], axis=-1), np.exp(x - y)


def log_of_sums_jvp(tangents: Any, y: ndarray, x: ndarray) -> ndarray:
    before, now = shares(x, y)
    return recurrence(before, now * tangents[0])


@from_vjp(log_of_sums, jvp=log_of_sums_jvp)
def log_of_sums_rule(x: ndarray) -> Any:
    y = np.logaddexp.accumulate(x, axis=-1)
    before, now = shares(x, y)
    return y, lambda dy: now * backwards(before, dy)


def recurrence(a: ndarray, u: ndarray) -> ndarray:
    """Return ``z[i] = a[i] * z[i - 1] + u[i]`` along the last axis; before the first there is 0."""
    result: list[float] = []
    rows = -1, max(u.shape[-1], 1)
    for factors, values in zip(a.reshape(rows).tolist(), u.reshape(rows).tolist(), strict=True):
        z = 0.0
        for factor, value in zip(factors, values, strict=True):
            z = factor * z + value
            result.append(z)
    return np.reshape(np.array(result, u.dtype), u.shape)


def backwards(a: ndarray, dz: ndarray) -> ndarray:
    """Return the recurrence of the cotangents, from the last to the first."""
    after = np.concatenate([a[..., 1:], np.zeros_like(a[..., :1])], axis=-1)
    return recurrence(after[..., ::-1], dz[..., ::-1])[..., ::-1]


def one_before(z: ndarray) -> ndarray:
    """Return the previous element of a recurrence for each element, zero for the first."""
    return np.concatenate([np.zeros_like(z[..., :1]), z[..., :-1]], axis=-1)


def recurrence_jvp(tangents: Any, z: ndarray, a: ndarray, u: ndarray) -> ndarray:
    da, du = tangents
    if da is None:
        return recurrence(a, du)
    change = da * one_before(z)
    return recurrence(a, change if du is None else change + du)


@from_vjp(recurrence, jvp=recurrence_jvp)
def recurrence_rule(a: ndarray, u: ndarray) -> Any:
    z = recurrence(a, u)

    def pullback(dz: ndarray) -> Any:
        du = backwards(np.conj(a), dz)
        return du * np.conj(one_before(z)), du

    return z, pullback


zero_derivative(halves_along, is_finite, because="tells what is chosen, or whether it can be")
