"""Differences of elements, gradients on grids, and integrals by trapezoids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import viewed
from mooncake_py.compiler.native.building.joined import joined_along, store_at
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Known,
    Number,
    Slice,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import reductions
from mooncake_py.compiler.native.functions.axes import GRIDS_ARE_LISTS
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
from mooncake_py.compiler.regions.ir import Const, Expr

__all__ = ["DIFFERENCES"]

ALL = Slice(None, None, 1)
TWO = Number(Const(2.0), "float")
FIRST, LAST = Number(ZERO, "int"), Number(Const(-1), "int")


def part(b: Builder, a: Array, axis: int, start: int | None, stop: int | None) -> Array:
    """Return elements between two constant places along an axis."""
    bounds = [None if k is None else Const(k) for k in (start, stop)]
    return viewed(b, a, [*[ALL] * axis, Slice(bounds[0], bounds[1], 1)])


def axis_of(b: Builder, axis: Value | None, a: Array) -> int:
    """Return the axis that is given, else the last one."""
    if axis is None:
        return len(a.shape) - 1
    (found,) = axes_in(b, axis, len(a.shape), is_one=True)
    return found


def with_ends(b: Builder, a: Array, ends: Sequence[Value | None], axis: int) -> Array:
    """Return an array with numbers or arrays before and behind it along an axis."""
    if all(end is None for end in ends):
        return a
    parts: list[Array] = []
    for end in (ends[0], a, ends[1]):
        if isinstance(end, Number):
            shape = [ONE if k == axis else n for k, n in enumerate(a.shape)]
            parts.append(Array(tuple(shape), end.kind, operations.broadcast_to(end, shape, b)))
        elif end is not None:
            parts.append(array_of(b, end))
    return joined_along(b, parts, axis)


def difference(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.diff(a, n, axis, prepend, append)``."""
    value, order, axis, *ends = arranged(b, args, given, "a n axis prepend append")
    a = array_of(b, value)
    count = 1 if order is None else written(b, order)
    if a.kind == BOOL or type(count) is not int or count < 0 or isinstance(a, ComplexArray):
        raise Unfit(f"np.diff of {said(a)}: use numbers, and a constant order", b.place)
    if count == 0:
        raise Unfit("np.diff of order 0, which is the array itself", b.place)
    along = axis_of(b, axis, a)
    a = with_ends(b, a, ends, along)
    for _ in range(count):
        b.check("lt", ZERO, a.shape[along])
        a = a if a.base or count == 1 else b.kept(a)
        found = operations.operated(
            b, "sub", part(b, a, along, 1, None), part(b, a, along, None, -1)
        )
        assert isinstance(found, Array)
        a = found
    return a


def trapezoid(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.trapezoid(y, x, dx, axis)``."""
    value, points, step, axis = arranged(b, args, given, "y x dx axis")
    y = array_of(b, value)
    along = axis_of(b, axis, y)
    b.check("lt", ZERO, y.shape[along])
    y = y if y.base else b.kept(y)
    width: Value = Number(Const(1.0), "float") if step is None else step
    if points is not None and points != Known(None):
        x = array_of(b, points)
        if len(x.shape) not in (1, len(y.shape)) or x.kind not in (FLOAT, INT):
            raise Unfit(f"np.trapezoid at {said(x)}: use a vector of points", b.place)
        own = 0 if len(x.shape) == 1 else along
        x = x if x.base else b.kept(x)
        b.check("lt", ZERO, x.shape[own])
        width = operations.operated(b, "sub", part(b, x, own, 1, None), part(b, x, own, None, -1))
        assert isinstance(width, Array)
        if len(x.shape) == 1 and len(y.shape) > 1:
            behind = len(y.shape) - 1 - along
            width = viewed(b, b.kept(width), [ALL, *[Known(None)] * behind])
    both = operations.operated(b, "add", part(b, y, along, 1, None), part(b, y, along, None, -1))
    areas = operations.operated(
        b, "truediv", operations.operated(b, "mul", width, both), Number(Const(2.0), "float")
    )
    return reductions.added_up(b, areas, [along])


# Gradients.


def gradient(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.gradient(f, *spacings, axis)``."""
    if not set(given) <= {"axis", "edge_order"} or not args:
        raise Unfit("np.gradient with other options than axis", b.place)
    if "edge_order" in given and written(b, given["edge_order"]) != 1:
        raise Unfit("np.gradient with an edge_order of 2: use 1", b.place)
    value, *spacings = args
    f = array_of(b, value)
    if f.kind != FLOAT:
        raise Unfit(f"np.gradient of {said(f)}: use float64", b.place)
    f = f if f.base else b.kept(f)
    axes = axes_in(b, given.get("axis"), len(f.shape))
    if len(spacings) == 1:
        spacings = spacings * len(axes)
    if spacings and len(spacings) != len(axes):
        raise Unfit("np.gradient with another number of spacings than of axes", b.place)
    steps = spacings or [Number(Const(1.0), "float")] * len(axes)
    found = [gradient_along(b, f, axis, h) for axis, h in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else Tuple(tuple(found), is_list=GRIDS_ARE_LISTS)


def gradient_along(b: Builder, f: Array, axis: int, h: Value) -> Array:
    """Return central differences, and those of one side at the ends."""
    n = f.shape[axis]
    b.check("lt", ONE, n)
    found = b.new(f.shape, FLOAT)
    b.layouts.follow(found, [f])
    op = operations.operated

    def piece(start: int | None, stop: int | None) -> Array:
        return part(b, f, axis, start, stop)

    def store(value: Value, start: Expr) -> None:
        assert isinstance(value, Array)
        store_at(b, found, value, axis, start)

    if isinstance(h, Number):
        first = last = h
        twice = op(b, "mul", TWO, h)
        inner = op(b, "truediv", op(b, "sub", piece(2, None), piece(None, -2)), twice)
    else:
        x = array_of(b, h)
        if len(x.shape) != 1 or x.kind != FLOAT:
            raise Unfit(f"np.gradient at {said(x)}: use a number or a vector", b.place)
        b.check("eq", x.shape[0], n)
        b.is_exact = False  # equal distances NumPy takes for one number
        x = x if x.base else b.kept(x)
        apart = b.kept(op(b, "sub", part(b, x, 0, 1, None), part(b, x, 0, None, -1)))  # type: ignore[arg-type]
        first, last = (Number(viewed(b, apart, [k]).at(()), "float64") for k in (FIRST, LAST))
        behind = [Known(None)] * (len(f.shape) - 1 - axis)
        before, after = (
            viewed(b, part(b, apart, 0, *bounds), [ALL, *behind])
            for bounds in ((None, -1), (1, None))
        )
        both = op(b, "add", before, after)
        weights = [
            op(b, "truediv", operations.negative(b, after), op(b, "mul", before, both)),
            op(b, "truediv", op(b, "sub", after, before), op(b, "mul", before, after)),
            op(b, "truediv", before, op(b, "mul", after, both)),
        ]
        terms = [
            op(b, "mul", w, piece(*bounds))
            for w, bounds in zip(weights, ((None, -2), (1, -1), (2, None)), strict=True)
        ]
        inner = op(b, "add", op(b, "add", terms[0], terms[1]), terms[2])
    store(inner, ONE)
    store(op(b, "truediv", op(b, "sub", piece(1, 2), piece(0, 1)), first), ZERO)
    end = op(b, "sub", piece(-1, None), piece(-2, -1))
    store(op(b, "truediv", end, last), minus(n, ONE))
    return found


DIFFERENCES: dict[Any, Reader] = {np.diff: difference, np.gradient: gradient}
for _name in ("trapezoid", "trapz"):  # renamed in NumPy 2
    if hasattr(np, _name):
        DIFFERENCES[getattr(np, _name)] = trapezoid
