"""Rules for sums, means and cumulative sums; also those that pass over nan."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import (
    Axes,
    Result,
    count,
    counted,
    keep,
    reverse_cumsum,
    select,
    shaped,
    single,
    spread,
)
from mooncake_py.rules.declare import from_vjp, linear, plain_jvp
from mooncake_py.rules.no_value import NoValue, given

__all__: list[str] = []

WITH_INITIAL = (0, 5)


@linear(np.sum, np.ndarray.sum, wrt=WITH_INITIAL)
def sum_adjoint(dy, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    """Spread the cotangent over the summed axes."""
    return select(where, spread(dy, axis, a.shape)), dy


@linear(np.add.reduce, wrt=WITH_INITIAL)
def add_reduce_adjoint(
    dy, array, axis=0, dtype=None, out=None, keepdims=False, initial=0, where=True
):
    return select(where, spread(dy, axis, array.shape)), dy


@from_vjp(np.nansum)
def nansum_rule(
    a, axis=None, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    y = np.nansum(a, axis, dtype, **given(keepdims=keepdims, initial=initial, where=where))
    a = np.asarray(a)

    def nansum_pullback(dy):
        return select(counted(a, where), spread(dy, axis, a.shape)), *[None] * 4, dy

    return y, nansum_pullback


@plain_jvp(np.nansum)
def nansum_jvp(
    tangents, y, a, axis=None, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Any:
    if initial is not NoValue or dtype is not None:
        return NotImplemented
    return np.sum(select(counted(a, where), tangents[0]), axis, keepdims=bool(keepdims))


# Means.


@linear(np.mean, np.ndarray.mean)
def mean_adjoint(dy, a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Spread the cotangent, divided by the number of elements in each mean."""
    return mean_cotangent(dy, a.shape, axis, where)


@from_vjp(np.nanmean)
def nanmean_rule(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True) -> Result:
    y = np.nanmean(a, axis, dtype, keepdims=keepdims, where=where)
    a = np.asarray(a)

    def nanmean_pullback(dy):
        return mean_cotangent(dy, a.shape, axis, counted(a, where))

    return y, nanmean_pullback


@plain_jvp(np.nanmean)
def nanmean_jvp(
    tangents, y, a, axis=None, dtype=None, out=None, keepdims=False, *, where=True
) -> Any:
    if dtype is not None:
        return NotImplemented
    taken, keepdims = counted(a, where), bool(keepdims)
    total = np.sum(select(taken, tangents[0]), axis, keepdims=keepdims)
    return total / np.maximum(np.sum(taken, axis, keepdims=keepdims), 1)


def mean_cotangent(dy: Any, shape: tuple[int, ...], axis: Axes, where: Any) -> ndarray:
    """Return the cotangent of the argument of a mean over the elements that `where` selects."""
    if where is True:
        # At least 1: an empty mean has an empty cotangent.
        return spread(dy / max(count(shape, axis), 1), axis, shape)
    dy = keep(dy, axis, shape)
    number = np.maximum(count(shape, axis, where), 1)
    return select(where, np.broadcast_to(dy / number.astype(dy.real.dtype), shape))


# Cumulative sums: x[i] enters y[i] and all that follow.


@linear(np.cumsum, np.ndarray.cumsum)
def cumsum_adjoint(dy, a, axis=None, dtype=None, out=None):
    return shaped(reverse_cumsum(dy, 0 if axis is None else axis), a.shape)


@linear(np.add.accumulate)
def add_accumulate_adjoint(dy, array, axis=0, dtype=None, out=None):
    return reverse_cumsum(dy, single(axis))


@from_vjp(np.nancumsum)
def nancumsum_rule(a, axis=None, dtype=None, out=None) -> Result:
    a = np.asarray(a)

    def nancumsum_pullback(dy):
        sums = reverse_cumsum(dy, 0 if axis is None else axis)
        return select(counted(a), sums.reshape(a.shape))

    return np.nancumsum(a, axis, dtype), nancumsum_pullback


@plain_jvp(np.nancumsum)
def nancumsum_jvp(tangents, y, a, axis=None, dtype=None, out=None) -> Any:
    return NotImplemented if dtype is not None else np.cumsum(select(counted(a), tangents[0]), axis)
