"""Rules for functions that order elements: sort, partition, median."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import unwrap
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import Axes, flatten, from_lines, keep, shaped, to_lines
from mooncake_py.rules.declare import from_vjp, overlay, plain_jvp
from mooncake_py.rules.inplace import written
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__ = ["nanmedian_of"]

Pullback = Callable[[Any], Any]


def along(a: ndarray, axis: Any) -> tuple[ndarray, int]:
    """Return the array and axis that sorting runs over; True is an axis to it, as nowhere else."""
    return flatten(a, int(axis) if isinstance(axis, bool) else axis)


def sort_jvp(tangents, y, a, axis=-1, kind=None, order=None, *, stable=None) -> ndarray:
    """Move the tangents as the elements; equal ones keep their order."""
    flat, k = along(np.asarray(a), axis)
    places = np.argsort(flat, k, kind="stable")
    return np.take_along_axis(along(np.asarray(tangents[0]), axis)[0], places, k)


@from_vjp(np.sort, jvp=sort_jvp)
def sort_rule(a, axis=-1, kind=None, order=None, *, stable=None) -> tuple[ndarray, Pullback]:
    a = np.asarray(a)
    y = np.sort(a, axis, kind, order, stable=stable)

    def sort_pullback(dy):
        """Put the cotangents back; equal elements keep their order."""
        flat, k = along(a, axis)
        # A third less time for large arrays; the result is the same where all are different.
        quickly = y.ndim == 1 and y.size > 1000 and bool((y[1:] != y[:-1]).all()) and y[-1] == y[-1]
        order = np.argsort(flat, k, kind="quicksort" if quickly else "stable")
        return shaped(_put(order, dy, k), a.shape)

    return y, sort_pullback


@from_vjp(np.partition)
def partition_rule(
    a, kth, axis=-1, kind: Any = "introselect", order=None
) -> tuple[ndarray, Pullback]:
    y = np.partition(a, kth, axis, kind, order)
    return y, _unsorting(np.asarray(a), y, axis)


@plain_jvp(np.partition)
def partition_jvp(tangents, y, a, kth, axis=-1, kind: Any = "introselect", order=None) -> ndarray:
    """Move the tangents as the elements; equal ones keep their order."""
    flat, k = along(np.asarray(a), axis)
    before, after = np.argsort(flat, k, kind="stable"), np.argsort(y, k, kind="stable")
    moved = np.take_along_axis(along(np.asarray(tangents[0]), axis)[0], before, k)
    return _put(after, moved, k)


# With `overwrite_input` NumPy's own source is derived, which partitions the array in place.

median_source, nanmedian_source = unwrap(np.median), unwrap(np.nanmedian)


@overlay(np.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if overwrite_input or computes_in(out, a):
        return median_source(a, axis, out, overwrite_input, keepdims)
    result = median_of(a, axis, bool(keepdims))
    return result if out is None else written(out, result)


@overlay(np.nanmedian)
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if overwrite_input:
        return nanmedian_source(a, axis, out, overwrite_input, keepdims)
    keeps = False if keepdims is np._NoValue else bool(keepdims)
    result = nanmedian_of(a, axis, keeps)
    if out is None:
        return result
    out[...] = result  # broadcast to it
    return out


def computes_in(out: Any, a: Any) -> bool:
    """Return whether the mean of the two elements in the middle is taken in another precision."""
    return isinstance(out, ndarray) and out.dtype != np.asarray(a).dtype


def hashable(axis: Any) -> Any:
    """Return axes that may be a list or an array, as medians take them."""
    if isinstance(axis, ndarray):
        axis = axis.tolist()
    return tuple(axis) if isinstance(axis, list) else axis


def median_of(a: Any, axis: Axes, keepdims: bool) -> Any:
    return np.median(a, axis, keepdims=keepdims)


def nanmedian_of(a: Any, axis: Axes, keepdims: bool) -> Any:
    """Return the median that passes over nan."""
    return np.nanmedian(a, axis, keepdims=keepdims)


@from_vjp(median_of)
def median_rule(a, axis, keepdims) -> tuple[Any, Pullback]:
    a, axis = np.asarray(a), hashable(axis)

    def median_pullback(dy):
        lines = to_lines(a, axis)
        if lines.ndim == 1 and lines.size:
            return shaped(_middle_of_line(dy, lines), a.shape)
        number = np.full((*lines.shape[:-1], 1), lines.shape[-1])
        return _middle_cotangent(dy, a, axis, lines, number)

    return median_of(a, axis, keepdims), median_pullback


def is_median(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> bool:
    """Return whether the array stays as it is, and the result is new."""
    return are_floats(a) and out is None and overwrite_input is False and type(keepdims) is bool


def whole_median_jvp(
    tangents, y, a, axis=None, out=None, overwrite_input=False, keepdims=False
) -> Any:
    return median_jvp(tangents, y, a, axis, keepdims)


@shortcut(np.median, accepts=is_median, jvp=whole_median_jvp, wrt=(0,))
def whole_median_rule(
    a, axis=None, out=None, overwrite_input=False, keepdims=False
) -> tuple[Any, Pullback]:
    return median_rule(a, axis, keepdims)


@from_vjp(nanmedian_of)
def nanmedian_rule(a, axis, keepdims) -> tuple[Any, Pullback]:
    a, axis = np.asarray(a), hashable(axis)

    def nanmedian_pullback(dy):
        lines = to_lines(a, axis)
        number = np.sum(~np.isnan(lines), axis=-1, keepdims=True)
        return _middle_cotangent(dy, a, axis, lines, number)

    return nanmedian_of(a, axis, keepdims), nanmedian_pullback


@plain_jvp(median_of)
def median_jvp(tangents, y, a, axis, keepdims) -> Any:
    a = np.asarray(a)
    if a.ndim != 1 or not a.size or np.ndim(y) or np.isnan(y):
        return NotImplemented
    return sum(tangents[0][place] / 2 for place in _middle_places(a))


def _middle_of_line(dy: Any, line: ndarray) -> ndarray:
    """Do the same for a single line, which need not be sorted for it."""
    dx = np.zeros(line.size, np.result_type(dy, line))
    for place in _middle_places(line):
        dx[place] += np.reshape(dy, ()) / 2
    return dx


def _middle_places(line: ndarray) -> Iterator[Any]:
    """Yield the places of the two middle elements, which may be the same."""
    middle = (line.size - 1) // 2, line.size // 2
    for k, value in zip(middle, np.partition(line, middle)[list(middle)], strict=True):
        equal = np.flatnonzero(line == value)  # in order; nan, which is last, equals nothing
        yield (
            equal[k - np.count_nonzero(line < value)]
            if value == value
            else np.argsort(line, kind="stable")[k]
        )


def _middle_cotangent(dy: Any, a: ndarray, axis: Axes, lines: ndarray, number: ndarray) -> ndarray:
    """Give half of the cotangent to each of the two middle elements, which may be the same.

    `number` counts the elements of each line that take part; nan, sorted last, do not.
    """
    order = np.argsort(lines, -1, kind="stable")
    share = np.where(number > 0, to_lines(keep(dy, axis, a.shape), axis) / 2, 0)
    dlines = np.zeros(lines.shape, share.dtype)
    if lines.size:
        last = lines.shape[-1] - 1
        for middle in (np.maximum(number - 1, 0) // 2, np.minimum(number // 2, last)):
            place = np.take_along_axis(order, middle, -1)
            total = np.take_along_axis(dlines, place, -1) + share
            np.put_along_axis(dlines, place, total, -1)
    return from_lines(dlines, axis, a.shape)


def _unsorting(a: ndarray, y: ndarray, axis: int | None) -> Pullback:
    """Return the pullback of a permutation along an axis, found by ordering both sides.

    It works for any algorithm that made `y` from `a`; equal elements are told apart by their
    order.
    """

    def unsort_pullback(dy):
        flat, k = along(a, axis)
        before = np.argsort(flat, k, kind="stable")
        after = np.argsort(y, k, kind="stable")
        return shaped(_put(before, np.take_along_axis(dy, after, k), k), a.shape)

    return unsort_pullback


def _put(places: ndarray, values: ndarray, axis: int) -> ndarray:
    """Return the array with these values at places that are a permutation along an axis."""
    x = np.empty(places.shape, values.dtype)
    if x.ndim == 1:
        x[places] = values
    else:
        np.put_along_axis(x, places, values, axis)
    return x
