"""Rules for variances and standard deviations; also those that pass over nan."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules.axes import Axes, Result, count, counted, keep, select
from mooncake_py.rules.declare import from_vjp, not_implemented
from mooncake_py.rules.exact_zeros import scaled, surely_finite
from mooncake_py.rules.kinds import function_name
from mooncake_py.rules.no_value import NoValue, given

__all__: list[str] = []

FREEDOM = 4, 8  # the positions of `ddof` and `correction`
MEAN = 7  # that of `mean`, which may be active
OF_FREEDOM = not_implemented("the derivative with respect to the degrees of freedom")


def declare(function: Any, *, skips_nan: bool = False, root: bool = False) -> None:
    """Declare a variance, or its square root."""

    def jvp(
        tangents, y, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False,
        where=True, mean=NoValue, correction=NoValue,
    ) -> Any:  # fmt: skip
        for i in FREEDOM:
            if len(tangents) > i and tangents[i] is not None:
                raise OF_FREEDOM.fail(function_name(function), i)
        freedom = ddof if correction is NoValue else correction
        held = counted(a, where) if skips_nan else where
        dmean = tangents[MEAN] if len(tangents) > MEAN else None
        if root and mean is NoValue:
            a = shifted(a, axis, held, y)
        center = center_of(a, axis, dtype, held, mean)
        dv = variance_tangent((tangents[0], dmean), a, axis, freedom, held, center)
        dv = np.reshape(dv, np.shape(y))
        return root_cotangent(dv, y) if root else dv

    # All but the array may be given by keyword only; `mean` stands by position here, as it may
    # be active.
    @from_vjp(function, jvp=jvp)
    def rule(
        a, axis=None, dtype=None, out=None, ddof=0, keepdims=False,
        where=True, mean=NoValue, correction=NoValue,
    ) -> Result:  # fmt: skip
        options = given(keepdims=keepdims, where=where, mean=mean, correction=correction)
        y = function(a, axis, dtype, ddof=ddof, **options)
        freedom = ddof if correction is NoValue else correction

        def pullback(dy):
            dv = root_cotangent(dy, y) if root else dy
            held = counted(a, where) if skips_nan else where
            x = shifted(a, axis, held, y) if root and mean is NoValue else a
            return spread_cotangents(dv, x, axis, freedom, held, mean, dtype)

        return y, pullback


def spread_cotangents(
    dy: Any, a: Any, axis: Axes, ddof: float, where: Any, mean: Any, dtype: Any
) -> tuple[Any, ...]:
    """Return da = 2 (a - mean) dy / (n - ddof), and dmean, minus the sum of that.

    The mean of the elements itself contributes nothing: the deviations from it add up to zero.
    """
    a = np.asarray(a)
    is_plain = where is True and mean is NoValue and dtype is None
    if axis is None and is_plain and np.ndim(dy) == 0 and a.size > max(ddof, 0):
        # In one expression, which NumPy computes in the memory of the difference.
        da = (a - np.mean(a)) * (2 * dy / (a.size - ddof))
        da = da if surely_finite(da) else np.where((dy == 0) & np.isnan(da), 0, da)
        return of_arguments(da, None)
    center = center_of(a, axis, dtype, where, mean)
    dy = keep(dy, axis, np.broadcast_shapes(a.shape, np.shape(center)))
    freedom = np.maximum(count(a.shape, axis, where) - ddof, 0)
    da = select(where, scaled(2 * dy / freedom.astype(dy.real.dtype), a - center))
    return of_arguments(da, lambda: -da)


def shifted(a: Any, axis: Axes, where: Any, y: Any) -> Any:
    """Return an array minus its mean if that is much larger than the standard deviation, `y`.

    The derivative is the same.  The deviations of equal elements from a mean that is rounded are
    as large as the deviation that they are divided by.
    """
    mean = mean_of(a, axis, where)
    close = keep(y, axis, np.shape(a)) <= CLOSE * np.abs(mean)
    return a - mean if np.any(close) else a


CLOSE = 1e-8


def center_of(a: Any, axis: Axes, dtype: Any, where: Any, mean: Any) -> Any:
    """Return the center of deviations: the mean, whose imaginary part a real `dtype` drops."""
    if mean is not NoValue:
        return mean
    center = mean_of(a, axis, where)
    return center if dtype is None or np.dtype(dtype).kind == "c" else np.real(center)


def mean_of(a: Any, axis: Axes, where: Any) -> Any:
    """Return the mean, the axes kept; of no elements zero, of which NumPy would warn again."""
    number = count(np.shape(a), axis, where)
    if np.all(number):
        return np.mean(a, axis, keepdims=True, where=where)
    return np.sum(a, axis, keepdims=True, where=where) / np.maximum(number, 1)


def of_arguments(da: Any, dmean: Any) -> tuple[Any, ...]:
    """Return the cotangents of all arguments."""
    return da, None, None, None, OF_FREEDOM, None, None, dmean, OF_FREEDOM


def variance_tangent(
    tangents: Any, a: Any, axis: Axes, ddof: float, where: Any, center: Any
) -> Any:
    """Return the sum of 2 (a - mean) (da - dmean) / (n - ddof), with the axes kept."""
    da, dmean = tangents
    a = np.asarray(a)
    moved = -dmean if da is None else da if dmean is None else da - dmean
    terms = np.real(scaled(moved, np.conj(a - center)))
    freedom = np.maximum(count(a.shape, axis, where) - ddof, 0)
    return scaled(np.sum(select(where, terms), axis, keepdims=True), 2 / freedom)


def root_cotangent(dy: Any, y: Any) -> Any:
    """Return dv = dy / (2 y), and zero where y is zero: all elements equal.

    Given dy this is the cotangent of v for y = sqrt(v), given dv the tangent of y.
    """
    zero = y == 0
    return np.where(zero, 0, scaled(dy, 1 / (2 * np.where(zero, 1, y))))


declare(np.var)
declare(np.ndarray.var)  # which has no argument `correction`
declare(np.nanvar, skips_nan=True)
declare(np.std, root=True)
declare(np.ndarray.std, root=True)
declare(np.nanstd, skips_nan=True, root=True)
