"""Functions of NumPy that give arrays of ints to index matrices with, and elements at such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import masks
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
from mooncake_py.compiler.native.building.values import (
    Array,
    Known,
    Number,
    Slice,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions.matrices import offset
from mooncake_py.compiler.native.regions.linear import ONE, ZERO, minus, plus
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
from mooncake_py.compiler.regions.ir import Assign, Check, Compare, Expr, Load, Op

__all__ = ["INDICES", "INDICES_METHODS"]

ALL = Slice(None, None, 1)


def counted(n: Expr) -> Array:
    """Return the ints below a number."""
    return Array((n,), INT, lambda at: at[0])


def on_diagonal(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.diag_indices(n, ndim)``."""
    n, ndim = arranged(b, args, given, "n ndim")
    count = 2 if ndim is None else written(b, ndim)
    (extent,) = shape_in(b, n)
    return Tuple((b.kept(counted(extent)),) * count)


def on_diagonal_of(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.diag_indices_from(a)``."""
    (value,) = arranged(b, args, given, "arr")
    a = array_of(b, value)
    if len(a.shape) < 2:
        raise Unfit(f"np.diag_indices_from of {said(a)}: use a matrix", b.place)
    for n in a.shape[1:]:
        b.check("eq", n, a.shape[0])
    return Tuple((b.kept(counted(a.shape[0])),) * len(a.shape))


def triangle(op: str, *, of_matrix: bool) -> Reader:
    """Return the reader of ``np.triu_indices(n, k, m)`` and its like, by how ``j - i`` compares."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        if of_matrix:
            value, k = arranged(b, args, given, "arr k")
            shape = array_of(b, value).shape
        else:
            n, k, m = arranged(b, args, given, "n k m")
            rows = shape_in(b, n)
            shape = (*rows, *(rows if m is None or m == Known(None) else shape_in(b, m)))
        if len(shape) != 2:
            raise Unfit("the triangle of an array that is not a matrix", b.place)
        first = offset(b, k)
        test = Array(
            shape, BOOL, lambda at: Compare((op,), (minus(at[1], at[0]), first), place=b.place)
        )
        return Tuple(tuple(masks.places(b, test)))

    return read


def open_mesh(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.ix_(*vectors)``."""
    vectors = [array_of(b, v) for v in args]
    if given or any(len(v.shape) != 1 or v.kind != INT for v in vectors):
        raise Unfit(f"np.ix_ of {said(*args)}: use vectors of ints", b.place)
    new, count = Known(None), len(vectors)
    kept = [v if v.base else b.kept(v) for v in vectors]
    return Tuple(
        tuple(
            [viewed(b, v, [*[new] * k, ALL, *[new] * (count - 1 - k)]) for k, v in enumerate(kept)]
        )
    )


def taken(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.take(a, indices, axis)``, a copy."""
    value, indices, axis = arranged(b, args, given, "a indices axis")
    a = array_of(b, value)
    if axis is None or written(b, axis) is None:
        if len(a.shape) != 1:
            raise Unfit("np.take from a matrix without an axis: give the axis", b.place)
        along = 0
    else:
        (along,) = axes_in(b, axis, len(a.shape), is_one=True)
    if indices is None or isinstance(indices, Number):
        raise Unfit("np.take at a number: use a[i]", b.place)
    at = array_of(b, indices)
    if at.kind != INT:
        raise Unfit(f"np.take at {said(at)}: use ints", b.place)
    found = b.kept(viewed(b, a, [*[ALL] * along, at]))
    b.layouts.certain(found)
    return found


def picked_by() -> Reader:
    """Return the reader of ``np.extract(mask, a)``, or of ``np.compress``."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        mask, value = arranged(b, args, given, "condition a")
        a, where = array_of(b, value), array_of(b, mask)
        if where.kind != BOOL or len(where.shape) != len(a.shape) or len(a.shape) != 1:
            raise Unfit(f"elements of {said(a)} by {said(where)}: use a vector and a mask", b.place)
        return viewed(b, a, [where])

    return read


# Counts.


def binned(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.bincount(x, weights, minlength)``."""
    value, weights, least = arranged(b, args, given, "x weights minlength")
    x = array_of(b, value)
    if len(x.shape) != 1 or x.kind != INT:
        raise Unfit(f"np.bincount of {said(x)}: use a vector of ints", b.place)
    x = x if x.base else b.kept(x)
    has_weights = weights is not None and weights != Known(None)
    w = array_of(b, weights) if has_weights else None
    if w is not None:
        b.check("eq", w.shape[0], x.shape[0])
        if w.kind != FLOAT or len(w.shape) != 1:
            raise Unfit(f"np.bincount with weights of {said(w)}: use float64", b.place)
        w = w if w.base else b.kept(w)
    count = b.changing(ZERO if least is None else b.natural(shape_in(b, least)[0]), INT)

    def looked_at(at: tuple[Expr, ...]) -> None:
        b.add(Check(Compare(("ge",), (x.at(at), ZERO)), place=b.place))
        b.rebind(count, Op("max", (count, plus(x.at(at), ONE))))

    b.in_order(x.shape, looked_at)
    size = b.counted(count)
    b.ranges.natural.add(size.name)
    found = b.new((size,), INT if w is None else FLOAT, zero=True)

    def added(at: tuple[Expr, ...]) -> None:
        place = found.at((x.at(at),))
        more = ONE if w is None else w.at(at)
        assert isinstance(place, Load)
        b.add(Assign(place, Op("add", (place, more)), place=b.place))

    b.in_order(x.shape, added)
    return found


INDICES: dict[Any, Reader] = {
    np.diag_indices: on_diagonal, np.diag_indices_from: on_diagonal_of,
    np.triu_indices: triangle("ge", of_matrix=False),
    np.tril_indices: triangle("le", of_matrix=False),
    np.triu_indices_from: triangle("ge", of_matrix=True),
    np.tril_indices_from: triangle("le", of_matrix=True),
    np.ix_: open_mesh, np.take: taken, np.extract: picked_by(), np.compress: picked_by(),
    np.bincount: binned,
}  # fmt: skip
INDICES_METHODS: dict[str, Reader] = {"take": taken}
