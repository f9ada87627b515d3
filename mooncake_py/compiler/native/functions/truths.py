"""`any` and `all` of elements, and sums of ints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    keeps_axes,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Number, Unfit, Value
from mooncake_py.compiler.native.functions.reductions import total
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Name, Op, Select

__all__ = ["count_nonzero", "gathered", "of_all", "sum_of_ints"]


def of_all(op: str) -> Reader:
    """Return the reader of ``np.any`` or ``np.all`` of bools, by its name."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        value, axis, keeps = arranged(b, args, given, "a axis * keepdims")
        a = array_of(b, value)
        if a.kind != BOOL:
            raise Unfit(f"`any` or `all` of {said(a)}: use an array of bools", b.place)
        keeps_ = keeps_axes(b, keeps)
        if (axis is None or written(b, axis) is None) and not keeps_:
            return Number(gathered(b, op, a, BOOL), "bool_")
        return along_axes(b, op, a, axes_in(b, axis, len(a.shape)), keeps_)

    return read


def along_axes(b: Builder, op: str, a: Array, axes: Sequence[int], keeps: bool) -> Array:
    """Return `any` or `all` of elements, or their sums, along some axes."""
    kept = [k for k in range(len(a.shape)) if k not in axes]
    if not kept:
        raise Unfit("a count along all axes that are kept", b.place)
    kind = INT if op == "sum" else BOOL
    found = b.new([a.shape[k] for k in kept], kind)
    b.layouts.follow(found, [a])
    start = ZERO if op == "sum" else Const(op == "all")
    b.for_all(found.shape, lambda at: b.stored(found, at, start))

    def more(at: tuple[Expr, ...]) -> None:
        place = tuple([at[k] for k in kept])
        parts = (found.at(place), a.at(at))
        b.add(b.stored(found, place, Op({"sum": "add", "all": "and", "any": "or"}[op], parts)))

    b.in_order(a.shape, more)
    if not keeps:
        return found
    shape = tuple([n if k in kept else ONE for k, n in enumerate(a.shape)])
    return Array(shape, kind, lambda at: found.at(tuple([at[k] for k in kept])), found.base)


COUNTED = type(np.count_nonzero(np.zeros(1))).__name__
"""The type of counts, which is not the same in all versions of NumPy."""


def count_nonzero(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.count_nonzero(a)``."""
    (value,) = arranged(b, args, given, "a")
    a = array_of(b, value)

    tests = a
    if a.kind != BOOL:
        tests = Array(a.shape, BOOL, lambda at: Compare(("ne",), (a.at(at), ZERO)))
    return Number(gathered(b, "count", tests, INT), COUNTED)


def sum_of_ints(
    b: Builder, a: Array, axes: Sequence[int] | None = None, keeps: bool = False
) -> Number | Array:
    """Return the sum of elements of an array of ints or bools, of all of them for None."""
    ints = a
    if a.kind == BOOL:
        ints = Array(a.shape, INT, lambda at: Select(a.at(at), ONE, ZERO))
    if axes is None or (len(axes) == len(a.shape) and not keeps):
        return Number(gathered(b, "sum", ints, INT), "int64")
    return along_axes(b, "sum", ints, axes, keeps)


def gathered(b: Builder, op: str, a: Array, kind: str) -> Name:
    """Return an int or a truth to which each element adds something."""
    return total(b, op, a.shape, a.at, kind)
