"""Functions of NumPy that put the axes of arrays in another order, add some, or leave some out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    shape_in,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import Part, flipped, viewed
from mooncake_py.compiler.native.building.joined import made_of
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Index,
    Known,
    Number,
    Slice,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.linear import ONE
from mooncake_py.compiler.regions.ir import Compare, Const, Expr

__all__ = ["AXES", "AXES_METHODS", "broadcast"]

ALL = Slice(None, None, 1)
NEW = Known(None)
GRIDS_ARE_LISTS = int(np.__version__.partition(".")[0]) < 2
"""Whether `meshgrid` gives a list, not a tuple."""


def permuted(b: Builder, a: Array, order: Sequence[int]) -> Array:
    """Return an array with its axes in another order."""
    a = b.with_order(a)
    if isinstance(a, ComplexArray):
        return a.mapped(lambda part: permuted(b, part, order))
    places = [order.index(k) for k in range(len(order))]

    def at(index: Index) -> Expr:
        return a.at(tuple([index[k] for k in places]))

    return Array(tuple([a.shape[k] for k in order]), a.kind, at, a.base, frozen=a.frozen)


def transpose(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.transpose(a, axes)``."""
    value, axes = arranged(b, args, given, "a axes")
    a = array_of(b, value)
    ndim = len(a.shape)
    if axes is None or axes == NEW:
        return permuted(b, a, range(ndim)[::-1])
    order = axes_in(b, unlisted(axes), ndim)
    if len(order) != ndim:
        raise Unfit("a transpose with an order of fewer axes than there are", b.place)
    return permuted(b, a, order)


def transpose_method(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``a.transpose(*axes)``."""
    a, *axes = args
    order = [Tuple(tuple(axes))] if len(axes) > 1 else axes
    return transpose(b, [a, *order], given)


def unlisted(axes: Value) -> Value:
    """Return axes in a list as in a tuple, where NumPy takes both."""
    return replace(axes, is_list=False) if isinstance(axes, Tuple) else axes


def swapped(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.swapaxes(a, first, second)``."""
    value, *pair = arranged(b, args, given, "a axis1 axis2")
    a = array_of(b, value)
    order = [*range(len(a.shape))]
    i, j = (one_axis(b, axis, len(order)) for axis in pair)
    order[i], order[j] = order[j], order[i]
    return permuted(b, a, order)


def moved(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.moveaxis(a, source, destination)``."""
    value, *pair = arranged(b, args, given, "a source destination")
    a = array_of(b, value)
    ndim = len(a.shape)
    if pair[0] is None or pair[1] is None:
        raise Unfit("np.moveaxis without a source or a destination: give both", b.place)
    source, destination = (axes_in(b, unlisted(axes), ndim) for axes in pair if axes)
    if len(source) != len(destination):
        raise Unfit("np.moveaxis to another number of axes", b.place)
    order = [k for k in range(ndim) if k not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        order.insert(to, axis)
    return permuted(b, a, order)


def one_axis(b: Builder, axis: Value | None, ndim: int) -> int:
    """Return an axis that must be given."""
    if axis is None:
        raise Unfit("an axis that is not given: give one", b.place)
    found = axes_in(b, axis, ndim, is_one=True)
    if len(found) != 1 or written(b, axis) is None:
        raise Unfit("an axis that is None: give one", b.place)
    return found[0]


def expanded(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.expand_dims(a, axis)``."""
    value, axis = arranged(b, args, given, "a axis")
    if isinstance(value, Number):
        raise Unfit("np.expand_dims of a number: use np.array([x])", b.place)
    a = array_of(b, value)
    count = len(axis.items) if isinstance(axis, Tuple) else 1
    ndim = len(a.shape) + count
    new = axes_in(b, unlisted(axis), ndim) if isinstance(axis, Tuple) else [one_axis(b, axis, ndim)]
    return viewed(b, a, [NEW if k in new else ALL for k in range(ndim)])


def squeezed(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.squeeze(a, axis)``; which lengths are one must be known without an axis."""
    value, axis = arranged(b, args, given, "a axis")
    a = array_of(b, value)
    if axis is None or axis == NEW:
        out = [k for k, n in enumerate(a.shape) if n == ONE]
        for k, n in enumerate(a.shape):
            if k not in out:
                b.require(Compare(("ne",), (n, ONE)))
    else:
        out = [*axes_in(b, axis, len(a.shape))]
        for k in out:
            b.check("eq", a.shape[k], ONE)
    if len(out) == len(a.shape):
        raise Unfit("an array without axes: take its only element", b.place)
    first: Part = Number(Const(0), "int")
    return viewed(b, a, [first if k in out else ALL for k in range(len(a.shape))])


def at_least(ndim: int) -> Reader:
    """Return the reader of ``np.atleast_1d(a)`` or ``np.atleast_2d(a)``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        if given or len(args) != 1:
            raise Unfit("np.atleast_1d or np.atleast_2d of several arrays", b.place)
        (value,) = args
        if isinstance(value, Number):
            value = made_of(b, Tuple((value,)))
        a = array_of(b, value)
        missing = ndim - len(a.shape)
        return viewed(b, a, [NEW] * missing + [ALL] * len(a.shape)) if missing > 0 else a

    return read


def broadcast(b: Builder, value: Value, shape: Sequence[Expr]) -> Array:
    """Return a number or an array as one of a shape, not to be written."""
    found = operations.broadcast_to(value, shape, b)
    assert isinstance(value, Number | Array)
    if isinstance(value, ComplexArray):
        raise Unfit("a complex array that is broadcast: use an operator", b.place)
    base = value.base if isinstance(value, Array) else ""
    return Array(tuple(shape), value.kind, found, base, frozen=True)


def broadcast_to(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.broadcast_to(a, shape)``."""
    value, shape = arranged(b, args, given, "array shape")
    value = value if isinstance(value, Number) else array_of(b, value)
    found = broadcast(b, value, shape_in(b, shape))
    return found if found.base else replace(b.kept(found), frozen=True)


def broadcast_all(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.broadcast_arrays(*arrays)``."""
    if given or not all(isinstance(a, Array) for a in args):
        raise Unfit(f"np.broadcast_arrays of {said(*args)}: use arrays", b.place)
    shape = operations.shape_of_all(args)
    kept = [a if a.base else b.kept(a) for a in args if isinstance(a, Array)]
    return Tuple(tuple([broadcast(b, a, shape) for a in kept]), is_list=GRIDS_ARE_LISTS)


def grids(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.meshgrid(*vectors, indexing=...)``."""
    if not set(given) <= {"indexing"}:
        raise Unfit("np.meshgrid with other options than indexing", b.place)
    indexing = written(b, given["indexing"]) if given else "xy"
    vectors = [made_of(b, Tuple((v,))) if isinstance(v, Number) else array_of(b, v) for v in args]
    if indexing not in ("xy", "ij") or any(len(v.shape) != 1 for v in vectors):
        raise Unfit(f"np.meshgrid of {said(*args)}: use vectors", b.place)
    order = [*range(len(vectors))]
    if indexing == "xy" and len(order) > 1:
        order[:2] = 1, 0
    shape = tuple([vectors[k].shape[0] for k in order])

    def grid(k: int) -> Array:
        v, axis = vectors[k], order.index(k)
        found = b.kept(Array(shape, v.kind, lambda at: v.at((at[axis],))))
        b.layouts.certain(found)
        return found

    return Tuple(tuple(map(grid, range(len(vectors)))), is_list=GRIDS_ARE_LISTS)


def flip_along(axis: int) -> Reader:
    """Return the reader of ``np.flipud(a)`` or ``np.fliplr(a)``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        (value,) = arranged(b, args, given, "m")
        a = array_of(b, value)
        if len(a.shape) <= axis:
            raise Unfit("np.fliplr of a vector: use a matrix", b.place)
        return flipped(a, [axis])

    return read


AXES: dict[Any, Reader] = {
    np.transpose: transpose, np.swapaxes: swapped, np.moveaxis: moved,
    np.expand_dims: expanded, np.squeeze: squeezed, np.atleast_1d: at_least(1),
    np.atleast_2d: at_least(2), np.broadcast_to: broadcast_to,
    np.broadcast_arrays: broadcast_all, np.meshgrid: grids, np.flipud: flip_along(0),
    np.fliplr: flip_along(1),
}  # fmt: skip
AXES_METHODS: dict[str, Reader] = {
    "transpose": transpose_method, "swapaxes": swapped, "squeeze": squeezed,
}  # fmt: skip
