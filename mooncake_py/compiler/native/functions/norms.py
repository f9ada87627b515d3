"""``np.linalg.norm`` of vectors along axes, and of all elements of an array.

Where a norm has a kink its derivative is that of the rule: zero at zero, and shared by elements
that tie for the largest.
"""

from __future__ import annotations

import math
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
    keeps_axes,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, ComplexArray, Unfit, Value
from mooncake_py.compiler.native.functions import extrema, reductions
from mooncake_py.compiler.native.regions.linear import linear
from mooncake_py.compiler.native.regions.region import FLOAT, REAL
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Load, Name, Op, Select

__all__ = ["NORMS", "norm"]

ZERO = Const(0.0)


def norm(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linalg.norm(x, ord, axis, keepdims)``."""
    value, order, axis, keeps = arranged(b, args, given, "x ord axis keepdims")
    a = array_of(b, value)
    ord_ = None if order is None else written(b, order)
    is_whole = axis is None or written(b, axis) is None
    axes = axes_in(b, None if is_whole else axis, len(a.shape))
    if a.kind not in REAL or isinstance(a, ComplexArray):
        raise Unfit(f"np.linalg.norm of {said(a)}: use floats", b.place)
    keeps_ = keeps_axes(b, keeps)
    if ord_ == "fro" and len(axes) != 2:
        raise Unfit("np.linalg.norm of a vector by the order 'fro'", b.place)
    if is_whole and not keeps_ and (ord_ in (None, "fro") or (ord_ == 2 and len(axes) == 1)):
        return of_all(b, a)
    if len(axes) > 2 and (ord_ is not None or not is_whole):
        raise Unfit("np.linalg.norm along more than two axes", b.place)
    if len(axes) == 2 and ord_ not in (None, "fro"):
        raise Unfit(f"np.linalg.norm of matrices by the order {ord_!r}", b.place)
    b.is_exact = False  # NumPy adds up what it computes in an order of its own
    if ord_ in (None, "fro") or ord_ == 2:
        squares = Array(a.shape, a.kind, lambda at: Op("mul", (a.at(at), a.at(at))))
        return operations.length(b, reductions.added_up(b, squares, axes, keeps_))
    return of_order(b, a, ord_, axes, keeps_)


def of_all(b: Builder, a: Array) -> Value:
    """Return the root of the sum of all squares."""
    if not is_in_line(a):  # NumPy takes a copy of it first
        b.is_exact = False
    squares = Array(a.shape, a.kind, lambda at: Op("mul", (a.at(at), a.at(at))))
    return operations.length(b, reductions.added_up(b, squares, None, op="dot"))


def of_order(b: Builder, a: Array, order: Any, axes: Sequence[int], keeps: bool) -> Value:
    """Return norms of vectors by another order than two."""
    if a.kind != FLOAT or type(order) not in (int, float) or not (order >= 1 or order == -math.inf):
        raise Unfit(f"np.linalg.norm by the order {order!r}: use one that is at least 1", b.place)
    sizes = Array(a.shape, a.kind, lambda at: Op("abs", (a.at(at),)))
    if math.isinf(order):
        kept = extrema.in_memory(b, sizes)
        extrema.require_some(b, kept, axes)
        return reductions.reduced(b, "max" if order > 0 else "min", kept, axes, keeps)
    if order == 1:
        return reductions.added_up(b, sizes, axes, keeps)
    power = Const(float(order))
    powers = Array(a.shape, a.kind, lambda at: Op("pow", (sizes.at(at), power)))
    sums = reductions.added_up(b, powers, axes, keeps)

    def root(e: Expr) -> Expr:
        found = Op("pow", (e, Const(1.0 / order)))
        return Select(Compare(("eq",), (e, ZERO)), ZERO, found)

    return operations.on_floats(b, root, [sums])


def is_in_line(a: Array) -> bool:
    """Return True for a vector whose elements follow one another in memory."""
    if len(a.shape) != 1:
        return False
    k = Name("probe")
    e = a.at((k,))
    if not isinstance(e, Load):
        return True
    counts = [linear(i).parts.get(k, 0) for i in e.index]
    return counts == [0] * (len(counts) - 1) + [1]


NORMS: dict[Any, Reader] = {np.linalg.norm: norm}
