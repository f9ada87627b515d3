"""Sorted vectors, their order, and medians; with ties or nan the region is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    target_of,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Known, Number, Unfit, Value
from mooncake_py.compiler.native.functions.linalg import in_memory
from mooncake_py.compiler.native.regions import systems
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Apply, Const, Expr, Op

__all__ = ["SORTING", "SORTING_METHODS"]


def vector(b: Builder, value: Value | None, axis: Value | None) -> Array:
    """Return an argument that must be a vector of float64, in its own memory."""
    a = array_of(b, value)
    if len(a.shape) != 1 or a.kind != FLOAT:
        raise Unfit(f"sorting {said(a)}: use a vector of float64", b.place)
    if not axes_in(b, axis, 1):
        raise Unfit("sorting along no axis: leave `axis` out", b.place)
    return in_memory(b, a)


def order_of(b: Builder, a: Array) -> Array:
    """Return where the elements of a vector are, from the smallest on."""
    found = b.new(a.shape, INT)
    b.add(Apply(systems.order_of, found.base, (a.base,), place=b.place))
    return found


def sorted_elements(b: Builder, a: Array) -> Array:
    """Return the elements of a vector, from the smallest on, in new memory."""
    order = order_of(b, a)
    return b.kept(Array(a.shape, FLOAT, lambda at: a.at((order.at(at),))))


def sort(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.sort(a)``."""
    value, axis = arranged(b, args, given, "a axis")
    return sorted_elements(b, vector(b, value, axis))


def sort_in_place(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``a.sort()``."""
    value, axis = arranged(b, args, given, "a axis")
    a = target_of(b, value)
    b.before_write(a)
    found = sorted_elements(b, vector(b, a, axis))
    b.store(a, found.at)
    return Known(None)


def argsort(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.argsort(a)``."""
    value, axis = arranged(b, args, given, "a axis")
    return order_of(b, vector(b, value, axis))


def median(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.median(a)``: the mean of the two elements in the middle, which may be one."""
    value, axis = arranged(b, args, given, "a axis")
    a = vector(b, value, axis)
    n = a.shape[0]
    b.check("lt", ZERO, n)
    b.is_exact = False
    found = sorted_elements(b, a)
    places = [b.counted(Op("floordiv", (k, Const(2)))) for k in (minus(n, ONE), n)]
    low, high = (found.at((k,)) for k in places)
    e: Expr = Op("mul", (Op("add", (low, high)), Const(0.5)))
    return Number(b.number(e), "float64")


SORTING: dict[Any, Reader] = {np.sort: sort, np.argsort: argsort, np.median: median}
SORTING_METHODS: dict[str, Reader] = {"sort": sort_in_place, "argsort": argsort}
