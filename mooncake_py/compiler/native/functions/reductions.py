"""Sums, means and products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.narrow import alike, kind_of_all
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
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT, REAL
from mooncake_py.compiler.regions.ir import Const, Expr, Length, Load, Name, Op, Select
from mooncake_py.compiler.regions.wholes import ACCUMULATED, SUMS
from mooncake_py.syntax.nodes import Place

__all__ = ["added_up", "computed", "mean", "new_sums", "product", "reduced", "size_of", "total"]

ROW, COLUMN = ".row", ".column"


def added_up(
    b: Builder, a: Value, axes: Sequence[int] | None, keeps: bool = False, op: str = "sum"
) -> Value:
    """Return the sum along some axes, all of them for None."""
    if not isinstance(a, Array) or a.kind not in REAL:
        raise Unfit(f"a sum of {said(a)}: use an array of floats", b.place)
    ndim = len(a.shape)
    along = set(range(ndim) if axes is None else [axis % ndim for axis in axes])
    return reduced(b, op, a, along, keeps)


def reduced(
    b: Builder, op: str, a: Array, along: Collection[int], keeps: bool = False, kind: str = ""
) -> Value:
    """Return the result of an operation on the elements along some axes.

    Parameters
    ----------
    kind : str, optional
        Of that number, by default that of the array.
    """
    if op in SUMS or op == "prod":
        b.adds_up(a)
    kind = kind or a.kind
    ndim = len(a.shape)
    axes = [axis for axis in range(ndim) if axis in along]
    kept = [axis for axis in range(ndim) if axis not in along]
    if not kept:
        e = b.unbound(kind) if kind in REAL else b.unbound_int()
        b.reduce(op, a.shape, axes, a.at, lambda at: e)
        return Array((ONE,) * ndim, kind, lambda at: e) if keeps else Number(e, NUMPY_TYPES[kind])
    found = new_sums(b, [a.shape[axis] for axis in kept], kind, op)
    b.layouts.follow(found, [a])
    b.reduce(op, a.shape, axes, a.at, lambda at: found.at(tuple([at[axis] for axis in kept])))
    if not keeps:
        return found
    return Array(
        tuple([ONE if axis in along else n for axis, n in enumerate(a.shape)]),
        kind,
        lambda index: found.at(tuple([index[axis] for axis in kept])),
        found.base,
    )


def new_sums(b: Builder, shape: Sequence[Expr], kind: str, op: str) -> Array:
    """Return a new array for what an operation gives: of zeros for sums that stay as they are."""
    return b.new(shape, kind, zero=op in SUMS and (kind == FLOAT or op not in ACCUMULATED))


def total(
    b: Builder, op: str, shape: Sequence[Expr], at: Callable[[Index], Expr], kind: str = FLOAT
) -> Name:
    """Return the sum of all elements of a shape."""
    s = b.unbound(kind)
    b.reduce(op, shape, range(len(shape)), at, lambda index: s)
    return s


def size_of(a: Array) -> Expr:
    """Return how many elements an array has."""
    size: Expr = ONE
    for n in a.shape:
        size = times(size, n)
    return size


def mean(b: Builder, a: Value, axes: Sequence[int] | None, keeps: bool = False) -> Value:
    """Return the mean along some axes."""
    if not isinstance(a, Array):
        raise Unfit(f"a mean of {said(a)}: use an array", b.place)
    if a.kind in (INT, BOOL):  # NumPy adds them up as floats
        b.is_exact = False
        a = in_floats(a)
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


def in_floats(a: Array) -> Array:
    """Return ints or bools as floats."""
    if a.kind == BOOL:
        return Array(a.shape, FLOAT, lambda at: Select(a.at(at), Const(1.0), Const(0.0)))
    return Array(a.shape, FLOAT, lambda at: Op("float", (a.at(at),)))


def product(b: Builder, x: Value, y: Value, op: str = "dot") -> Value:
    """Return ``np.dot(x, y)`` of vectors and matrices, or ``x @ y``, as the operation is named."""
    if not isinstance(x, Array) or not isinstance(y, Array) or BOOL in (x.kind, y.kind):
        raise Unfit(f"a matrix product of {said(x, y)}: use arrays of numbers", b.place)
    kind = kind_of_all(b, (x, y))
    if kind not in REAL:
        raise Unfit("a product of ints", b.place)
    b.adds_up(x)
    b.adds_up(y)
    ndims = len(x.shape), len(y.shape)
    if ndims not in ((1, 1), (2, 1), (1, 2), (2, 2)):
        raise Unfit("a product of arrays with more than two axes", b.place)
    if ndims == (2, 2):
        return product_of_matrices(b, x, y, kind)
    x, y = computed(b, x), computed(b, y)
    n = x.shape[-1]
    b.check("eq", n, y.shape[0])
    if ndims == (1, 1):
        s = total(b, op, (n,), lambda at: multiplied(x.at(at), y.at(at), b.place), kind)
        return Number(s, NUMPY_TYPES[kind])
    if ndims == (2, 1):
        found = new_sums(b, x.shape[:1], kind, op)
        b.reduce(
            op,
            x.shape,
            (1,),
            lambda at: multiplied(x.at(at), y.at(at[1:])),
            lambda at: found.at(at[:1]),
        )
    else:
        found = new_sums(b, y.shape[1:], kind, op)
        b.reduce(
            op,
            (n, y.shape[1]),
            (0,),
            lambda at: multiplied(x.at(at[:1]), y.at(at)),
            lambda at: found.at(at[1:]),
        )
    return found


def product_of_matrices(b: Builder, x: Array, y: Array, kind: str) -> Array:
    """Return ``x @ y``, by BLAS perhaps, where they are equally wide."""
    x, y = (as_matrix(b, v) for v in alike(b, (x, y)) if isinstance(v, Array))
    b.check("eq", x.shape[1], y.shape[0])
    found = new_sums(b, (x.shape[0], y.shape[1]), kind, "matmul")
    b.layouts.certain(found)
    b.reduce(
        "matmul",
        (*x.shape, y.shape[1]),
        (1,),
        lambda at: multiplied(x.at(at[:2]), y.at(at[1:])),
        lambda at: found.at((at[0], at[2])),
    )
    return found


def multiplied(x: Expr, y: Expr, place: Place | None = None) -> Expr:
    """Return a product of two elements."""
    return Op("mul", (x, y), place=place)


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
