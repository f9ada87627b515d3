"""Axes of reductions: the cotangent of a reduced array spread again over what was reduced."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import overlay

__all__ = [
    "Axes",
    "Result",
    "backwards",
    "count",
    "counted",
    "flatten",
    "from_lines",
    "keep",
    "normalize",
    "owned",
    "reverse_cumsum",
    "select",
    "shaped",
    "single",
    "spread",
    "to_lines",
]

Axes = int | tuple[int, ...] | None
Result = tuple[Any, Callable[[Any], Any]]


def normalize(axis: Axes, ndim: int) -> tuple[int, ...]:
    """Return the axes meant by an `axis` argument, counted from 0 and sorted."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(int(k) % ndim for k in axes)) if ndim else ()


def keep(dy: Any, axis: Axes, shape: tuple[int, ...]) -> ndarray:
    """Return `dy` with the axes that were reduced from `shape` back as axes of length 1."""
    dy = np.asarray(dy)
    if dy.ndim == len(shape):  # keepdims=True, or nothing was reduced
        return dy
    if type(axis) is ndarray:  # of no axes, which NumPy takes for an int
        axis = int(axis)
    return dy[with_axes(axis, len(shape))]


@lru_cache(maxsize=256)
def with_axes(axis: Axes, ndim: int) -> tuple[Any, ...]:
    """Return the index by which a reduced array has its axes again, of length 1."""
    axes = normalize(axis, ndim)
    return tuple([np.newaxis if k in axes else slice(None) for k in range(ndim)])


def spread(dy: Any, axis: Axes, shape: tuple[int, ...]) -> ndarray:
    """Return `dy` repeated over the axes that were reduced: a read-only view of shape `shape`."""
    dy = np.asarray(dy)
    if dy.ndim:
        return np.broadcast_to(keep(dy, axis, shape), shape)
    return repeated(dy, shape)


def repeated(dy: ndarray, shape: tuple[int, ...]) -> ndarray:
    """Return a number as a read-only array: as np.broadcast_to, at a tenth of its price."""
    view = np.ndarray(shape, dy.dtype, dy, 0, (0,) * len(shape))
    view.flags.writeable = False
    return view


@overlay(repeated)
def repeated_derivable(dy, shape):
    """Compute the same in a way that can itself be differentiated."""
    return np.broadcast_to(dy, shape)


def count(shape: tuple[int, ...], axis: Axes, where: Any = True) -> Any:
    """Return how many elements enter each result: an int, or an array with the axes kept."""
    if where is True:
        return prod(shape[k] for k in normalize(axis, len(shape)))
    return np.sum(np.broadcast_to(where, shape), axis=axis, keepdims=True)


def counted(a: Any, where: Any = True) -> ndarray:
    """Return the mask of the elements that a function that passes over nan takes in."""
    numbers = ~np.isnan(a)
    return numbers if where is True else numbers & where


def select(where: Any, dx: Any) -> Any:
    """Return `dx` where the mask is true and zero elsewhere, even where `dx` is not finite."""
    return dx if where is True else np.where(where, dx, 0)


def shaped(x: ndarray, shape: tuple[int, ...]) -> ndarray:
    """Return `x` in another shape; itself if it has that, as views are copied when handed over."""
    return x if x.shape == shape else x.reshape(shape)


def owned(x: Any, shape: tuple[int, ...]) -> Any:
    """Return a result that was computed in another shape, as a number or an array, not a view."""
    if x.shape != shape:
        x = np.reshape(x, shape)[()]
    return np.copy(x) if isinstance(x, ndarray) and x.base is not None else x


def to_lines(a: ndarray, axis: Axes) -> ndarray:
    """Return `a` with the axes of a reduction moved to the end and merged into one."""
    order, kept = _lines_order(axis, a.ndim)
    shape = [a.shape[k] for k in order]
    return a.transpose(order).reshape([*shape[:kept], prod(shape[kept:])])


def from_lines(lines: ndarray, axis: Axes, shape: tuple[int, ...]) -> ndarray:
    """Undo :func:`to_lines` for an array of shape `shape`."""
    order, _ = _lines_order(axis, len(shape))
    inverse = sorted(range(len(order)), key=order.__getitem__)
    return lines.reshape([shape[k] for k in order]).transpose(inverse)


def flatten(a: ndarray, axis: int | None) -> tuple[ndarray, int]:
    """Return the array and axis that an accumulation runs over: all in one line for None."""
    if axis is not None and (a.ndim == 0 or isinstance(axis, tuple)):
        np.cumsum(a, axis)  # raises if it is not 0 or -1
    return (a.reshape(-1), 0) if axis is None or a.ndim == 0 else (a, axis)


def backwards(axis: int, ndim: int) -> tuple[slice, ...]:
    """Return the index that reverses one axis."""
    return (slice(None),) * (axis % ndim) + (slice(None, None, -1),)


def single(axis: Any) -> Any:
    """Return an axis that may stand in a tuple alone."""
    return axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis


def reverse_cumsum(dy: ndarray, axis: int) -> ndarray:
    """Return the sums of each element of `dy` and all that follow it along an axis."""
    reverse = backwards(axis, dy.ndim)
    sums = np.empty(dy.shape, dy.dtype)
    np.add.accumulate(dy[reverse], axis, out=sums[reverse])
    return sums


def _lines_order(axis: Axes, ndim: int) -> tuple[list[int], int]:
    axes = normalize(axis, ndim)
    rest = [k for k in range(ndim) if k not in axes]
    return [*rest, *axes], len(rest)
