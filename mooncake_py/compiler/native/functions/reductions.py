"""Sums, means and products of vectors and matrices, as loops that add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.narrow import alike, as_kind, kind_of_all
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    Array,
    Index,
    Number,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.regions.contractions import Window, window
from mooncake_py.compiler.native.regions.linear import ONE, times
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, REAL
from mooncake_py.compiler.regions.ir import Assign, Const, Expr, Length, Load, Name, Op

__all__ = ["added_up", "as_precise", "bumped", "computed", "mean", "product", "size_of", "total"]

ZERO = Const(0.0)
ROW, COLUMN = ".row", ".column"


def added_up(b: Builder, a: Value, axes: Sequence[int] | None, keeps: bool = False) -> Value:
    """Return the sum along some axes, all of them for None."""
    if not isinstance(a, Array) or a.kind not in REAL:
        raise Unfit("a sum of what is no array of floats", b.place)
    ndim = len(a.shape)
    along = set(range(ndim) if axes is None else [axis % ndim for axis in axes])
    if len(along) == ndim:
        s = as_kind(total(b, a.shape, a.at), FLOAT, a.kind)
        if keeps:
            return Array((ONE,) * ndim, a.kind, lambda index: s)
        return Number(s, NUMPY_TYPES[a.kind])
    kept = [axis for axis in range(ndim) if axis not in along]
    sums = b.new([a.shape[axis] for axis in kept], FLOAT, zero=True)
    b.layouts.follow(sums, [a])
    b.for_all(a.shape, lambda at: bumped(b, sums, [at[axis] for axis in kept], a.at(at)))
    found = as_precise(b, sums, a.kind)
    if not keeps:
        return found
    return Array(
        tuple([ONE if axis in along else n for axis, n in enumerate(a.shape)]),
        a.kind,
        lambda index: found.at(tuple([index[axis] for axis in kept])),
        found.base,
    )


def total(b: Builder, shape: Sequence[Expr], at: Callable[[Index], Expr]) -> Name:
    """Return the sum of all elements of a shape."""
    s = b.number(ZERO)
    b.for_all(shape, lambda index: Assign(s, Op("add", (s, at(index))), place=b.place))
    return s


def as_precise(b: Builder, sums: Array, kind: str) -> Array:
    """Return sums as they are, or rounded to float32, which is added up in float64."""
    if kind == FLOAT:
        return sums
    return b.kept(Array(sums.shape, kind, lambda at: as_kind(sums.at(at), FLOAT, kind)))


def bumped(b: Builder, a: Array, index: Sequence[Expr], e: Expr) -> Assign:
    """Return what adds to an element."""
    target = a.at(tuple(index))
    assert isinstance(target, Load)
    return Assign(target, Op("add", (target, e)), place=b.place)


def size_of(a: Array) -> Expr:
    """Return how many elements an array has."""
    size: Expr = ONE
    for n in a.shape:
        size = times(size, n)
    return size


def mean(b: Builder, a: Value, axes: Sequence[int] | None, keeps: bool = False) -> Value:
    """Return the mean along some axes."""
    if not isinstance(a, Array):
        raise Unfit("a mean of what is no array", b.place)
    ndim = len(a.shape)
    count: Expr = ONE
    for axis in range(ndim) if axes is None else [axis % ndim for axis in axes]:
        count = times(count, a.shape[axis])
    b.check("lt", Const(0), count)
    n = Op("float" if a.kind == FLOAT else "float32", (count,))
    found = added_up(b, a, axes, keeps)
    if isinstance(found, Number):
        return Number(Op("truediv", (found.e, n), place=b.place), found.type)
    assert isinstance(found, Array)
    sums = found
    return Array(sums.shape, sums.kind, lambda index: Op("truediv", (sums.at(index), n)))


def product(b: Builder, x: Value, y: Value) -> Value:
    """Return ``x @ y`` of vectors and matrices."""
    if not isinstance(x, Array) or not isinstance(y, Array) or BOOL in (x.kind, y.kind):
        raise Unfit("a product of what is no array", b.place)
    kind = kind_of_all(b, (x, y))
    if kind not in REAL:
        raise Unfit("a product of ints", b.place)
    ndims = len(x.shape), len(y.shape)
    if ndims not in ((1, 1), (2, 1), (1, 2), (2, 2)):
        raise Unfit("a product of arrays with more than two axes", b.place)
    if ndims == (2, 2):
        return product_of_matrices(b, x, y, kind)
    x, y = computed(b, x), computed(b, y)
    n = x.shape[-1]
    b.check("eq", n, y.shape[0])
    if ndims == (1, 1):
        s = total(b, (n,), lambda at: Op("mul", (x.at(at), y.at(at)), place=b.place))
        return Number(as_kind(s, FLOAT, kind), NUMPY_TYPES[kind])
    if ndims == (2, 1):
        found = b.new((x.shape[0],), FLOAT, zero=True)
        b.for_all((x.shape[0], n), lambda at: row_by_row(b, found, x, y, at))
    else:
        found = b.new((y.shape[1],), FLOAT, zero=True)
        b.for_all((n, y.shape[1]), lambda at: column_by_column(b, found, x, y, at))
    return as_precise(b, found, kind)


def product_of_matrices(b: Builder, x: Array, y: Array, kind: str) -> Array:
    """Return ``x @ y``, by BLAS perhaps, where they are equally wide."""
    x, y = (as_matrix(b, v) for v in alike(b, (x, y)) if isinstance(v, Array))
    b.check("eq", x.shape[1], y.shape[0])
    found = b.new((x.shape[0], y.shape[1]), kind, zero=True)
    b.layouts.certain(found)
    b.for_all((*x.shape, y.shape[1]), lambda at: by_elements(b, found, x, y, at))
    return found


def row_by_row(b: Builder, found: Array, x: Array, y: Array, at: Index) -> Assign:
    """Return what adds to an element of a matrix times a vector."""
    i, k = at
    return bumped(b, found, (i,), Op("mul", (x.at((i, k)), y.at((k,)))))


def column_by_column(b: Builder, found: Array, x: Array, y: Array, at: Index) -> Assign:
    """Return what adds to an element of a vector times a matrix."""
    k, j = at
    return bumped(b, found, (j,), Op("mul", (x.at((k,)), y.at((k, j)))))


def by_elements(b: Builder, found: Array, x: Array, y: Array, at: Index) -> Assign:
    """Return what adds to an element of a product of matrices."""
    i, k, j = at
    return bumped(b, found, (i, j), Op("mul", (x.at((i, k)), y.at((k, j)))))


def computed(b: Builder, a: Array) -> Array:
    """Return an array whose elements are in memory, as a product reads them many times."""
    return a if a.base else b.kept(a)


def as_matrix(b: Builder, a: Array) -> Array:
    """Return a matrix that BLAS can read: if it is not in memory, or only with steps, keep it."""
    if a.whole:
        return a
    e = a.at((Name(ROW), Name(COLUMN))) if a.base else None
    found = window(e, ROW, COLUMN) if isinstance(e, Load) else None
    if found is None or not is_in_full(found, a):
        return b.kept(a)
    return a


def is_in_full(w: Window, a: Array) -> bool:
    """Return True if a matrix that begins with the first element of rows does not end before."""
    last = w.axes[-1]
    if not isinstance(last, tuple) or last[0] != Const(0):
        return True
    return a.shape[0 if w.is_transposed else 1] == Length(w.array, len(w.axes) - 1)
