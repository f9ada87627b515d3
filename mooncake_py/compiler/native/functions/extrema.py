"""Largest and smallest elements, and where they are, as loops.

y = np.max(x)       k = 0; c = 0
for i in range(n):
leave the region if x[i] is nan
c = 1 if x[i] > x[k] else c + 1 if x[i] == x[k] else c
k = i if x[i] > x[k] else k
y = x[k]                        if c == 1
y = x[k]                        else, with the derivative of their mean: ties share the cotangent
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mooncake_py.compiler.derivatives.number_functions import valued
from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    keeps_axes,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.narrow import as_kind
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    Array,
    Index,
    Number,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT, REAL
from mooncake_py.compiler.regions.ir import (
    Assign,
    Call,
    Check,
    Compare,
    Const,
    Expr,
    If,
    Name,
    Op,
    Select,
)

__all__ = ["extremum", "first_extreme", "place_of_extremum", "reduced"]


class Extreme(NamedTuple):
    """Where the first of the extreme elements is, and how many are equal to it."""

    place: Index
    ties: Name


def extremum(op: str) -> Reader:
    """Return the reader of ``np.max`` (``gt``) or ``np.min`` (``lt``)."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        given_a, axis, keeps = arranged(b, args, given, "a axis * keepdims")
        a = in_memory(b, given_a)

        def one(extents: Sequence[Expr], at: Callable[[Index], Expr]) -> Expr:
            return value_of(b, a.kind, extents, at, first_extreme(b, op, a.kind, extents, at))

        axes = axes_in(b, axis, len(a.shape))
        return reduced(b, a, axes, one, keeps_axes(b, keeps))

    return read


def place_of_extremum(op: str) -> Reader:
    """Return the reader of ``np.argmax`` (``gt``) or ``np.argmin`` (``lt``)."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        given_a, axis = arranged(b, args, given, "a axis")
        a = in_memory(b, given_a)

        def one(extents: Sequence[Expr], at: Callable[[Index], Expr]) -> Expr:
            place: Expr = ZERO
            found = first_extreme(b, op, a.kind, extents, at)
            for n, k in zip(extents, found.place, strict=True):
                place = Op("add", (Op("mul", (place, n)), k)) if place != ZERO else k
            return place

        return reduced(b, a, axes_in(b, axis, len(a.shape), is_one=True), one, kind=INT)

    return read


def in_memory(b: Builder, value: Value | None) -> Array:
    """Return an array of numbers, with its elements computed."""
    a = array_of(b, value)
    if a.kind == BOOL:
        raise Unfit("an extremum of truths", b.place)
    return a if a.base else b.kept(a)


def first_extreme(
    b: Builder, op: str, kind: str, extents: Sequence[Expr], at: Callable[[Index], Expr]
) -> Extreme:
    """Return where the first of the extreme elements is; there must be one, and no nan."""
    for n in extents:
        b.check("lt", ZERO, n)
    index = tuple([b.changing(ZERO, INT) for _ in extents])
    count = b.changing(ZERO, INT)

    def step(here: Index) -> None:
        x, best = at(here), at(index)
        if kind in REAL:
            b.add(Check(Compare(("eq",), (x, x)), place=b.place))
        better = b.changing(Compare((op,), (x, best)), BOOL)
        same = Select(Compare(("eq",), (x, best)), Op("add", (count, ONE)), count)
        b.rebind(count, Select(better, ONE, same))
        for k, i in zip(index, here, strict=True):
            b.rebind(k, Select(better, i, k))

    b.in_order(extents, step)
    return Extreme(index, count)


def value_of(
    b: Builder,
    kind: str,
    extents: Sequence[Expr],
    at: Callable[[Index], Expr],
    found: Extreme,
) -> Expr:
    """Return an extreme element; all that are equal to it share its cotangent."""
    best = at(found.place)
    if kind == INT:
        return b.counted(best)
    s = b.number(Const(0.0))
    whole = as_kind(best, kind, FLOAT)
    with b.within() as ties:

        def added(here: Index) -> Assign:
            x = at(here)
            e = Select(Compare(("eq",), (x, best)), as_kind(x, kind, FLOAT), Const(0.0))
            return Assign(s, Op("add", (s, e)), place=b.place)

        with b.within() as zeros:
            check_signs(b, extents, at, best)
        b.add(If(Compare(("eq",), (best, Const(0.0))), tuple(zeros), (), place=b.place))
        b.for_all(extents, added)
        mean = Op("truediv", (s, Op("float", (found.ties,))))
        b.add(Assign(s, Call(valued, (whole, mean)), place=b.place))
    alone = (Assign(s, whole, place=b.place),)
    b.add(If(Compare(("eq",), (found.ties, ONE)), alone, tuple(ties), place=b.place))
    return as_kind(s, FLOAT, kind)


def check_signs(
    b: Builder, extents: Sequence[Expr], at: Callable[[Index], Expr], best: Expr
) -> None:
    """Leave the region if zeros of both signs are extreme: which NumPy takes is not known."""

    def check(here: Index) -> None:
        x = at(here)
        same = Compare(("eq",), (Call(np.signbit, (x,)), Call(np.signbit, (best,))))
        tie = Compare(("eq",), (x, best))
        b.add(Check(Select(tie, same, Const(True)), place=b.place))

    b.in_order(extents, check)


def reduced(
    b: Builder,
    a: Array,
    axes: Sequence[int],
    one: Callable[[Sequence[Expr], Callable[[Index], Expr]], Expr],
    keeps: bool = False,
    kind: str = "",
) -> Value:
    """Return what a function makes of the elements along some axes.

    Parameters
    ----------
    one : callable
        Takes extents, and what gives an element; adds statements, and returns a number.
    kind : str, optional
        Of that number, by default that of the array.
    """
    kind = kind or a.kind
    ndim = len(a.shape)
    kept = [k for k in range(ndim) if k not in axes]
    extents = [a.shape[k] for k in range(ndim) if k in axes]

    def along(outer: Index) -> Callable[[Index], Expr]:
        def at(inner: Index) -> Expr:
            own = dict(zip(kept, outer, strict=True))
            own |= zip([k for k in range(ndim) if k in axes], inner, strict=True)
            return a.at(tuple([own[k] for k in range(ndim)]))

        return at

    if not kept:
        e = one(extents, along(()))
        e = b.counted(e) if kind == INT else e
        if keeps:
            return Array((ONE,) * ndim, kind, lambda index: e)
        return Number(e, NUMPY_TYPES[kind])
    found = b.new([a.shape[k] for k in kept], kind)
    b.layouts.follow(found, [a])
    b.in_order(found.shape, lambda at: b.add(b.stored(found, at, one(extents, along(at)))))
    if not keeps:
        return found
    return Array(
        tuple([ONE if k in axes else n for k, n in enumerate(a.shape)]),
        kind,
        lambda index: found.at(tuple([index[k] for k in kept])),
        found.base,
    )
