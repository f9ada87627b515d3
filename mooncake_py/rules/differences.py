"""Rules for differences, convolutions and interpolation along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import bilinear, from_vjp, linear, not_implemented, overlay
from mooncake_py.rules.no_value import NoValue

__all__ = []


# Differences.


@overlay(np.diff)
def diff(a, n=1, axis=-1, prepend=NoValue, append=NoValue):
    if prepend is NoValue and append is NoValue:
        return difference(a, n, axis)
    return diff_in_python(a, n, axis, prepend, append)


diff_in_python = np.diff.__wrapped__  # type: ignore[attr-defined]


def difference(a, n=1, axis=-1):
    """Return np.diff(a, n, axis)."""
    return np.diff(a, n, axis)


@linear(difference)
def difference_adjoint(dy, a, n=1, axis=-1):
    """Apply n times the adjoint of one difference, y[i] = x[i+1] - x[i]."""
    before = (slice(None),) * (axis % a.ndim)
    for _ in range(n):
        shape = list(dy.shape)
        shape[axis] += 1
        dx = np.zeros(shape, dy.dtype)
        dx[(*before, slice(1, None))] = dy
        dx[(*before, slice(None, -1))] -= dy
        dy = dx
    return dy if dy.shape == a.shape else np.zeros(a.shape, dy.dtype)  # n exceeds the length


@overlay(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    flat = np.asanyarray(ary).ravel()
    steps = flat[1:] - flat[:-1]
    parts = [steps]
    for end, place in ((to_begin, 0), (to_end, 2)):
        if end is not None:
            end = np.asanyarray(end)
            if not np.can_cast(end.dtype, flat.dtype, casting="same_kind"):
                name = "to_end" if place else "to_begin"
                raise TypeError(
                    f"dtype of `{name}` must be compatible with input `ary` "
                    "under the `same_kind` rule."
                )
            parts.insert(place, end.ravel().astype(flat.dtype))
    return np.concatenate(parts) if len(parts) > 1 else steps


# Convolutions: y[k] = sum_i a[i] v[k - i], and correlations with conj(v) reversed.


def convolve_left(dy, a, v, mode="full"):
    return np.correlate(_full(dy, a.size, v.size, mode), np.atleast_1d(v), "valid")


def convolve_right(dy, a, v, mode="full"):
    return np.correlate(_full(dy, a.size, v.size, mode), np.atleast_1d(a), "valid")


def correlate_left(dy, a, v, mode="valid"):
    return np.convolve(_full(dy, a.size, v.size, mode, a.size < v.size), v, "valid")


def correlate_right(dy, a, v, mode="valid"):
    dy = _full(dy, a.size, v.size, mode, a.size < v.size)
    return np.correlate(dy, np.atleast_1d(a), "valid")[::-1].conj()


bilinear(np.convolve, left=convolve_left, right=convolve_right)
bilinear(np.correlate, left=correlate_left, right=correlate_right)


def _full(dy: ndarray, n: int, m: int, mode: str, swapped: bool = False) -> ndarray:
    """Return the cotangent of the full convolution of which `mode` shows a part.

    The part "same" is centred; of two middles NumPy takes the left one, in a correlation with
    a longer second argument, which it computes the other way round, the right one.
    """
    if mode == "full":
        return dy
    start = min(n, m) - 1
    if mode == "same":
        start = (start + 1) // 2 if swapped else start // 2
    full = np.zeros(n + m - 1, dy.dtype)
    full[start : start + dy.size] = dy
    return full


# Interpolation.


@from_vjp(np.interp)
def interp_rule(
    x, xp, fp, left=None, right=None, period=None
) -> tuple[Any, Callable[[Any], Any]]:
    """Interpolate linearly; at a node the slope is that to its right, outside it is zero."""

    def interp_pullback(dy):
        if not np.size(x):  # there need be no nodes then (NumPy 2.5 and newer)
            return (None,) * 6
        if period is None:
            return _interp_cotangents(dy, np.asarray(x), np.asarray(xp), np.asarray(fp),
                                      left is None, right is None)
        return _periodic_interp_cotangents(dy, x, xp, fp, abs(period))

    return np.interp(x, xp, fp, left, right, period), interp_pullback


def _interp_cotangents(
    dy: Any, x: ndarray, xp: ndarray, fp: ndarray, from_first: bool, from_last: bool
) -> tuple[Any, ...]:
    """Return the cotangents of x, xp, fp, left and right.

    Between nodes y = (1 - t) fp[k] + t fp[k+1] with t = (x - xp[k]) / (xp[k+1] - xp[k]).
    """
    n = xp.size
    below, above = x < xp[0], x > xp[-1]
    inside = (x >= xp[0]) & (x <= xp[-1])  # and not nan
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(n - 2, 0))
    after = np.minimum(k + 1, n - 1)
    width = np.where(xp[after] > xp[k], xp[after] - xp[k], 1)
    t = np.where(inside, (x - xp[k]) / width, 0)
    dinside, slope = np.where(inside, dy, 0), (fp[after] - fp[k]) / width
    dx = dinside * slope.conj()
    dxp, dfp = np.zeros(n, dx.dtype), np.zeros(n, np.result_type(dy, t))
    np.add.at(dxp, k, (t - 1) * dx)
    np.add.at(dxp, after, -t * dx)
    np.add.at(dfp, k, (1 - t) * dinside)
    np.add.at(dfp, after, t * dinside)
    dleft, dright = np.sum(np.where(below, dy, 0)), np.sum(np.where(above, dy, 0))
    if from_first:
        dfp[0] += dleft
    if from_last:
        dfp[-1] += dright
    return dx, dxp, dfp, None if from_first else dleft, None if from_last else dright


def _periodic_interp_cotangents(
    dy: Any, x: Any, xp: Any, fp: Any, period: float
) -> tuple[Any, ...]:
    """Wrap x and the nodes into one period as NumPy does; the ends repeat the nodes there."""
    wrapped = np.asarray(xp) % period
    order = np.argsort(wrapped)
    nodes, values = wrapped[order], np.asarray(fp)[order]
    nodes = np.concatenate((nodes[-1:] - period, nodes, nodes[:1] + period))
    values = np.concatenate((values[-1:], values, values[:1]))
    dx, *extended, _, _ = _interp_cotangents(dy, np.asarray(x) % period, nodes, values, True, True)
    cotangents = []
    for d in extended:
        inner = d[1:-1].copy()
        inner[-1] += d[0]
        inner[0] += d[-1]
        unsorted = np.empty_like(inner)
        unsorted[order] = inner
        cotangents.append(unsorted)
    dperiod = not_implemented("np.interp with respect to its period")
    return dx, *cotangents, None, None, dperiod
