"""Largest and smallest elements, and where they are, as loops.

y = np.max(x)       k = 0; c = 0
for i in range(n):
leave the region if x[i] is nan
c = 1 if x[i] > x[k] else c + 1 if x[i] == x[k] else c
k = i if x[i] > x[k] else k
y = x[k]                        if c == 1
y = x[k]                        else, with the derivative of their mean:
ties share the cotangent
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mooncake_py.compiler.derivatives.number_functions import valued
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.narrow import as_kind
from mooncake_py.compiler.native.building.values import Index
from mooncake_py.compiler.native.lowering.operands import Operands
from mooncake_py.compiler.native.regions.kinds import kind_of
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

__all__ = ["place", "value"]

COMPARED = {"max": "gt", "argmax": "gt", "min": "lt", "argmin": "lt"}


class Extreme(NamedTuple):
    """Where the first of the extreme elements is, and how many are equal to it."""

    place: Index
    ties: Name


def value(b: Builder, o: Operands) -> None:
    """Find extreme elements."""

    def one() -> None:
        e = value_of(b, o, first_extreme(b, o))
        if e is not o.s.target:
            b.add(o.stored(e))

    o.for_each(b, one)


def place(b: Builder, o: Operands) -> None:
    """Find where the first of the extreme elements is, as if in one row."""

    def one() -> None:
        place: Expr = ZERO
        for n, k in zip(o.extents, first_extreme(b, o).place, strict=True):
            place = Op("add", (Op("mul", (place, n)), k)) if place != ZERO else k
        b.add(o.stored(place))

    o.for_each(b, one)


def first_extreme(b: Builder, o: Operands) -> Extreme:
    """Return where the first of the extreme elements is; there is one, and must be no nan."""
    op, kind, at, extents = COMPARED[o.s.op], kind_of(o.s.value, b.kinds), o.at, o.extents
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


def value_of(b: Builder, o: Operands, found: Extreme) -> Expr:
    """Return an extreme element; all that are equal to it share its cotangent."""
    kind, at, extents = o.kind, o.at, o.extents
    best = at(found.place)
    if kind == INT:
        return best
    is_own = kind == FLOAT and isinstance(o.s.target, Name)
    s = o.s.target if is_own else b.unbound(FLOAT)
    assert isinstance(s, Name)
    b.add(Assign(s, Const(0.0), place=b.place))
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
