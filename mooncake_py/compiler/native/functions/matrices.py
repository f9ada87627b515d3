"""Functions of NumPy that make matrices, or take parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    kind_in,
    shape_in,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import diagonal, viewed
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Index,
    Known,
    Number,
    Slice,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import reductions
from mooncake_py.compiler.native.regions.linear import ZERO, minus, plus
from mooncake_py.compiler.native.regions.region import BOOL, INT, REAL
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Select

__all__ = ["MATRIX_FUNCTIONS", "beside_diagonal", "offset", "trace", "with_diagonal"]


def offset(b: Builder, value: Value | None) -> Expr:
    """Return by how much a diagonal is above the main one."""
    if value is None:
        return ZERO
    if not isinstance(value, Number) or value.kind != INT:
        raise Unfit("a diagonal chosen by something other than a constant int", b.place)
    return b.steady(value.e)


def with_diagonal(b: Builder, v: Array, k: Value | None) -> Array:
    """Return a matrix with the elements of a vector on a diagonal, zeros elsewhere."""
    if v.kind == BOOL or isinstance(v, ComplexArray):
        raise Unfit(f"np.diag of {said(v)}: use numbers", b.place)
    v = v if v.base else b.kept(v)
    above = offset(b, k)
    if above != ZERO and not isinstance(above, Const):
        raise Unfit("np.diag with an offset that is not constant", b.place)
    first = int(above.value or 0) if isinstance(above, Const) else 0
    n = plus(v.shape[0], Const(abs(first)))
    found = b.new((n, n), v.kind, zero=True)
    b.layouts.certain(found)
    row, column = Const(max(-first, 0)), Const(max(first, 0))
    b.for_all(
        v.shape,
        lambda at: b.stored(found, (plus(row, at[0]), plus(column, at[0])), v.at(at)),
    )
    return found


def beside_diagonal(b: Builder, a: Array, k: Value) -> Array:
    """Return the part of a square matrix whose diagonal is one above its own."""
    above = offset(b, k)
    if not isinstance(above, Const) or len(a.shape) != 2:
        raise Unfit("a diagonal with an offset that is not constant", b.place)
    b.check("eq", a.shape[0], a.shape[1])
    first = int(above.value or 0)
    if not first:
        return a
    b.check("le", Const(abs(first)), a.shape[0])
    later, earlier = Slice(Const(abs(first)), None, 1), Slice(None, Const(-abs(first)), 1)
    return viewed(b, a, [earlier, later] if first > 0 else [later, earlier])


def eye(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.eye(n, m, k)``."""
    rows, columns, k, dtype = arranged(b, args, given, "N M k dtype")
    if columns is None or columns == Known(None):
        columns = rows
    shape = (*shape_in(b, rows), *shape_in(b, columns))
    return with_ones(b, shape, offset(b, k), kind_in(b, dtype))


def identity(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.identity(n)``."""
    n, dtype = arranged(b, args, given, "n dtype")
    rows = shape_in(b, n)
    return with_ones(b, (*rows, *rows), ZERO, kind_in(b, dtype))


def with_ones(b: Builder, shape: Index, k: Expr, kind: str) -> Array:
    """Return a matrix with ones on a diagonal, zeros elsewhere."""
    if len(shape) != 2 or kind == BOOL:
        raise Unfit("a matrix of bools, or an array that has not two axes", b.place)
    zero, one = (Const(0.0), Const(1.0)) if kind in REAL else (Const(0), Const(1))
    return Array(
        shape, kind, lambda at: Select(Compare(("eq",), (minus(at[1], at[0]), k)), one, zero)
    )


def triangle(op: str) -> Reader:
    """Return the reader of ``np.triu`` or ``np.tril``, by how ``j - i`` compares with ``k``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        m, k = arranged(b, args, given, "m k")
        a, first = array_of(b, m), offset(b, k)
        if len(a.shape) != 2 or a.kind == BOOL:
            raise Unfit(f"a triangle of {said(a)}: use a matrix of numbers", b.place)
        zero = Const(0.0) if a.kind in REAL else Const(0)
        return Array(
            a.shape,
            a.kind,
            lambda at: Select(Compare((op,), (minus(at[1], at[0]), first)), a.at(at), zero),
        )

    return read


def trace(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.trace(a)``."""
    (a,) = arranged(b, args, given, "a")
    return reductions.added_up(b, diagonal(b, array_of(b, a)), None, op="trace")


MATRIX_FUNCTIONS: dict[Any, Reader] = {
    np.eye: eye, np.identity: identity, np.triu: triangle("ge"), np.tril: triangle("le"),
    np.trace: trace,
}  # fmt: skip
