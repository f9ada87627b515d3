"""Quantiles and percentiles of an array, by linear interpolation between its sorted elements.

The source that NumPy has for all methods is derived for the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import Axes, Result, from_lines, to_lines
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__: list[str] = []


def quantiles(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *,
    weights=None,
) -> bool:  # fmt: skip
    """Return whether the array has elements, and they are counted alike and left in place."""
    is_plain = out is None and overwrite_input is False and keepdims is False and weights is None
    if not (is_plain and method == "linear" and are_floats(a) and a.size):
        return False
    return np.ndim(q) <= 1 and np.size(q) > 0 and (axis is None or type(axis) is int)


def neighbours(a: ndarray, q: Any, axis: Axes, whole: float, y: Any) -> tuple[Any, ...]:
    """Return lines, the places in each of the elements below and above a quantile, and the share.

    Equal elements keep their order.  The places have an axis for the quantiles in front.
    """
    lines = to_lines(a, axis)
    order = np.argsort(lines, -1, kind="stable")
    last = lines.shape[-1] - 1
    at = np.ravel(q) / whole * last
    below = np.clip(np.floor(at).astype(np.intp), 0, last)
    above = np.minimum(below + 1, last)
    share = (at - below).astype(np.asarray(y).dtype)  # for several, that is double precision
    first, second = (np.moveaxis(order[..., k], -1, 0) for k in (below, above))
    return lines, first, second, share.reshape(-1, *(1,) * (lines.ndim - 1))


def declare(function: Any, whole: float) -> None:
    """Declare quantiles, of which `whole` is the largest."""

    def jvp(tangents, y, a, q, axis=None, *more, **options) -> Any:
        _, first, second, share = neighbours(a, q, axis, whole, y)
        moved = to_lines(tangents[0], axis)
        below, above = (
            np.take_along_axis(moved[None], k[..., None], -1)[..., 0] for k in (first, second)
        )
        return np.reshape((1 - share) * below + share * above, np.shape(y))

    @shortcut(function, accepts=quantiles, jvp=jvp, wrt=(0,))
    def rule(a, q, axis=None, *more, **options) -> Result:
        y = function(a, q, axis, *more, **options)

        def pullback(dy):
            lines, first, second, share = neighbours(a, q, axis, whole, y)
            dy = np.reshape(dy, first.shape)
            dlines = np.zeros(lines.shape, dy.dtype)
            rows = np.ogrid[tuple(slice(n) for n in lines.shape[:-1])]
            for places, weights in ((first, 1 - share), (second, share)):
                for g, k in zip(weights * dy, places, strict=True):
                    dlines[(*rows, k)] += g
            return from_lines(dlines, axis, a.shape)

        return y, pullback


declare(np.quantile, 1.0)
declare(np.percentile, 100.0)
