"""Rules for functions that join arrays, or put elements in and leave some out.

The cotangents of the joined arrays are views of the cotangent of the whole: nothing is copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import from_vjp, linear, read_shapes_only
from mooncake_py.rules.sequences import distribute_all, filled, of_sequences
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__ = ["JOINS"]

Pullback = Callable[[Any], Any]
Shapes = list[tuple[int, ...]]
NESTED = frozenset({list, tuple})


def joining(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the tangent of a function that joins arrays: their tangents, joined."""

    @of_sequences
    def join_jvp(tangents, y, arrays, *args, **options) -> Any:
        return f(filled(tangents[0], arrays), *args, **options)

    return join_jvp


# Joining along an axis that exists.


@from_vjp(np.concatenate, np.concatenate.__wrapped__, jvp=joining(np.concatenate))  # type: ignore[attr-defined]
def concatenate_rule(arrays, /, axis=0, out=None, **options) -> tuple[ndarray, Pullback]:
    y = np.concatenate(arrays, axis, **options)  # first: it raises what NumPy raises
    shapes = _shapes(arrays)
    if axis is None:
        widths = [math.prod(shape) for shape in shapes]
    else:
        widths = [shape[axis] for shape in shapes]
    return y, _cutting(arrays, shapes, axis or 0, widths)


@from_vjp(np.vstack, jvp=joining(np.vstack))
def vstack_rule(tup, **options) -> tuple[ndarray, Pullback]:
    shapes = _shapes(tup)
    widths = [shape[0] if len(shape) > 1 else 1 for shape in shapes]
    return np.vstack(tup, **options), _cutting(tup, shapes, 0, widths)


@from_vjp(np.hstack, jvp=joining(np.hstack))
def hstack_rule(tup, **options) -> tuple[ndarray, Pullback]:
    y = np.hstack(tup, **options)
    shapes = _shapes(tup)
    axis = 0 if len(shapes[0]) <= 1 else 1
    widths = [shape[axis] if shape else 1 for shape in shapes]
    return y, _cutting(tup, shapes, axis, widths)


@from_vjp(np.dstack, jvp=joining(np.dstack))
def dstack_rule(tup) -> tuple[ndarray, Pullback]:
    shapes = _shapes(tup)
    widths = [shape[2] if len(shape) > 2 else 1 for shape in shapes]
    return np.dstack(tup), _cutting(tup, shapes, 2, widths)


@from_vjp(np.column_stack, jvp=joining(np.column_stack))
def column_stack_rule(tup) -> tuple[ndarray, Pullback]:
    shapes = _shapes(tup)
    widths = [shape[1] if len(shape) > 1 else 1 for shape in shapes]
    return np.column_stack(tup), _cutting(tup, shapes, 1, widths)


# Joining along a new axis.


@from_vjp(np.stack, jvp=joining(np.stack))
def stack_rule(arrays, axis=0, out=None, **options) -> tuple[ndarray, Pullback]:
    y = np.stack(arrays, axis, **options)
    shapes = _shapes(arrays)
    return y, _cutting(arrays, shapes, axis, [1] * len(shapes))


JOINS = (np.concatenate, np.vstack, np.hstack, np.dstack, np.column_stack, np.stack)
"""Functions that are linear in a sequence of arrays."""

read_shapes_only(np.concatenate.__wrapped__, *JOINS)  # type: ignore[attr-defined]


def is_appended(arr, values, axis=None) -> bool:
    """Return whether arrays of floats or numbers are put one after the other."""
    if axis is not None:
        return are_floats(arr, values) and type(axis) is int
    return all(are_floats(v) or type(v) in (float, np.float64) for v in (arr, values))


def append_jvp(tangents, y, arr, values, axis=None) -> ndarray:
    return np.append(filled(tangents[0], arr), filled(tangents[1], values), axis)


@shortcut(np.append, accepts=is_appended, jvp=append_jvp)
def append_rule(arr, values, axis=None) -> tuple[ndarray, Pullback]:
    y = np.append(arr, values, axis)
    shapes = _shapes((arr, values))
    if axis is None:
        widths = [math.prod(shape) for shape in shapes]
    else:
        widths = [shape[axis] for shape in shapes]
    cut = _cutting((arr, values), shapes, axis or 0, widths)
    return y, lambda dy: tuple(cut(dy)[0])


def is_blocks(arrays) -> bool:
    """Return whether arrays of floats with as many axes, all but numbers, are put side by side."""
    return (
        type(arrays) is list
        and len(arrays) > 0
        and are_floats(*arrays)
        and len({a.ndim for a in arrays}) == 1
        and arrays[0].ndim > 0
    )


@of_sequences
def block_jvp(tangents, y, arrays) -> ndarray:
    return np.block(filled(tangents[0], arrays))


@shortcut(np.block, accepts=is_blocks, jvp=block_jvp)
def block_rule(arrays) -> tuple[ndarray, Pullback]:
    y = np.block(arrays)
    shapes = _shapes(arrays)
    return y, _cutting(arrays, shapes, -1, [shape[-1] for shape in shapes])


def _shapes(arrays: Any) -> Shapes:
    return [a.shape if type(a) is ndarray else np.shape(a) for a in arrays]


def _cutting(arrays: Any, shapes: Shapes, axis: int, widths: Sequence[int]) -> Pullback:
    """Return the pullback that cuts `dy` along an axis into pieces of the given widths."""
    is_flat = type(arrays) in NESTED and NESTED.isdisjoint(map(type, arrays))
    nested = None if is_flat else arrays

    def cut_pullback(dy):
        before = (slice(None),) * (axis % dy.ndim)
        pieces, start = [], 0
        for shape, width in zip(shapes, widths, strict=True):
            stop = start + width
            piece = dy[(*before, slice(start, stop))] if before else dy[start:stop]
            pieces.append(piece if piece.shape == shape else piece.reshape(shape))
            start = stop
        return (pieces if nested is None else distribute_all(pieces, nested),)

    return cut_pullback


# Leaving out and putting in.


@linear(np.delete)
def delete_adjoint(dy, arr, obj, axis=None):
    """Put the cotangent back where the elements stood, and zero where they were deleted."""
    shape = (arr.size,) if axis is None else arr.shape
    axis = 0 if axis is None else axis % arr.ndim
    dx = np.zeros(shape, dy.dtype)
    dx[(slice(None),) * axis + (np.delete(np.arange(shape[axis]), obj),)] = dy
    return dx.reshape(arr.shape)


@linear(np.insert, wrt=(0, 2))
def insert_adjoint(dy, arr, obj, values, axis=None):
    """Sort the elements of the result into old ones and new ones."""
    n = arr.size if axis is None else arr.shape[axis]
    k = 0 if axis is None else axis % arr.ndim
    inserted = dy.shape[k] - n
    # Label the old 0, 1, ... and the new -1, -2, ...: labels in order say where each one went.
    labels = np.insert(np.arange(n), obj, -1 - np.arange(inserted))
    places = np.argsort(labels)
    darr = dy.take(places[inserted:], k).reshape(arr.shape)
    dvalues = dy.take(places[:inserted][::-1], k)
    if np.ndim(obj) == 0 and not isinstance(obj, slice):
        dvalues = np.moveaxis(dvalues, k, 0)  # as arr[:, 0] = values, not arr[:, [0]] = values
    return darr, dvalues
