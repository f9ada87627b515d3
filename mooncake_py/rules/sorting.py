"""Rules for functions that order elements: sort, partition, median."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import from_lines, keep, to_lines
from mooncake_py.rules.declare import from_vjp

__all__ = []

Pullback = Callable[[Any], Any]


@from_vjp(np.sort)
def sort_rule(a, axis=-1, kind=None, order=None, *, stable=None) -> tuple[ndarray, Pullback]:
    y = np.sort(a, axis, kind, order, stable=stable)
    return y, _unsorting(np.asarray(a), y, axis)


@from_vjp(np.partition)
def partition_rule(
    a, kth, axis=-1, kind: Any = "introselect", order=None
) -> tuple[ndarray, Pullback]:
    y = np.partition(a, kth, axis, kind, order)
    return y, _unsorting(np.asarray(a), y, axis)


@from_vjp(np.median)
def median_rule(
    a, axis=None, out=None, overwrite_input=False, keepdims=False
) -> tuple[Any, Pullback]:
    """Give the cotangent to the middle element, or half of it to each of two."""
    a = np.asarray(a)

    def median_pullback(dy):
        lines = to_lines(a, axis)
        n = lines.shape[-1]
        middle = np.argsort(lines, -1, kind="stable")[..., (n - 1) // 2 : n // 2 + 1]
        share = to_lines(keep(dy, axis, a.shape), axis) / middle.shape[-1]
        dlines = np.zeros(lines.shape, share.dtype)
        np.put_along_axis(dlines, middle, share, -1)
        return from_lines(dlines, axis, a.shape)

    return np.median(a, axis, keepdims=keepdims), median_pullback


def _unsorting(a: ndarray, y: ndarray, axis: int | None) -> Pullback:
    """Return the pullback of a permutation along an axis, found by ordering both sides.

    It works for any algorithm that made `y` from `a`; equal elements are told apart by their
    order.
    """

    def unsort_pullback(dy):
        flat, k = (a.reshape(-1), 0) if axis is None else (a, axis)
        before = np.argsort(flat, k, kind="stable")
        after = np.argsort(y, k, kind="stable")
        dx = np.empty(flat.shape, dy.dtype)
        np.put_along_axis(dx, before, np.take_along_axis(dy, after, k), k)
        return dx.reshape(a.shape)

    return unsort_pullback
