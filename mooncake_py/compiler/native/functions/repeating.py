"""Functions of NumPy that repeat, append, split and pad arrays, and build them of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import (
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    shape_in,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import viewed
from mooncake_py.compiler.native.building.joined import joined_along, made_of, with_axis
from mooncake_py.compiler.native.building.values import (
    Array,
    ComplexArray,
    Index,
    Known,
    Number,
    Slice,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions.joining import flat_copy
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus, plus, times
from mooncake_py.compiler.native.regions.region import INT
from mooncake_py.compiler.regions.ir import Compare, Const, Expr, Op, Select

__all__ = ["REPEATING", "flattened"]

ALL = Slice(None, None, 1)


def as_array(b: Builder, value: Value | None) -> Array:
    """Return a number, a list or an array as an array of at least one axis."""
    return made_of(b, Tuple((value,))) if isinstance(value, Number) else array_of(b, value)


def flattened(b: Builder, value: Value | None) -> Array:
    """Return a number, a list or an array as a vector, to be copied."""
    a = as_array(b, value)
    if len(a.shape) == 1:
        return a
    found = flat_copy(b, (a,), {})
    assert isinstance(found, Array)
    return found


def appended(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.append(a, values, axis)``."""
    value, more, axis = arranged(b, args, given, "arr values axis")
    if axis is None or written(b, axis) is None:
        return joined_along(b, [flattened(b, value), flattened(b, more)], 0)
    parts = [array_of(b, v) for v in (value, more)]
    (along,) = axes_in(b, axis, len(parts[0].shape), is_one=True)
    return joined_along(b, parts, along)


def repeated(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.repeat(a, count, axis)``, each element as often."""
    value, count, axis = arranged(b, args, given, "a repeats axis")
    if not isinstance(count, Number) or count.kind != INT:
        raise Unfit(f"np.repeat by {said(count)}: use an int", b.place)
    if axis is None or written(b, axis) is None:
        a, along = flattened(b, value), 0
    else:
        a = array_of(b, value)
        (along,) = axes_in(b, axis, len(a.shape), is_one=True)
    require_real(b, a)
    times_ = b.natural(b.steady(count.e))
    a = a if a.base else b.kept(a)
    shape = [*a.shape]
    # With an axis more, which is then one with that before it.
    found = b.new([*shape[:along], times(shape[along], times_), *shape[along + 1 :]], a.kind)
    b.layouts.follow(found, [a])

    def place(at: Sequence[Expr]) -> tuple[Expr, ...]:
        return (*at[:along], plus(times(at[along], times_), at[along + 1]), *at[along + 2 :])

    b.for_all(
        [*shape[: along + 1], times_, *shape[along + 1 :]],
        lambda at: b.stored(found, place(at), a.at((*at[: along + 1], *at[along + 2 :]))),
    )
    return found


def tiled(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.tile(a, counts)``."""
    value, counts = arranged(b, args, given, "A reps")
    a = as_array(b, value)
    require_real(b, a)
    a = a if a.base else b.kept(a)
    reps = shape_in(b, counts)
    missing = len(reps) - len(a.shape)
    reps = [ONE] * -missing + reps
    a = viewed(b, a, [*[Known(None)] * missing, *[ALL] * len(a.shape)]) if missing > 0 else a
    ndim = len(a.shape)
    found = b.new([times(n, m) for n, m in zip(reps, a.shape, strict=True)], a.kind)
    b.layouts.certain(found)

    def place(at: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple([plus(times(at[k], a.shape[k]), at[ndim + k]) for k in range(ndim)])

    b.for_all([*reps, *a.shape], lambda at: b.stored(found, place(at), a.at(tuple(at[ndim:]))))
    return found


def require_real(b: Builder, a: Array) -> None:
    """Raise for complex numbers."""
    if isinstance(a, ComplexArray):
        raise Unfit("complex numbers that are repeated", b.place)


def of_blocks(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.block(rows)`` of matrices, or of vectors and numbers side by side."""
    (value,) = arranged(b, args, given, "arrays")
    if not isinstance(value, Tuple) or not value.is_list or not value.items:
        raise Unfit(f"np.block of {said(value)}: use a list of lists of arrays", b.place)
    if not all(isinstance(row, Tuple) for row in value.items):
        parts = [as_array(b, v) for v in value.items]
        ndim = max(len(a.shape) for a in parts)
        return joined_along(b, [lifted(a, ndim) for a in parts], ndim - 1)
    rows = [[as_array(b, v) for v in row.items] for row in value.items if isinstance(row, Tuple)]
    if any(len(a.shape) > 2 for row in rows for a in row):
        raise Unfit("np.block of arrays of more than two axes: use np.concatenate", b.place)
    joined = [joined_along(b, [lifted(a, 2) for a in row], 1) for row in rows]
    return joined_along(b, joined, 0)


def lifted(a: Array, ndim: int) -> Array:
    """Return an array with axes of length one before its own."""
    while len(a.shape) < ndim:
        a = with_axis(a, 0)
    return a


def deep(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.dstack(arrays)`` of matrices."""
    (value,) = arranged(b, args, given, "tup")
    parts = value.items if isinstance(value, Tuple) else ()
    arrays = [array_of(b, v) for v in parts]
    if not arrays or any(len(a.shape) < 2 for a in arrays):
        raise Unfit(f"np.dstack of {said(value)}: use a list of matrices", b.place)
    return joined_along(b, [with_axis(a, 2) if len(a.shape) == 2 else a for a in arrays], 2)


def split(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.split(a, sections, axis)``: views, as many as is written down."""
    value, sections, axis = arranged(b, args, given, "ary indices_or_sections axis")
    a = array_of(b, value)
    (along,) = (0,) if axis is None else axes_in(b, axis, len(a.shape), is_one=True)
    n = a.shape[along]
    if isinstance(sections, Tuple):
        places = shape_in(b, sections)
        for first, last in zip(places, [*places[1:], n], strict=True):
            b.check("le", first, last)
    else:
        count = None if sections is None else written(b, sections)
        if type(count) is not int or count < 1:
            raise Unfit("np.split into a number of parts that is not constant", b.place)
        length = b.steady(Op("floordiv", (n, Const(count))))
        b.check("eq", times(Const(count), length), n)
        places = [times(Const(k), length) for k in range(1, count)]
    bounds = [None, *places, None]
    views = [
        viewed(b, a, [*[ALL] * along, Slice(start, stop, 1)]) for start, stop in pairwise(bounds)
    ]
    return Tuple(tuple(views), is_list=True)


# Borders.


def padded(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.pad(a, widths, mode, constant_values=number)``."""
    names = "array pad_width mode * constant_values"
    value, widths, mode, filling = arranged(b, args, given, names)
    a = array_of(b, value)
    require_real(b, a)
    how = "constant" if mode is None else written(b, mode)
    if how not in ("constant", *LONGER) or (filling is not None and how != "constant"):
        raise Unfit(f"np.pad with the mode {how!r}", b.place)
    pairs = widths_in(b, widths, len(a.shape))
    fill: Value = Number(Const(0), "int") if filling is None else filling
    if not isinstance(fill, Number):
        raise Unfit(f"np.pad with {said(fill)}: use one number", b.place)
    e = operations.as_float(fill.e) if a.kind != INT else fill.e
    for axis, widths_here in enumerate(pairs):
        a = bordered(b, a if a.base else b.kept(a), axis, widths_here, how, e)
    b.layouts.certain(a)
    return a


def bordered(
    b: Builder, a: Array, axis: int, widths: tuple[Expr, Expr], mode: str, fill: Expr
) -> Array:
    """Return an array, new, with borders along an axis."""
    before, after = widths
    n = a.shape[axis]
    b.check("lt", ZERO, n)
    for width in widths if mode != "constant" else ():
        b.check("le", plus(width, LONGER[mode]), n)

    def at(index: Index) -> Expr:
        i = minus(index[axis], before)
        below, above = Compare(("lt",), (i, ZERO)), Compare(("ge",), (i, n))
        first, last = ends(mode, i, n)
        inner = Select(below, first, Select(above, last, i))
        found = a.at((*index[:axis], inner, *index[axis + 1 :]))
        if mode != "constant":
            return found
        return Select(Compare(("le", "lt"), (ZERO, i, n)), found, fill)

    shape = (*a.shape[:axis], plus(n, plus(before, after)), *a.shape[axis + 1 :])
    return b.kept(Array(shape, a.kind, at))


LONGER: dict[str, Expr] = {"edge": ZERO, "wrap": ZERO, "reflect": ONE, "symmetric": ZERO}
"""By the modes how much longer than a border an axis must be."""


def ends(mode: str, i: Expr, n: Expr) -> tuple[Expr, Expr]:
    """Return from where an element before the first, and behind the last one, is taken."""
    last = minus(n, ONE)
    if mode == "wrap":
        return plus(i, n), minus(i, n)
    if mode == "reflect":
        return minus(ZERO, i), minus(times(Const(2), last), i)
    if mode == "symmetric":
        return minus(Const(-1), i), minus(plus(last, n), i)
    return ZERO, last


def widths_in(b: Builder, value: Value | None, ndim: int) -> list[tuple[Expr, Expr]]:
    """Return the widths of borders, before and behind, for each axis."""
    items = value.items if isinstance(value, Tuple) else ()
    if items and all(isinstance(item, Tuple) for item in items):
        found = [tuple(shape_in(b, item)) for item in items]
    else:
        found = [tuple(shape_in(b, value))]
    pairs = [(pair[0], pair[-1]) for pair in found]
    if len(pairs) == 1:
        pairs *= ndim
    if len(pairs) != ndim or any(len(pair) > 2 for pair in found):
        raise Unfit("np.pad with other widths than one or two for each axis", b.place)
    return pairs


REPEATING: dict[Any, Reader] = {
    np.append: appended, np.repeat: repeated, np.tile: tiled, np.block: of_blocks,
    np.dstack: deep, np.split: split, np.pad: padded,
}  # fmt: skip
