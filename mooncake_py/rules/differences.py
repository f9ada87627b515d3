"""Rules for differences and convolutions along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import bilinear, linear, overlay
from mooncake_py.rules.no_value import NoValue
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__ = ["difference"]


# Differences.


@overlay(np.diff)
def diff(a, n=1, axis=-1, prepend=NoValue, append=NoValue):
    if n == 0:
        return a  # whatever it is
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
        if not dy.size:
            dx = np.zeros(shape, dy.dtype)
        else:
            dx = np.empty(shape, dy.dtype)
            first, last = (*before, slice(None, 1)), (*before, slice(-1, None))
            inside, head, tail = (
                (*before, slice(*ends)) for ends in ((1, -1), (None, -1), (1, None))
            )
            np.subtract(dy[head], dy[tail], out=dx[inside])
            dx[first], dx[last] = -dy[first], dy[last]
        dy = dx
    return dy if dy.shape == a.shape else np.zeros(a.shape, dy.dtype)  # n exceeds the length


def are_differences(a, n=1, axis=-1) -> bool:
    """Return whether neighbours are subtracted, with nothing before or after them."""
    return are_floats(a) and type(n) is int and n > 0


def diff_jvp(tangents, y, a, n=1, axis=-1) -> ndarray:
    return np.diff(tangents[0], n, axis)


@shortcut(np.diff, accepts=are_differences, jvp=diff_jvp, wrt=(0,))
def diff_rule(a, n=1, axis=-1) -> tuple[ndarray, Any]:
    y = np.diff(a, n, axis)
    if y.ndim == n == 1 and y.size:
        return y, difference_of_line

    return y, lambda dy: difference_adjoint(dy, a, n, axis)


def difference_of_line(dy: ndarray) -> ndarray:
    """Return the cotangent of a vector for that of its differences."""
    dx = np.empty(dy.size + 1, dy.dtype)
    dx[0], dx[-1] = -dy[0], dy[-1]
    np.subtract(dy[:-1], dy[1:], out=dx[1:-1])
    return dx


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
    return np.correlate(_full(dy, np.size(a), np.size(v), mode), np.atleast_1d(v), "valid")


def convolve_right(dy, a, v, mode="full"):
    return np.correlate(_full(dy, np.size(a), np.size(v), mode), np.atleast_1d(a), "valid")


def correlate_left(dy, a, v, mode="valid"):
    return np.convolve(_full(dy, np.size(a), np.size(v), mode, np.size(a) < np.size(v)), v, "valid")


def correlate_right(dy, a, v, mode="valid"):
    dy = _full(dy, np.size(a), np.size(v), mode, np.size(a) < np.size(v))
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
