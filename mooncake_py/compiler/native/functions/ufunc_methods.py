"""The methods of ufuncs: outer, reduce, accumulate and at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import BuiltinMethodType
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
    target_of,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import viewed
from mooncake_py.compiler.native.building.values import (
    Array,
    Index,
    Known,
    Number,
    Slice,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.building.worked_out import is_of_numpy
from mooncake_py.compiler.native.functions import cumulative, extrema, reductions
from mooncake_py.compiler.native.functions.exact import of_ints
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus, plus
from mooncake_py.compiler.native.regions.region import FLOAT, INT, REAL
from mooncake_py.compiler.regions.ir import Assign, Call, Expr, Load, Op

__all__ = ["METHODS_OF_UFUNCS", "reader_of_method"]

METHODS_OF_UFUNCS = frozenset({"outer", "reduce", "accumulate", "at"})
SCATTERED: dict[Any, str] = {np.add: "add", np.subtract: "sub", np.multiply: "mul"}
FOLDED = frozenset({np.maximum, np.minimum, np.logaddexp, np.logaddexp2})
"""Functions of two floats that compiled code applies to one element after another."""
Fold = Callable[[Builder, Array, Sequence[int], bool], Value]


def reader_of_method(f: Any) -> Reader | None:
    """Return the reader of a method of a ufunc of NumPy, None if there is none."""
    if type(f) is not BuiltinMethodType or type(f.__self__) is not np.ufunc:
        return None
    ufunc = f.__self__
    if f.__name__ == "outer" and ufunc.nin == 2 and is_of_numpy(ufunc):
        return outer_of(ufunc)
    if f.__name__ == "reduce" and ufunc in REDUCED:
        return reduce_of(REDUCED[ufunc])
    if f.__name__ == "accumulate" and (ufunc in CUMULATED or ufunc in FOLDED):
        return accumulate_of(ufunc)
    if f.__name__ == "at" and (ufunc in SCATTERED or ufunc in FOLDED):
        return at_of(ufunc)
    return None


def outer_of(f: Any) -> Reader:
    """Return the reader of ``f.outer(a, b)``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        x, y = arranged(b, args, given, "A B")
        x, y = (v if isinstance(v, Number) else array_of(b, v) for v in (x, y))
        if isinstance(x, Array) and isinstance(y, Array):
            left, count = x, len(x.shape)
            shape = (*left.shape, *[ONE] * len(y.shape))
            x = Array(shape, left.kind, lambda at: left.at(at[:count]))
        own = of_ints(f, (x, y))
        found = own(b, (x, y), {}) if own else operations.applied(b, f, (x, y))
        if found is None:
            raise Unfit(f"np.{f.__name__}.outer", b.place)
        return found

    return read


# Reductions.


def added(b: Builder, a: Array, axes: Sequence[int], keeps: bool) -> Value:
    """Return sums."""
    return reductions.added_up(b, a, axes, keeps)


def multiplied(b: Builder, a: Array, axes: Sequence[int], keeps: bool) -> Value:
    """Return products."""
    return reductions.reduced(b, "prod", cumulative.floats_in(b, a), axes, keeps)


def extreme(op: str) -> Fold:
    """Return a fold that finds extreme elements."""

    def found(b: Builder, a: Array, axes: Sequence[int], keeps: bool) -> Value:
        a = extrema.in_memory(b, a)
        extrema.require_some(b, a, axes)
        return reductions.reduced(b, op, a, axes, keeps)

    return found


def folded(f: Any) -> Fold:
    """Return a fold that applies a function to the result so far and the next element."""

    def found(b: Builder, a: Array, axes: Sequence[int], keeps: bool) -> Value:
        if len(axes) != 1 or a.kind != FLOAT:
            raise Unfit(f"np.{f.__name__}.reduce of {said(a)} along several axes", b.place)
        b.is_exact = False
        result = b.new([n for k, n in enumerate(a.shape) if k not in axes] or [ONE], FLOAT)
        b.layouts.follow(result, [a])
        is_whole = len(a.shape) == 1

        def stored(place: Index, e: Expr) -> None:
            kept = tuple([i for k, i in enumerate(place) if k not in axes]) or (ZERO,)
            b.add(b.stored(result, kept, e))

        fold(b, f, a, axes[0], lambda place, e: None, stored)
        if keeps and not is_whole:
            return viewed(b, result, [NEW if k in axes else ALL for k in range(len(a.shape))])
        if keeps:
            return result
        return Number(result.at((ZERO,)), "float64") if is_whole else result

    return found


ALL = Slice(None, None, 1)
NEW = Known(None)


def fold(
    b: Builder,
    f: Any,
    a: Array,
    axis: int,
    each: Callable[[Index, Expr], None],
    last: Callable[[Index, Expr], None],
) -> None:
    """Apply a function to one element after another, along an axis that is not empty.

    Parameters
    ----------
    each, last : callable
        Take an index, and what there is after each element, and after the last one.
    """
    a = a if a.base else b.kept(a)
    b.check("lt", ZERO, a.shape[axis])
    others = [n for k, n in enumerate(a.shape) if k != axis]

    def along(rest: Index) -> None:
        def place(i: Expr) -> Index:
            return (*rest[:axis], i, *rest[axis:])

        s = b.number(a.at(place(ZERO)))
        each(place(ZERO), s)

        def step(at: Index) -> None:
            i = plus(at[0], ONE)
            b.add(Assign(s, Call(f, (s, a.at(place(i)))), place=b.place))
            each(place(i), s)

        b.in_order((minus(a.shape[axis], ONE),), step)
        last(place(ZERO), s)

    b.in_order(others, along)


REDUCED: dict[Any, Fold] = {
    np.add: added, np.multiply: multiplied, np.maximum: extreme("max"),
    np.minimum: extreme("min"), np.logaddexp: folded(np.logaddexp),
    np.logaddexp2: folded(np.logaddexp2),
}  # fmt: skip


def reduce_of(f: Fold) -> Reader:
    """Return the reader of ``f.reduce(a, axis=0)``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        value, axis, keeps = arranged(b, args, given, "array axis * keepdims")
        a = array_of(b, value)
        axes = (0,) if axis is None else axes_in(b, axis, len(a.shape))
        return f(b, a, axes, keeps_axes(b, keeps))

    return read


CUMULATED: dict[Any, str] = {np.add: "cumsum", np.multiply: "cumprod"}


def accumulate_of(f: Any) -> Reader:
    """Return the reader of ``f.accumulate(a, axis=0)``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        value, axis = arranged(b, args, given, "array axis")
        axis = Number(ZERO, "int") if axis is None else axis
        if f in CUMULATED:
            return cumulative.cumulated(CUMULATED[f])(b, [value] if value else [], {"axis": axis})
        a = cumulative.floats_in(b, value)
        (along,) = axes_in(b, axis, len(a.shape), is_one=True)
        found = b.new(a.shape, FLOAT)
        b.layouts.follow(found, [a])
        fold(
            b,
            f,
            a,
            along,
            lambda place, e: b.add(b.stored(found, place, e)),
            lambda place, e: None,
        )
        return found

    return read


# Unbuffered operations in place.


def at_of(f: Any) -> Reader:
    """Return the reader of ``f.at(a, indices, values)``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        target, indices, values = arranged(b, args, given, "a indices b")
        a = target_of(b, target)
        if not a.base or a.frozen or a.kind not in (FLOAT, INT):
            raise Unfit(f"np.{f.__name__}.at of {said(a)}: use float64 that is written", b.place)
        if indices is None or (isinstance(indices, Tuple) and indices.is_list):
            indices = array_of(b, indices)
        parts = indices.items if isinstance(indices, Tuple) else [indices]
        if any(isinstance(part, Array) and part.base == a.base for part in parts):
            raise Unfit(f"np.{f.__name__}.at on memory that holds the index", b.place)
        b.before_write(a)
        where = viewed(b, a, parts)  # whose indices are checked
        if isinstance(values, Number):
            values = b.as_now(values)
        else:  # taken now: what lies in `a` is not read again when it has changed
            values = b.kept(array_of(b, values))
        if values.kind != a.kind and (a.kind, values.kind) != (FLOAT, INT):
            raise Unfit(f"np.{f.__name__}.at with {said(values)}: use float64", b.place)
        if a.kind not in REAL and f not in SCATTERED:
            raise Unfit(f"np.{f.__name__}.at of ints", b.place)
        more = operations.broadcast_to(values, where.shape, b)
        is_converted = values.kind != a.kind

        def changed(index: Index) -> None:
            place, e = where.at(index), more(index)
            assert isinstance(place, Load)
            e = Op("float", (e,)) if is_converted else e
            pair = (place, operations.as_float(e) if a.kind in REAL else e)
            found = Op(SCATTERED[f], pair) if f in SCATTERED else Call(f, pair)
            b.add(Assign(place, found, place=b.place))

        b.in_order(where.shape, changed)
        return Known(None)

    return read
