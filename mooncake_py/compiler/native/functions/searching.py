"""Where numbers belong in a sorted array, and values between those of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mooncake_py.compiler.native.building.arguments import Given, arranged, array_of, written
from mooncake_py.compiler.native.building.builder import Builder
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

__all__ = ["interpolated", "searched"]

SIDES = {"left": "lt", "right": "le"}


def searched(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.searchsorted(a, v, side)``."""
    table, value, side = arranged(b, args, given, "a v side")
    a = sorted_in(b, table)
    op = SIDES["left" if side is None else written(b, side)]
    return for_each(b, value, INT, lambda x: place_in(b, a, x, op))


def sorted_in(b: Builder, value: Value | None) -> Array:
    """Return a table that is searched, a vector of float64."""
    a = array_of(b, value)
    if len(a.shape) != 1 or a.kind != FLOAT:
        raise Unfit("a search in what is no vector of float64", b.place)
    return a if a.base else b.kept(a)


def for_each(b: Builder, value: Value | None, kind: str, one: Callable[[Expr], Expr]) -> Value:
    """Return what a function makes of a number, or of each element of an array, of float64."""
    if isinstance(value, Number) and value.kind in (FLOAT, INT) and not value.narrow:
        e = value.e if value.kind == FLOAT else Op("float", (value.e,))
        found = one(b.number(e))
        return Number(found, "int64" if kind == INT else "float64")
    a = array_of(b, value)
    if a.kind != FLOAT:
        raise Unfit("a search for what is no float64", b.place)
    a = a if a.base else b.kept(a)
    result = b.new(a.shape, kind)
    b.layouts.follow(result, [a])
    b.in_order(a.shape, lambda at: b.add(b.stored(result, at, one(a.at(at)))))
    return result


def place_in(b: Builder, a: Array, x: Expr, op: str) -> Name:
    """Return how many elements of a sorted vector come before a number, which must not be nan."""
    b.add(Check(Compare(("eq",), (x, x)), place=b.place))
    low, high = b.changing(ZERO, INT), b.changing(a.shape[0], INT)
    with b.within() as block:
        middle = b.changing(Op("floordiv", (Op("add", (low, high)), Const(2))), INT)
        before = b.changing(Compare((op,), (a.at((middle,)), x)), BOOL)
        b.rebind(low, Select(before, Op("add", (middle, ONE)), low))
        b.rebind(high, Select(before, high, middle))
    b.add(While(Compare(("lt",), (low, high)), tuple(block), place=b.place))
    return low


def interpolated(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.interp(x, xp, fp)``."""
    value, nodes, values = arranged(b, args, given, "x xp fp")
    xp, fp = sorted_in(b, nodes), sorted_in(b, values)
    n = xp.shape[0]
    b.check("eq", n, fp.shape[0])
    b.check("lt", ONE, n)
    last = minus(n, ONE)

    def at(a: Array, k: Expr) -> Expr:
        index: Index = (k,)
        return a.at(index)

    def one(x: Expr) -> Expr:
        k = Op("sub", (place_in(b, xp, x, "le"), ONE))
        k = b.counted(Op("max", (Op("min", (k, minus(n, Const(2)))), ZERO)))
        after = Op("add", (k, ONE))
        s = b.number(Const(0.0))

        def bound(e: Expr) -> Assign:
            return Assign(s, e, place=b.place)

        rise = Op("sub", (at(fp, after), at(fp, k)))
        slope = Op("truediv", (rise, Op("sub", (at(xp, after), at(xp, k)))))
        between = Op("add", (Op("mul", (slope, Op("sub", (x, at(xp, k))))), at(fp, k)))
        above = If(
            Compare(("gt",), (x, at(xp, last))),
            (bound(at(fp, last)),),
            (bound(between),),
            place=b.place,
        )
        below = Compare(("lt",), (x, at(xp, ZERO)))
        b.add(If(below, (bound(at(fp, ZERO)),), (above,), place=b.place))
        return s

    return for_each(b, value, FLOAT, one)
