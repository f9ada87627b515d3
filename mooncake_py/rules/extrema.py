"""Rules for maxima and minima; also those that pass over nan.

Elements that tie share the cotangent equally, the value given as `initial` among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import Axes, Result, keep
from mooncake_py.rules.declare import from_vjp, overlay
from mooncake_py.rules.exact_zeros import surely_finite
from mooncake_py.rules.no_value import NoValue, given

__all__ = ["extremum_cotangent", "extremum_jvp", "extremum_tangent"]


# Functions.  The position of `initial` follows that of `out` and `keepdims`.

AFTER_AXIS = 4


def extremum_jvp(
    tangents, y, a, axis=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Any:
    """Return the mean of the tangents of what ties."""
    a = np.asarray(a)
    tied, number = ties(keep(y, axis, a.shape), a, axis, initial, where)
    da = tangents[0]
    total = 0.0 if da is None else np.sum(np.where(tied, da, 0), axis, keepdims=True)
    if len(tangents) > AFTER_AXIS and tangents[AFTER_AXIS] is not None:
        total = total + np.where(keep(y, axis, a.shape) == initial, tangents[AFTER_AXIS], 0)
    return np.reshape(total / np.maximum(number, 1), np.shape(y))


@from_vjp(np.max, np.amax, np.ndarray.max, jvp=extremum_jvp)
def max_rule(a, axis=None, out=None, keepdims=False, initial=NoValue, where=True) -> Result:
    y = np.max(a, axis, **given(keepdims=keepdims, initial=initial, where=where))
    return extremum(y, a, axis, initial, where, AFTER_AXIS)


@from_vjp(np.min, np.amin, np.ndarray.min, jvp=extremum_jvp)
def min_rule(a, axis=None, out=None, keepdims=False, initial=NoValue, where=True) -> Result:
    y = np.min(a, axis, **given(keepdims=keepdims, initial=initial, where=where))
    return extremum(y, a, axis, initial, where, AFTER_AXIS)


@from_vjp(np.nanmax, jvp=extremum_jvp)
def nanmax_rule(a, axis=None, out=None, keepdims=False, initial=NoValue, where=True) -> Result:
    y = np.nanmax(a, axis, **given(keepdims=keepdims, initial=initial, where=where))
    return extremum(y, a, axis, initial, where, AFTER_AXIS)


@from_vjp(np.nanmin, jvp=extremum_jvp)
def nanmin_rule(a, axis=None, out=None, keepdims=False, initial=NoValue, where=True) -> Result:
    y = np.nanmin(a, axis, **given(keepdims=keepdims, initial=initial, where=where))
    return extremum(y, a, axis, initial, where, AFTER_AXIS)


@overlay(np.ptp)
def ptp(a, axis=None, out=None, keepdims=False):
    if out is None:
        return np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims)
    # In `out`, which `a` may overlap.
    highest = np.maximum.reduce(a, axis, out=out, keepdims=keepdims)
    return np.subtract(highest, np.minimum.reduce(a, axis, keepdims=keepdims), out)


# Reductions by ufuncs.


def declare_reduction(ufunc: np.ufunc) -> None:
    """Declare the method `reduce` of a ufunc that chooses one of its operands."""

    def reduce_jvp(
        tangents,
        y,
        array,
        axis=0,
        dtype=None,
        out=None,
        keepdims=False,
        initial=NoValue,
        where=True,
    ) -> Any:
        own = [*tangents[:2], *tangents[3:]]  # `dtype` has none
        array, initial = compared(array, dtype), compared(initial, dtype)
        return extremum_jvp(own, y, array, axis, out, keepdims, initial, where)

    @from_vjp(ufunc.reduce, jvp=reduce_jvp)
    def reduce_rule(
        array, axis=0, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
    ) -> Result:
        options = given(keepdims=keepdims, initial=initial, where=where)
        y = ufunc.reduce(array, axis, dtype, **options)
        array, initial = compared(array, dtype), compared(initial, dtype)
        return extremum(y, array, axis, initial, where, AFTER_AXIS + 1)


for _ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):
    declare_reduction(_ufunc)


def compared(value: Any, dtype: Any) -> Any:
    """Return the operands as a reduction in another dtype compares them, which rounds them."""
    return value if dtype is None or value is NoValue else np.asarray(value).astype(dtype)


def extremum(y: Any, a: Any, axis: Axes, initial: Any, where: Any, position: int) -> Result:
    """Return an extremum with its pullback; `initial` is the argument at `position`.

    An extremum that is nan gives a zero cotangent: no element is equal to it.
    """
    a = np.asarray(a)

    def extremum_pullback(dy):
        if axis is None and initial is NoValue and where is True:
            tied = a == y
            return np.where(tied, dy / max(int(np.count_nonzero(tied)), 1), 0)
        if initial is NoValue and where is True:
            return extremum_cotangent(dy, a, y, axis)
        peak: Any = keep(y, axis, a.shape)
        dpeak: Any = keep(dy, axis, a.shape)
        tied, number = ties(peak, a, axis, initial, where)
        share = dpeak / np.maximum(number, 1).astype(dpeak.real.dtype)
        da = np.where(tied, share, 0)
        if initial is NoValue:
            return da
        return da, *[None] * (position - 1), np.sum(np.where(peak == initial, share, 0))

    return y, extremum_pullback


def extremum_cotangent(dy: Any, a: Any, y: Any, axis: Axes, keepdims: bool = False) -> ndarray:
    """Return the cotangent of an array from that of its extrema along axes, `y`.

    As many elements that are equal to their extremum as there are extrema: each has one, if none is
    nan.  That is seen in a fifth of the time in which they are counted.
    """
    peak: Any = keep(y, axis, a.shape)
    share: Any = keep(dy, axis, a.shape)
    tied = a == peak
    if np.count_nonzero(tied) != peak.size or not surely_finite(y):
        number = np.sum(tied, axis=axis, keepdims=True)
        share = share / np.maximum(number, 1).astype(share.real.dtype)
    return np.where(tied, share, 0)


def extremum_tangent(da: Any, a: Any, y: Any, axis: Axes, keepdims: bool = False) -> Any:
    """Return the tangent of extrema along axes, `y`, from that of the array; no ties: as above."""
    tied = a == keep(y, axis, a.shape)
    if np.count_nonzero(tied) != np.size(y) or not surely_finite(y):
        return extremum_jvp((da,), y, a, axis, None, keepdims)
    return np.add.reduce(np.where(tied, da, 0.0), axis, keepdims=keepdims)


def ties(peak: Any, a: ndarray, axis: Axes, initial: Any, where: Any) -> tuple[Any, Any]:
    """Return which elements are equal to the extremum, and how many, `initial` among them."""
    tied = (a == peak) if where is True else (a == peak) & where
    number = np.sum(tied, axis=axis, keepdims=True)
    return tied, number if initial is NoValue else number + (peak == initial)
