"""Averages with weights, covariances, ranges, polynomials and convolutions."""

from __future__ import annotations

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
from mooncake_py.compiler.native.building.formulas import Formula
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import viewed
from mooncake_py.compiler.native.building.joined import joined_along, with_axis
from mooncake_py.compiler.native.building.values import (
    Array,
    Known,
    Number,
    Slice,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import extrema, reductions
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus, plus
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
from mooncake_py.compiler.regions.ir import Assign, Compare, Const, Expr, Op

__all__ = ["STATISTICS", "divided_by_count"]


def floats_in(b: Builder, value: Value | None, what: str) -> Array:
    """Return an argument that must be an array of float64, computed."""
    a = array_of(b, value)
    if a.kind != FLOAT:
        raise Unfit(f"{what} of {said(a)}: use float64", b.place)
    return a if a.base else b.kept(a)


def divided_by_count(b: Builder, sums: Value, count: Expr, less: Value | None) -> Value:
    """Return sums over how many numbers they are of, less some."""
    n: Expr = Op("float", (count,))
    if less is not None:
        if not isinstance(less, Number) or less.kind == BOOL:
            raise Unfit(f"a ddof of {said(less)}: use a number", b.place)
        n = Op("sub", (n, Op("float", (less.e,)) if less.kind == INT else less.e))
        n = b.number(n)
        b.require(Compare(("gt",), (n, Const(0.0))))
    return operations.operated(b, "truediv", sums, Number(n, "float"))


def average(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.average(a, axis, weights)``."""
    value, axis, weights, keeps = arranged(b, args, given, "a axis weights * keepdims")
    a = array_of(b, value)
    is_whole = axis is None or written(b, axis) is None
    axes = axes_in(b, axis, len(a.shape))
    keeps_ = keeps_axes(b, keeps)
    if weights is None or weights == Known(None):
        return reductions.mean(b, a, None if is_whole else axes, keeps_)
    w = floats_in(b, weights, "an average by weights")
    if len(w.shape) == 1 and len(a.shape) > 1:
        if len(axes) != 1 or is_whole:
            raise Unfit("weights of other axes than those of the average", b.place)
        b.check("eq", w.shape[0], a.shape[axes[0]])
        behind = len(a.shape) - 1 - axes[0]
        wide = viewed(b, w, [Slice(None, None, 1), *[Known(None)] * behind])
        total = reductions.added_up(b, w, None)
        sums = reductions.added_up(b, operations.operated(b, "mul", a, wide), axes, keeps_)
        return operations.operated(b, "truediv", sums, nonzero(b, total))
    if len(w.shape) != len(a.shape):
        raise Unfit("weights of another shape than the data", b.place)
    for n, m in zip(w.shape, a.shape, strict=True):
        b.check("eq", n, m)
    over = None if is_whole else axes
    sums = reductions.added_up(b, operations.operated(b, "mul", a, w), over, keeps_)
    total = reductions.added_up(b, w, over, keeps_)
    return operations.operated(b, "truediv", sums, nonzero(b, total) if is_whole else total)


def nonzero(b: Builder, total: Value) -> Value:
    """Return a sum of weights, which must not be zero: NumPy raises."""
    if isinstance(total, Number):
        b.require(Compare(("ne",), (total.e, Const(0.0))))
    return total


def covariance(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.cov(m, y, rowvar, ddof=...)``."""
    value, other, by_rows, less = arranged(b, args, given, "m y rowvar * ddof")
    b.is_exact = False
    m = floats_in(b, value, "np.cov")
    is_by_rows = by_rows is None or bool(written(b, by_rows))
    rows = [as_rows(b, m, is_by_rows)]
    if other is not None and other != Known(None):
        rows.append(as_rows(b, floats_in(b, other, "np.cov"), is_by_rows))
    x = rows[0] if len(rows) == 1 else joined_along(b, rows, 0)
    if x.shape[0] == ONE and len(rows) == 1:
        raise Unfit("np.cov of one variable, which is an array without axes: use np.var", b.place)
    x = x if x.base else b.kept(x)
    n = x.shape[1]
    b.check("lt", ZERO, n)
    middle = reductions.mean(b, x, [1], keeps=True)
    apart = operations.operated(b, "sub", x, middle)
    assert isinstance(apart, Array)
    kept = b.kept(apart)
    turned = Array(kept.shape[::-1], FLOAT, lambda at: kept.at(at[::-1]), kept.base)
    products = reductions.product(b, kept, turned)
    less = Number(ONE, "int") if less is None or less == Known(None) else less
    return divided_by_count(b, products, n, less)


def as_rows(b: Builder, m: Array, by_rows: bool) -> Array:
    """Return variables as the rows of a matrix."""
    if len(m.shape) == 1:
        return with_axis(m, 0)
    if len(m.shape) != 2:
        raise Unfit(f"np.cov of {said(m)}: use a matrix", b.place)
    return m if by_rows else Array(m.shape[::-1], m.kind, lambda at: m.at(at[::-1]), m.base)


def peak_to_peak(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.ptp(a, axis)``."""
    high = extrema.extremum("max")(b, args, given)
    low = extrema.extremum("min")(b, args, given)
    return operations.operated(b, "sub", high, low)


def polynomial(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.polyval(p, x)``, by Horner's scheme."""
    coefficients, x = arranged(b, args, given, "p x")
    p = array_of(b, coefficients)
    if len(p.shape) != 1 or p.kind not in (FLOAT, INT) or not isinstance(x, Number | Array):
        raise Unfit(f"np.polyval of {said(p, x)}: use a vector of coefficients", b.place)
    if isinstance(x, Number):
        value = operations.as_float(operations.as_element(b, x))
        value = Op("float", (value,)) if x.kind == INT else value
        s = b.number(Const(0.0))

        def step(at: tuple[Expr, ...]) -> None:
            more = p.at(at) if p.kind == FLOAT else Op("float", (p.at(at),))
            b.add(Assign(s, Op("add", (Op("mul", (s, value)), more)), place=b.place))

        b.in_order(p.shape, step)
        return Number(s, "float64")
    a = floats_in(b, x, "np.polyval")
    found = b.new(a.shape, FLOAT, zero=True)
    b.layouts.follow(found, [a])

    def next_one(at: tuple[Expr, ...]) -> None:
        more = p.at(at) if p.kind == FLOAT else Op("float", (p.at(at),))
        b.for_all(
            a.shape,
            lambda k: b.stored(found, k, Op("add", (Op("mul", (found.at(k), a.at(k))), more))),
        )

    b.in_order(p.shape, next_one)
    return found


def convolution(reverses: bool) -> Reader:
    """Return the reader of ``np.convolve(a, v, mode)``, or of ``np.correlate``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        first, second, mode = arranged(b, args, given, "a v mode")
        x, y = (floats_in(b, v, "a convolution") for v in (first, second))
        if len(x.shape) != 1 or len(y.shape) != 1:
            raise Unfit(f"a convolution of {said(x, y)}: use vectors", b.place)
        how = ("valid" if reverses else "full") if mode is None else written(b, mode)
        n, m = x.shape[0], y.shape[0]
        if how not in ("full", "valid"):
            raise Unfit(f"a convolution of the mode {how!r}: use 'full' or 'valid'", b.place)
        b.is_exact = False
        if how == "valid":
            b.check("le", m, n)  # else they change places
        b.check("lt", ZERO, m)
        b.check("lt", ZERO, n)
        whole = b.new((minus(plus(n, m), ONE),), FLOAT, zero=True)

        def term(at: Sequence[Expr]) -> Assign:
            i, j = at
            other = y.at((minus(minus(m, ONE), j),)) if reverses else y.at((j,))
            place = whole.at((plus(i, j),))
            e = Op("add", (place, Op("mul", (x.at((i,)), other))))
            return Assign(place, e, place=b.place)  # type: ignore[arg-type]

        b.for_all((n, m), term)
        if how == "full":
            return whole
        start = minus(m, ONE)
        return b.kept(viewed(b, whole, [Slice(start, n, 1)]))

    return read


def selected(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.select(conditions, choices, default)``."""
    tests, choices, default = arranged(b, args, given, "condlist choicelist default")
    if not isinstance(tests, Tuple) or not isinstance(choices, Tuple):
        raise Unfit(f"np.select of {said(tests, choices)}: use lists of arrays", b.place)
    if len(tests.items) != len(choices.items) or not tests.items:
        raise Unfit("np.select of lists of different lengths", b.place)
    found: Value = Number(Const(0), "int") if default is None else default
    for test, choice in zip(tests.items[::-1], choices.items[::-1], strict=True):
        found = operations.chosen(b, test, choice, found)
    return found


def near(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.isclose(a, b, rtol, atol)`` of finite numbers."""
    x, y, relative, absolute = arranged(b, args, given, "a b rtol atol")
    p, q = (Formula(b, v if isinstance(v, Number) else array_of(b, v)).kept() for v in (x, y))
    share = 1e-5 if relative is None else relative
    least = 1e-8 if absolute is None else absolute
    bound = (q(np.absolute) * share + least).kept()
    apart = (p - q)(np.absolute)
    require_all(b, bound.compared("lt", np.inf).value)  # infinities are close to themselves
    require_all(b, p(np.absolute).compared("lt", np.inf).value)
    return operations.of_numpy(b, apart.compared("le", bound).value)


def all_near(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.allclose(a, b, rtol, atol)``."""
    found = near(b, args, given)
    return Number(all_of(b, found), "bool")


def all_of(b: Builder, test: Value) -> Expr:
    """Return whether all bools are true."""
    if isinstance(test, Array):
        return reductions.total(b, "all", test.shape, test.at, BOOL)
    assert isinstance(test, Number)
    return test.e


def require_all(b: Builder, test: Value) -> None:
    """Leave the region unless all bools are true."""
    b.require(all_of(b, test))


STATISTICS: dict[Any, Reader] = {
    np.average: average, np.cov: covariance, np.ptp: peak_to_peak, np.polyval: polynomial,
    np.convolve: convolution(False), np.correlate: convolution(True), np.select: selected,
    np.isclose: near, np.allclose: all_near,
}  # fmt: skip
