"""Rules for linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.axes import Result
from mooncake_py.rules.declare import from_vjp, overlay
from mooncake_py.rules.exact_zeros import pushed, scaled
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__ = ["interpolated"]


NUMBERS = np.generic, float, int, complex
NESTED = ndarray, list, tuple


@overlay(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    """Wrap a periodic function as NumPy does, and interpolate in the plane."""
    if period is None:
        return interpolated(of_numbers(x), of_numbers(xp), fp, left, right)
    if period == 0:
        raise ValueError("period must be a non-zero value")
    period = np.abs(period)
    real = np.complex128 if np.iscomplexobj(fp) else np.float64
    x, xp, fp = np.asarray(x, np.float64), np.asarray(xp, np.float64), np.asarray(fp, real)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length")
    x, xp = x % period, xp % period
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = np.concatenate((xp[-1:] - period, xp, xp[0:1] + period))
    fp = np.concatenate((fp[-1:], fp, fp[0:1]))
    return interpolated(x, xp, fp, None, None)


def of_numbers(value: Any) -> Any:
    """Return numbers as the array that NumPy makes of them; it refuses iterators."""
    if isinstance(value, np.complexfloating):
        return np.asarray(value).astype(np.float64)  # with a warning
    if type(value) in (list, tuple) and any(isinstance(v, np.complexfloating) for v in value):
        if any(type(v) is complex for v in value):
            return value  # which NumPy refuses
        return np.asarray(value).astype(np.float64)  # with a warning, as a list alone is cast
    if isinstance(value, (ndarray, *NUMBERS)) or are_numbers(value):
        return value
    if type(value) in (list, tuple) and not any(isinstance(v, NESTED) for v in value):
        made = np.empty(len(value))
        for i, part in enumerate(value):  # each as a number or an array
            made[i] = part
        return made
    if hasattr(type(value), "__float__") and not hasattr(type(value), "__array__"):
        made = np.empty(())
        made[()] = value
        return made[()]
    return value if hasattr(type(value), "__next__") else np.asarray(value, np.float64)


def as_numeric(value: Any) -> ndarray:
    """Return an array that can be subtracted: booleans are numbers here."""
    a = np.asarray(value)
    return a.astype(np.float64) if a.dtype.kind == "b" else a


def are_numbers(value: Any) -> bool:
    """Return whether a sequence holds nothing but numbers."""
    return type(value) in (list, tuple) and all(isinstance(part, NUMBERS) for part in value)


def interpolated(x, xp, fp, left=None, right=None):
    """Return np.interp(x, xp, fp, left, right)."""
    return np.interp(x, xp, fp, left, right)


def interpolated_jvp(tangents, y, x, xp, fp, left=None, right=None) -> Any:
    """Move the place, the nodes, the values at them, and those beyond the ends."""
    x, xp, fp = map(as_numeric, (x, xp, fp))
    if not x.size:
        return np.zeros_like(y)
    dx, dxp, dfp, dleft, dright = (*tangents, None, None)[:5]
    below, above, inside, k, after, width, t = places(x, xp)
    moved = np.zeros(x.shape) if dx is None else dx
    if dxp is not None:
        moved = moved - ((1 - t) * dxp[k] + t * dxp[after])
    total = pushed(np.where(inside, moved, 0), (fp[after] - fp[k]) / width)
    if dfp is not None:
        total = total + np.where(inside, (1 - t) * dfp[k] + t * dfp[after], 0)
    for beyond, value, dvalue, end in ((below, left, dleft, 0), (above, right, dright, -1)):
        if value is None:
            dvalue = None if dfp is None else dfp[end]
        if dvalue is not None:
            total = total + np.where(beyond, dvalue, 0)
    return total


@from_vjp(interpolated, jvp=interpolated_jvp)
def interpolated_rule(x, xp, fp, left=None, right=None) -> Result:
    """Interpolate linearly; at a node the slope is that to its right, outside it is zero."""

    def interp_pullback(dy):
        if not np.size(x):  # there need be no nodes then (NumPy 2.5 and newer)
            return (None,) * 5
        arrays = as_numeric(x), as_numeric(xp), as_numeric(fp)
        return cotangents(dy, *arrays, left is None, right is None)

    return np.interp(x, xp, fp, left, right), interp_pullback


def sums_at(places: Any, values: Any, n: int) -> ndarray:
    """Return the sums of the values that belong to each of n places."""
    if np.iscomplexobj(values):
        sums = np.zeros(n, values.dtype)
        np.add.at(sums, places, values)
        return sums
    values = np.asarray(values, np.float64).reshape(-1)  # all that `bincount` takes
    return np.bincount(np.asarray(places).reshape(-1), values, n)  # a fifth of the time


def places(x: ndarray, xp: ndarray) -> tuple[Any, ...]:
    """Return which x are below, above and inside of the nodes, and where each is among them.

    The place among the nodes is given by the nodes before and after x, their distance, and the
    share t of the distance at which x lies.
    """
    if np.any(xp[1:] < xp[:-1]):
        raise MissingRuleError(
            "np.interp has no derivative where xp is not increasing",
            why="its result then depends on the steps of its search",
            fix="sort first: order = np.argsort(xp); np.interp(x, xp[order], fp[order])",
        )
    n = xp.size
    inside = (x >= xp[0]) & (x <= xp[-1])  # and not nan
    k = np.minimum(np.maximum(xp.searchsorted(x, "right") - 1, 0), max(n - 2, 0))
    after = np.minimum(k + 1, n - 1)
    before = xp[k]
    width = xp[after] - before
    at_end = width == 0  # the last of several values there counts
    width = np.where(width > 0, width, np.inf)
    t = np.where(inside, np.where(at_end, 1, (x - before) / width), 0)
    return x < xp[0], x > xp[-1], inside, k, after, width, t


def cotangents(
    dy: Any, x: ndarray, xp: ndarray, fp: ndarray, left: bool, right: bool
) -> tuple[Any, ...]:
    """Return a function of the cotangents of x, xp, fp, left and right, which may be ends of fp.

    Between nodes y = (1 - t) fp[k] + t fp[k+1] with t = (x - xp[k]) / (xp[k+1] - xp[k]).
    """
    n = xp.size
    below, above, inside, k, after, width, t = places(x, xp)
    dinside = np.where(inside, dy, 0)

    def of_places() -> Any:
        slope = (fp[after] - fp[k]) / width
        return scaled(dinside, slope.conj())

    def of_nodes() -> Any:
        dx = of_places()
        return sums_at(k, (t - 1) * dx, n) - sums_at(after, t * dx, n)

    def of_values() -> Any:
        dfp = sums_at(k, (1 - t) * dinside, n) + sums_at(after, t * dinside, n)
        if left:
            dfp[0] += beyond(below)
        if right:
            dfp[-1] += beyond(above)
        return dfp

    def beyond(there: Any) -> Any:
        return np.sum(np.where(there, dy, 0))

    return (
        of_places,
        of_nodes,
        of_values,
        None if left else lambda: beyond(below),
        None if right else lambda: beyond(above),
    )


def is_interpolated(x, xp, fp, left=None, right=None, period=None) -> bool:
    """Return whether an array is interpolated between nodes that are arrays or lists of floats."""
    for nodes in (xp, fp):
        if not (are_floats(nodes) if type(nodes) is ndarray else type(nodes) is list):
            return False
    return are_floats(x) and x.size > 0 and period is None and np.ndim(xp) == np.ndim(fp) == 1


def interp_jvp(tangents, y, x, xp, fp, left=None, right=None, period=None) -> Any:
    return interpolated_jvp(tangents[:5], y, x, xp, fp, left, right)


@shortcut(np.interp, accepts=is_interpolated, jvp=interp_jvp, wrt=(0, 1, 2))
def interp_rule(x, xp, fp, left=None, right=None, period=None) -> Result:
    return interpolated_rule(x, xp, fp, left, right)
