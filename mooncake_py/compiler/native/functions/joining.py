"""Arrays that are made of numbers and of other arrays, and ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mooncake_py.compiler.native.building.arguments import (
    Given,
    arranged,
    array_of,
    axes_in,
    kind_in,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import viewed
from mooncake_py.compiler.native.building.joined import (
    as_kind,
    joined_along,
    made_of,
    parts_in,
    store_at,
    with_axis,
)
from mooncake_py.compiler.native.building.values import (
    Array,
    Number,
    Slice,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus, plus, times
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Op, Select

__all__ = [
    "array", "as_array", "columns", "concatenated", "flat_copy", "horizontal", "linspace", "ranged",
    "rolled", "stacked", "vertical",
]  # fmt: skip


# Arrays of numbers.


def array(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.array(value)``, a copy."""
    value, dtype = arranged(b, args, given, "object dtype")
    if isinstance(value, Array) and dtype is None:
        return b.kept(value)
    return of_dtype(b, value, dtype)


def as_array(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.asarray(value)``, which is the value itself if it is an array."""
    value, dtype = arranged(b, args, given, "a dtype")
    if isinstance(value, Array) and (dtype is None or value.kind == kind_in(b, dtype)):
        return value
    return of_dtype(b, value, dtype)


def of_dtype(b: Builder, value: Value | None, dtype: Value | None) -> Array:
    """Return an array of numbers, or of rows, of a dtype: float64, or that of the numbers."""
    if dtype is None:
        return made_of(b, value)
    kind = kind_in(b, dtype)
    found = made_of(b, value, FLOAT if kind == FLOAT else "")
    if found.kind != kind:
        raise Unfit(f"an array of dtype {written(b, dtype)}", b.place)
    return found


# Joined arrays.


def arrays_in(b: Builder, value: Value | None, *, numbers: bool = False) -> list[Array]:
    """Return arrays that are joined; numbers, if they may be there, as vectors."""
    found: list[Array] = []
    for v in parts_in(b, value):
        if isinstance(v, Number) and numbers:
            found.append(made_of(b, Tuple((v,))))
        else:
            found.append(array_of(b, v))
    return found


def concatenated(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.concatenate(arrays, axis)``."""
    value, axis = arranged(b, args, given, "arrays axis")
    parts = arrays_in(b, value)
    (along,) = (0,) if axis is None else axes_in(b, axis, len(parts[0].shape), is_one=True)
    return joined_along(b, parts, along)


def stacked(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.stack(arrays, axis)``."""
    value, axis = arranged(b, args, given, "arrays axis")
    if isinstance(value, Stack) and axis is None:
        return b.kept(value.as_array)
    parts = arrays_in(b, value)
    (along,) = (0,) if axis is None else axes_in(b, axis, len(parts[0].shape) + 1, is_one=True)
    return joined_along(b, [with_axis(a, along) for a in parts], along)


def horizontal(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.hstack(arrays)``."""
    (value,) = arranged(b, args, given, "tup")
    parts = arrays_in(b, value, numbers=True)
    return joined_along(b, parts, 0 if len(parts[0].shape) == 1 else 1)


def vertical(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.vstack(arrays)``."""
    (value,) = arranged(b, args, given, "tup")
    if isinstance(value, Stack) and len(value.as_array.shape) == 2:
        return b.kept(value.as_array)
    parts = arrays_in(b, value)
    return joined_along(b, [with_axis(a, 0) if len(a.shape) == 1 else a for a in parts], 0)


def columns(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.column_stack(arrays)``."""
    (value,) = arranged(b, args, given, "tup")
    if isinstance(value, Stack) and len(value.as_array.shape) == 2:
        a = value.as_array
        b.check("lt", ZERO, a.shape[0])  # NumPy raises
        found = b.new(a.shape[::-1], a.kind)
        b.for_all(found.shape, lambda at: b.stored(found, at, a.at(at[::-1])))
        return found
    parts = arrays_in(b, value)
    return joined_along(b, [with_axis(a, 1) if len(a.shape) == 1 else a for a in parts], 1)


def flat_copy(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``a.flatten()``."""
    (value,) = arranged(b, args, given, "a")
    a = array_of(b, value)
    size: Expr = ONE
    for n in a.shape:
        size = times(size, n)
    found = b.new((size,), a.kind)

    def place(at: Sequence[Expr]) -> Expr:
        k: Expr = ZERO
        for n, i in zip(a.shape, at, strict=True):
            k = plus(times(k, n), i)
        return k

    b.for_all(a.shape, lambda at: b.stored(found, (place(at),), a.at(at)))
    return found


def rolled(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.roll(a, shift, axis)``, along one axis after another."""
    value, shift, axis = arranged(b, args, given, "a shift axis")
    a = array_of(b, value)
    if axis is None and len(a.shape) != 1:
        raise Unfit("np.roll of a matrix without an axis: give the axis", b.place)
    axes = axes_in(b, axis, len(a.shape), may_repeat=True)
    shifts = shift.items if isinstance(shift, Tuple) else (shift,) * len(axes)
    if not axes or len(shifts) != len(axes):
        raise Unfit("np.roll by several shifts along one axis", b.place)
    for along, by in zip(axes, shifts, strict=True):
        if not isinstance(by, Number) or by.kind != INT:
            raise Unfit(f"np.roll by {said(by)}: use an int", b.place)
        a = rolled_along(b, a, by, along)
    return a


def rolled_along(b: Builder, a: Array, shift: Number, along: int) -> Array:
    """Return an array, new, that is rolled along an axis."""
    n = a.shape[along]
    b.check("lt", ZERO, n)
    s = b.counted(Op("mod", (shift.e, n)))
    b.ranges.natural.add(s.name)
    before = [Slice(None, None, 1)] * along
    found = b.new(a.shape, a.kind)
    b.layouts.follow(found, [a])
    rest = minus(n, s)
    store_at(b, found, viewed(b, a, [*before, Slice(None, rest, 1)]), along, s)
    store_at(b, found, viewed(b, a, [*before, Slice(rest, None, 1)]), along, ZERO)
    return found


# Ranges.


def linspace(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.linspace(start, stop, num)``, with the last number."""
    first, last, count = arranged(b, args, given, "start stop num")
    count = Number(Const(50), "int") if count is None else count
    ends = [first, last]
    if not isinstance(count, Number) or count.kind != INT:
        raise Unfit(f"np.linspace with {said(count)} as the number of points: use an int", b.place)
    if not all(isinstance(v, Number) and v.kind in (FLOAT, INT) and not v.narrow for v in ends):
        raise Unfit(f"np.linspace between {said(*ends)}: use floats or ints", b.place)
    start, stop = (b.number(as_kind(v.e, v.kind, FLOAT)) for v in ends)  # type: ignore[union-attr]
    n = b.steady(count.e)
    b.check("lt", ONE, n)
    gaps = minus(n, ONE)
    step = b.number(Op("truediv", (Op("sub", (stop, start)), Op("float", (gaps,)))))

    def at(index: Sequence[Expr]) -> Expr:
        (i,) = index
        inner = Op("add", (Op("mul", (Op("float", (i,)), step)), start))
        return Select(Compare(("eq",), (i, gaps)), stop, inner)

    return b.kept(Array((n,), FLOAT, at))


def ranged(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.arange`` of ints."""
    if given or not 1 <= len(args) <= 3:
        raise Unfit("np.arange with a dtype: use astype", b.place)
    ints = [b.steady(v.e) for v in args if isinstance(v, Number) and v.kind == INT]
    step = ints[2] if len(ints) == 3 else ONE
    if len(ints) != len(args) or not isinstance(step, Const) or not step.value:
        raise Unfit(f"np.arange of {said(*args)}: use ints, the step a constant", b.place)
    low, high = (ZERO, ints[0]) if len(ints) == 1 else (ints[0], ints[1])
    by = int(step.value)
    extent = minus(high, low) if by > 0 else minus(low, high)
    b.natural(extent)
    if abs(by) != 1:
        up = plus(extent, Const(abs(by) - 1))
        extent = b.steady(Op("floordiv", (up, Const(abs(by)))))
    at: Callable[[Any], Expr] = lambda index: plus(low, times(Const(by), index[0]))  # noqa: E731
    return Array((extent,), INT, at)
