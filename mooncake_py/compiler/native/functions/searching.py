"""Where numbers belong in a sorted array, and values between those of a table."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import Array, Index, Number, Unfit, Value
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
from mooncake_py.compiler.regions.ir import (
    Assign,
    Check,
    Compare,
    Const,
    Expr,
    If,
    Name,
    Op,
    Select,
    While,
)

__all__ = ["SEARCHING"]

SIDES = {"left": "lt", "right": "le"}


def searched(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.searchsorted(a, v, side)``."""
    table, value, side = arranged(b, args, given, "a v side")
    a = sorted_in(b, table)
    op = SIDES["left" if side is None else written(b, side)]
    if not isinstance(value, Number):
        check_order(b, a)
    return for_each(b, value, INT, lambda x: place_in(b, a, x, op))


def bisected(side: str) -> Reader:
    """Return the reader of ``bisect_left`` or ``bisect_right``, of floats."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        if given or len(args) != 2 or not isinstance(args[1], Number):
            raise Unfit("`bisect` with other arguments than a list and a number", b.place)
        e = b.number(operations.as_float(operations.as_element(b, args[1])))
        return Number(place_in(b, sorted_in(b, args[0]), e, SIDES[side]), "int")

    return read


def sorted_in(b: Builder, value: Value | None) -> Array:
    """Return a table that is searched, a vector of float64."""
    a = array_of(b, value)
    if len(a.shape) != 1 or a.kind != FLOAT:
        raise Unfit(f"a search in {said(a)}: use a vector of float64", b.place)
    return a if a.base else b.kept(a)


def check_order(b: Builder, a: Array) -> None:
    """Leave the region if a table is not sorted: NumPy's search then depends on the last one."""

    def check(at: Index) -> None:
        after: Index = (Op("add", (at[0], ONE)),)
        b.add(Check(Compare(("le",), (a.at(at), a.at(after))), place=b.place))

    b.in_order((minus(a.shape[0], ONE),), check)


def for_each(b: Builder, value: Value | None, kind: str, one: Callable[[Expr], Expr]) -> Value:
    """Return the results of a function for a number, or each element of an array, of float64."""
    if isinstance(value, Number) and value.kind in (FLOAT, INT) and not value.narrow:
        e = value.e if value.kind == FLOAT else Op("float", (value.e,))
        found = one(b.number(e))
        return Number(found, "int64" if kind == INT else "float64")
    a = array_of(b, value)
    if a.kind != FLOAT:
        raise Unfit(f"a search for {said(a)}: use float64", b.place)
    a = a if a.base else b.kept(a)
    result = b.new(a.shape, kind)
    b.layouts.follow(result, [a])
    b.in_order(a.shape, lambda at: b.add(b.stored(result, at, one(a.at(at)))))
    return result


def place_in(b: Builder, a: Array, x: Expr, op: str) -> Name:
    """Return how many elements of a sorted vector come before a number, which must not be nan."""
    b.add(Check(Compare(("eq",), (x, x)), place=b.place))
    low, high = b.changing(ZERO, INT), b.changing(a.shape[0], INT)
    halve(b, a, x, op, low, high)
    return low


def place_after(b: Builder, a: Array, x: Expr) -> Name:
    """Return how many elements of a sorted vector are at most a number, which must not be nan."""
    return place_in(b, a, x, SIDES["right"])


def halve(b: Builder, a: Array, x: Expr, op: str, low: Name, high: Name) -> None:
    """Search between two places, until both are where a number belongs."""
    with b.within() as block:
        middle = b.changing(Op("floordiv", (Op("add", (low, high)), Const(2))), INT)
        before = b.changing(Compare((op,), (a.at((middle,)), x)), BOOL)
        b.rebind(low, Select(before, Op("add", (middle, ONE)), low))
        b.rebind(high, Select(before, high, middle))
    b.add(While(Compare(("lt",), (low, high)), tuple(block), place=b.place))


def place_from_start(b: Builder, a: Array, x: Expr) -> Name:
    """Return how many elements of a vector are at most a number, not nan, in NumPy's steps.

    Its `interp` looks at four elements first, then at ten (``binary_search_with_guess`` in
    ``compiled_base.c``).  In a vector that is not sorted this decides what is found.
    """
    b.add(Check(Compare(("eq",), (x, x)), place=b.place))
    n = a.shape[0]
    low, least = b.changing(ONE, INT), b.counted(Op("min", (n, Const(4))))
    tried = b.changing(Const(True), BOOL)
    with b.within() as block:
        b.rebind(tried, Compare(("le",), (a.at((low,)), x)))
        b.rebind(low, Select(tried, Op("add", (low, ONE)), low))
        b.rebind(tried, Select(tried, Compare(("lt",), (low, least)), tried))
    b.add(While(tried, tuple(block), place=b.place))
    high = b.changing(low, INT)
    with b.within() as block:
        b.rebind(low, Const(3))
        last = b.counted(Op("min", (minus(n, ONE), Const(9))))
        b.rebind(high, Select(Compare(("lt",), (x, a.at((last,)))), last, n))
        b.rebind(high, Select(Compare(("lt",), (Const(10), n)), high, n))
        halve(b, a, x, "le", low, high)
    far = b.changing(Compare(("lt",), (Const(3), low)), BOOL)
    b.add(If(far, tuple(block), (), place=b.place))
    return low


def interpolated(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.interp(x, xp, fp)``."""
    value, nodes, values = arranged(b, args, given, "x xp fp")
    xp, fp = sorted_in(b, nodes), sorted_in(b, values)
    n = xp.shape[0]
    b.check("eq", n, fp.shape[0])
    b.check("lt", ONE, n)
    search = place_from_start
    if not isinstance(value, Number):
        check_order(b, xp)
        search = place_after
    last = minus(n, ONE)

    def at(a: Array, k: Expr) -> Expr:
        index: Index = (k,)
        return a.at(index)

    def one(x: Expr) -> Expr:
        # At the last point its own element is the value; the slope is that before it.
        found = b.counted(Op("max", (Op("sub", (search(b, xp, x), ONE)), ZERO)))
        k = b.counted(Op("min", (found, minus(n, Const(2)))))
        after = Op("add", (k, ONE))
        s = b.number(Const(0.0))

        def bound(e: Expr) -> Assign:
            return Assign(s, e, place=b.place)

        rise = Op("sub", (at(fp, after), at(fp, k)))
        slope = Op("truediv", (rise, Op("sub", (at(xp, after), at(xp, k)))))
        beyond = Op("mul", (slope, Op("sub", (x, at(xp, found)))))
        between = Op("add", (beyond, at(fp, found)))
        below = If(
            Compare(("lt",), (x, at(xp, ZERO))),
            (bound(at(fp, ZERO)),),
            (bound(between),),
            place=b.place,
        )
        above = Compare(("gt",), (x, at(xp, last)))
        b.add(If(above, (bound(at(fp, last)),), (below,), place=b.place))
        return s

    return for_each(b, value, FLOAT, one)


SEARCHING: dict[Any, Reader] = {
    np.searchsorted: searched, np.interp: interpolated,
    bisect.bisect_left: bisected("left"), bisect.bisect_right: bisected("right"),
}  # fmt: skip
