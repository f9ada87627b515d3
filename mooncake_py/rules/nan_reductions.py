"""Rules for reductions that pass over nan; elements that are nan have a zero cotangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules.axes import Axes, flatten, reverse_cumsum, select, spread
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.no_value import NoValue, given
from mooncake_py.rules.reductions import (
    Result,
    cumulative_product,
    extremum,
    mean_cotangent,
    product_cotangent,
    root_cotangent,
    variance_cotangent,
)

__all__ = []


# Sums and means.


@from_vjp(np.nansum)
def nansum_rule(
    a, axis=None, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    y = np.nansum(a, axis, dtype, **given(keepdims=keepdims, initial=initial, where=where))
    a = np.asarray(a)

    def nansum_pullback(dy):
        return select(_counted(a, where), spread(dy, axis, a.shape))

    return y, nansum_pullback


@from_vjp(np.nanmean)
def nanmean_rule(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True) -> Result:
    y = np.nanmean(a, axis, dtype, keepdims=keepdims, where=where)
    a = np.asarray(a)

    def nanmean_pullback(dy):
        return mean_cotangent(dy, a.shape, axis, _counted(a, where))

    return y, nanmean_pullback


@from_vjp(np.nancumsum)
def nancumsum_rule(a, axis=None, dtype=None, out=None) -> Result:
    a = np.asarray(a)

    def nancumsum_pullback(dy):
        sums = reverse_cumsum(dy, 0 if axis is None else axis)
        return select(_counted(a), sums.reshape(a.shape))

    return np.nancumsum(a, axis, dtype), nancumsum_pullback


# Products.


@from_vjp(np.nanprod)
def nanprod_rule(
    a, axis=None, dtype=None, out=None, keepdims=False, initial=NoValue, where=True
) -> Result:
    y = np.nanprod(a, axis, dtype, **given(keepdims=keepdims, initial=initial, where=where))
    a = np.asarray(a)

    def nanprod_pullback(dy):
        counted = _counted(a, where)
        factors = np.where(counted, a, 1).astype(y.dtype, copy=False)
        scale = dy if initial is NoValue else dy * initial.conjugate()
        return select(counted, product_cotangent(scale, factors, axis))

    return y, nanprod_pullback


@from_vjp(np.nancumprod)
def nancumprod_rule(a, axis=None, dtype=None, out=None) -> Result:
    a = np.asarray(a)
    y, pullback = cumulative_product(*flatten(np.where(np.isnan(a), 1, a), axis), dtype)

    def nancumprod_pullback(dy):
        return select(_counted(a), pullback(dy).reshape(a.shape))

    return y, nancumprod_pullback


# Variances.


@from_vjp(np.nanvar)
def nanvar_rule(
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
    y = np.nanvar(a, axis, dtype, ddof=ddof, **options)
    a = np.asarray(a)

    def nanvar_pullback(dy):
        freedom = ddof if correction is NoValue else correction
        return variance_cotangent(dy, a, axis, freedom, _counted(a, where), mean)

    return y, nanvar_pullback


@from_vjp(np.nanstd)
def nanstd_rule(
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
    y = np.nanstd(a, axis, dtype, ddof=ddof, **options)
    a = np.asarray(a)

    def nanstd_pullback(dy):
        freedom = ddof if correction is NoValue else correction
        dv = root_cotangent(dy, y)
        return variance_cotangent(dv, a, axis, freedom, _counted(a, where), mean)

    return y, nanstd_pullback


# Extrema.


@from_vjp(np.nanmax)
def nanmax_rule(a, axis=None, out=None, keepdims=False, initial=NoValue, where=True) -> Result:
    return _nan_extremum(np.nanmax, np.fmax, a, axis, keepdims, initial, where)


@from_vjp(np.nanmin)
def nanmin_rule(a, axis=None, out=None, keepdims=False, initial=NoValue, where=True) -> Result:
    return _nan_extremum(np.nanmin, np.fmin, a, axis, keepdims, initial, where)


def _nan_extremum(
    function: Any, ufunc: Any, a: Any, axis: Axes, keepdims: bool, initial: Any, where: Any
) -> Result:
    """Take the value, and the warning about slices of nan only, from NumPy's own function."""
    y = function(a, axis, **given(keepdims=keepdims, initial=initial, where=where))
    _, pullback = extremum(ufunc, a, axis, keepdims, initial, where)
    return y, pullback


def _counted(a: np.ndarray, where: Any = True) -> np.ndarray:
    """Return the mask of the elements that enter the result."""
    numbers = ~np.isnan(a)
    return numbers if where is True else numbers & where
