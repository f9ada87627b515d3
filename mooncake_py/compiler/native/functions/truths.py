"""What is true of some or all elements, and sums of ints, as loops that count."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mooncake_py.compiler.native.building.arguments import Given, Reader, arranged, array_of
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import Array, Number, Unfit, Value
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Name, Op, Select

__all__ = ["count_nonzero", "of_all", "sum_of_ints"]


def of_all(op: str) -> Reader:
    """Return the reader of ``np.any`` (``or``) or ``np.all`` (``and``) of truths."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        (value,) = arranged(b, args, given, "a")
        a = array_of(b, value)
        if a.kind != BOOL:
            raise Unfit("any or all of what are no truths", b.place)
        found = gathered(b, a, BOOL, Const(op == "and"), lambda t, e: Op(op, (t, e)))
        return Number(found, "bool_")

    return read


COUNTED = type(np.count_nonzero(np.zeros(1))).__name__
"""The type of counts, which is not the same in all versions of NumPy."""


def count_nonzero(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.count_nonzero(a)``."""
    (value,) = arranged(b, args, given, "a")
    a = array_of(b, value)

    def more(count: Name, e: Expr) -> Expr:
        test = e if a.kind == BOOL else Compare(("ne",), (e, ZERO))
        return Select(test, Op("add", (count, ONE)), count)

    return Number(gathered(b, a, INT, ZERO, more), COUNTED)


def sum_of_ints(b: Builder, a: Array) -> Number:
    """Return the sum of all elements of an array of ints or truths."""

    def more(total: Name, e: Expr) -> Expr:
        return Op("add", (total, Select(e, ONE, ZERO) if a.kind == BOOL else e))

    return Number(gathered(b, a, INT, ZERO, more), "int64")


def gathered(
    b: Builder, a: Array, kind: str, start: Expr, more: Callable[[Name, Expr], Expr]
) -> Name:
    """Return an int or a truth to which each element adds something."""
    found = b.changing(start, kind)
    b.in_order(a.shape, lambda at: b.rebind(found, more(found, a.at(at))))
    return found
