"""What is true of some or all elements, and sums of ints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mooncake_py.compiler.native.building.arguments import Given, Reader, arranged, array_of
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Number, Unfit, Value
from mooncake_py.compiler.native.functions.reductions import total
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.compiler.regions.ir import Compare, Name, Select

__all__ = ["count_nonzero", "gathered", "of_all", "sum_of_ints"]


def of_all(op: str) -> Reader:
    """Return the reader of ``np.any`` or ``np.all`` of truths, by its name."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        (value,) = arranged(b, args, given, "a")
        a = array_of(b, value)
        if a.kind != BOOL:
            raise Unfit(f"`any` or `all` of {said(a)}: use an array of bools", b.place)
        return Number(gathered(b, op, a, BOOL), "bool_")

    return read


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


def sum_of_ints(b: Builder, a: Array) -> Number:
    """Return the sum of all elements of an array of ints or truths."""
    ints = a
    if a.kind == BOOL:
        ints = Array(a.shape, INT, lambda at: Select(a.at(at), ONE, ZERO))
    return Number(gathered(b, "sum", ints, INT), "int64")


def gathered(b: Builder, op: str, a: Array, kind: str) -> Name:
    """Return an int or a truth to which each element adds something."""
    return total(b, op, a.shape, a.at, kind)
