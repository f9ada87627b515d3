"""Arrays that are made of numbers, and of other arrays one after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Number,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, plus
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT, REAL
from mooncake_py.compiler.regions.ir import Const, Expr, Op

__all__ = [
    "as_kind",
    "joined_along",
    "kind_of_parts",
    "made_of",
    "parts_in",
    "store_at",
    "with_axis",
]


def parts_in(b: Builder, value: Value | None) -> Sequence[Value]:
    """Return the items of a tuple or a list of values to be joined."""
    if not isinstance(value, Tuple) or not value.items:
        raise Unfit(
            f"joining {said(value)}: use a tuple or a list of arrays that is not empty", b.place
        )
    return value.items


def kind_of_parts(b: Builder, parts: Sequence[Value]) -> str:
    """Return the kind of an array of several values."""
    kinds = {v.kind for v in parts if isinstance(v, Number | Array)}
    if len(kinds) == 1:
        (kind,) = kinds
        return kind
    if kinds == {FLOAT, INT}:
        return FLOAT
    raise Unfit("an array of numbers of several kinds", b.place)


def as_kind(e: Expr, own: str, kind: str) -> Expr:
    """Return a number as an element of an array of floats or ints."""
    if own == kind or kind not in REAL:
        return float_of(e) if kind in REAL else e
    return float_of(e) if isinstance(e, Const) else Op("float", (e,))


def float_of(e: Expr) -> Expr:
    """Return a number that is written down as a float."""
    return Const(float(e.value)) if isinstance(e, Const) and type(e.value) is int else e


def made_of(b: Builder, value: Value | None, kind: str = "") -> Array:
    """Return an array of numbers, or of rows."""
    if isinstance(value, Array):
        of_kind = kind or value.kind
        if BOOL in (of_kind, value.kind) and of_kind != value.kind:
            raise Unfit("an array of bools where numbers are needed: convert it first", b.place)
        source = value
        return b.kept(
            Array(source.shape, of_kind, lambda at: as_kind(source.at(at), source.kind, of_kind))
        )
    if isinstance(value, Cells | Stack):
        return made_of(b, value.as_array, kind)
    if isinstance(value, Number):
        return of_number(b, value, kind)
    parts = parts_in(b, value)
    shape = shape_of_numbers(value)
    if not shape:
        rows = [v if isinstance(v, Array) else made_of(b, v, kind) for v in parts]
        found = joined_along(b, [with_axis(a, 0) for a in rows], 0, kind)
        b.layouts.certain(found)
        return found
    for _ in shape[1:]:
        parts = [v for row in parts if isinstance(row, Tuple) for v in row.items]
    kind = kind or kind_of_parts(b, parts)
    found = b.new(tuple(map(Const, shape)), kind)
    for at, v in zip(np.ndindex(shape), parts, strict=True):
        assert isinstance(v, Number)
        if v.kind != kind and BOOL in (v.kind, kind):
            raise Unfit("an array of bools and numbers: convert the bools first", b.place)
        b.add(b.stored(found, tuple(map(Const, at)), as_kind(v.e, v.kind, kind)))
    if len(shape) > 1:
        b.layouts.certain(found)
    return found


def shape_of_numbers(value: Value | None) -> tuple[int, ...]:
    """Return the shape of numbers in lists of lists of one length, empty for anything else."""
    if not isinstance(value, Tuple) or not value.items:
        return ()
    if all(isinstance(v, Number) for v in value.items):
        return (len(value.items),)
    first, *others = [shape_of_numbers(v) for v in value.items]
    return (len(value.items), *first) if first and all(s == first for s in others) else ()


def of_number(b: Builder, x: Number, kind: str = "") -> Array:
    """Return an array without axes that holds a number."""
    if x.rank is not None or x.narrow or (BOOL in (kind, x.kind) and kind not in ("", x.kind)):
        raise Unfit("an array without axes of a number whose type varies", b.place)
    found = b.new((), kind or x.kind)
    b.layouts.certain(found)
    b.add(b.stored(found, (), as_kind(x.e, x.kind, found.kind)))
    return found


def with_axis(a: Array, axis: int) -> Array:
    """Return an array with one more axis, of length one."""
    return Array(
        (*a.shape[:axis], ONE, *a.shape[axis:]),
        a.kind,
        lambda at: a.at((*at[:axis], *at[axis + 1 :])),
        a.base,
    )


def joined_along(b: Builder, parts: Sequence[Array], axis: int, kind: str = "") -> Array:
    """Return arrays one after another along an axis."""
    kind = kind or kind_of_parts(b, parts)
    first = parts[0]
    if any(len(a.shape) != len(first.shape) for a in parts) or not first.shape:
        raise Unfit("joining arrays that have different numbers of axes", b.place)
    length: Expr = ZERO
    starts: list[Expr] = []
    for a in parts:
        for k, (n, m) in enumerate(zip(a.shape, first.shape, strict=True)):
            if k != axis:
                b.check("eq", n, m)
        starts.append(length)
        length = plus(length, a.shape[axis])
    found = b.new((*first.shape[:axis], length, *first.shape[axis + 1 :]), kind)
    b.layouts.follow(found, parts)
    for a, start in zip(parts, starts, strict=True):
        store_at(b, found, a, axis, start)
    return found


def store_at(b: Builder, found: Array, a: Array, axis: int, start: Expr) -> None:
    """Store an array in a part of another one, from some index on along an axis."""
    b.for_all(
        a.shape,
        lambda at: b.stored(
            found,
            (*at[:axis], plus(start, at[axis]), *at[axis + 1 :]),
            as_kind(a.at(at), a.kind, found.kind),
        ),
    )
