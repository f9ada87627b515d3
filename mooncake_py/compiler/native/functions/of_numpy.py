"""Functions and methods of NumPy, and builtins, by what they do to numbers and arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mooncake_py.compiler.native.building import masks, operations
from mooncake_py.compiler.native.building.arguments import (
    CODES,
    Given,
    Reader,
    arranged,
    array_of,
    axes_in,
    keeps_axes,
    kind_in,
    shape_in,
    target_of,
    written,
)
from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.complexes import is_complex, joined
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.indexing import diagonal, flipped, transposed
from mooncake_py.compiler.native.building.operations import added_to_nothing, may_be_of_python
from mooncake_py.compiler.native.building.values import (
    PARTS,
    Array,
    Cells,
    ComplexArray,
    ComplexNumber,
    Known,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import (
    complex_functions,
    cumulative,
    extrema,
    joining,
    reductions,
    searching,
    truths,
)
from mooncake_py.compiler.native.functions.axes import AXES, AXES_METHODS
from mooncake_py.compiler.native.functions.builtin_functions import BUILTINS
from mooncake_py.compiler.native.functions.complex_functions import (
    COMPLEX_FUNCTIONS,
    COMPLEX_METHODS,
)
from mooncake_py.compiler.native.functions.differences import DIFFERENCES
from mooncake_py.compiler.native.functions.einsum import einsum
from mooncake_py.compiler.native.functions.exact import EXACT, of_ints
from mooncake_py.compiler.native.functions.indices import INDICES, INDICES_METHODS
from mooncake_py.compiler.native.functions.linalg import LINEAR_ALGEBRA
from mooncake_py.compiler.native.functions.matrices import (
    MATRIX_FUNCTIONS,
    beside_diagonal,
    trace,
    with_diagonal,
)
from mooncake_py.compiler.native.functions.norms import NORMS
from mooncake_py.compiler.native.functions.of_math import OF_MATH
from mooncake_py.compiler.native.functions.of_scipy import is_density, scipy_reader
from mooncake_py.compiler.native.functions.products import PRODUCTS, of_stacks, over_last_axes
from mooncake_py.compiler.native.functions.repeating import REPEATING, flattened
from mooncake_py.compiler.native.functions.reshaping import (
    RESHAPING_METHODS,
    raveled,
    reshaped,
)
from mooncake_py.compiler.native.functions.rounding import ROUNDING, rounded
from mooncake_py.compiler.native.functions.sets import SETS
from mooncake_py.compiler.native.functions.sorting import SORTING, SORTING_METHODS
from mooncake_py.compiler.native.functions.statistics import STATISTICS, divided_by_count
from mooncake_py.compiler.native.functions.ufunc_methods import METHODS_OF_UFUNCS, reader_of_method
from mooncake_py.compiler.native.regions.linear import ONE, times
from mooncake_py.compiler.native.regions.region import BOOL, INT, REAL
from mooncake_py.compiler.regions.ir import Const, Expr, Op, Select

__all__ = ["FUNCTIONS", "attribute", "holds", "method_of", "reader_of"]

# Sums.


def added_up(b: Builder, a: Value, axes: Sequence[int] | None, keeps: bool = False) -> Value:
    """Return the sum along some axes; of ints that of all elements."""
    if isinstance(a, Array) and not is_complex(a) and a.kind not in REAL:
        return truths.sum_of_ints(b, a, axes, keeps)
    return reductions.added_up(b, a, axes, keeps)


def reduction(f: Callable[..., Value]) -> Reader:
    """Return the reader of a function that reduces an array along axes."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        a, axis, keeps = arranged(b, args, given, "a axis * keepdims")
        found, keeps = array_of(b, a), keeps_axes(b, keeps)
        is_whole = axis is None or written(b, axis) is None
        axes = None if is_whole else axes_in(b, axis, len(found.shape))
        if isinstance(found, ComplexArray):
            return joined(b, *[f(b, part, axes, keeps) for part in found.parts])
        return f(b, found, axes, keeps)

    return read


def deviation(*, is_root: bool) -> Reader:
    """Return the reader of ``np.var``, or of ``np.std``, which is its root."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        given_a, axis, keeps, less = arranged(b, args, given, "a axis * keepdims ddof")
        a = array_of(b, given_a)
        a = a if a.base else b.kept(a)
        options = {} if axis is None else {"axis": axis}
        middle = MEAN(b, [a], options | {"keepdims": Number(Const(True), "bool")})
        apart = operations.operated(b, "sub", a, middle)
        squares = operations.operated(b, "mul", apart, apart)
        options = options if keeps is None else options | {"keepdims": keeps}
        if less is None:
            found = MEAN(b, [squares], options)
        else:
            is_whole = axis is None or written(b, axis) is None
            axes = axes_in(b, None if is_whole else axis, len(a.shape))
            sums = added_up(b, squares, axes, keeps_axes(b, keeps))
            count: Expr = ONE
            for k in axes:
                count = times(count, a.shape[k])
            found = divided_by_count(b, sums, count, less)
        return operations.length(b, found) if is_root else found

    return read


MEAN = reduction(reductions.mean)


def product(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.dot(a, b)``; of numbers, which NumPy makes arrays of, it is their product."""
    x, y = arranged(b, args, given, "a b")
    if x is None or y is None:
        raise Unfit("a product of one operand: give two", b.place)
    if is_complex(x, y):
        return complex_functions.product(b, x, y)
    x, y = (array_of(b, v) if isinstance(v, Tuple | Cells) else v for v in (x, y))
    if isinstance(x, Number) or isinstance(y, Number):
        x, y = (operations.of_numpy(b, v) for v in (x, y))
        found = operations.operated(b, "mul", x, y)
        return found if isinstance(found, Number) else added_to_nothing(b, found)
    if isinstance(x, Array) and isinstance(y, Array) and max(len(x.shape), len(y.shape)) > 2:
        return over_last_axes(b, x, y)
    return reductions.product(b, x, y)


def matmul(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.matmul(x, y)`` and ``x @ y``, which take no numbers."""
    x, y = arranged(b, args, given, "x1 x2")
    if x is None or y is None:
        raise Unfit("a product of one operand: give two", b.place)
    if is_complex(x, y):
        return complex_functions.matmul(b, x, y)
    x, y = (array_of(b, v) if isinstance(v, Tuple) else v for v in (x, y))
    if isinstance(x, Array) and isinstance(y, Array) and max(len(x.shape), len(y.shape)) > 2:
        return of_stacks(b, x, y)
    return reductions.product(b, x, y, "inner")


def flat_inner(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.vdot(a, b)`` of all elements, or of numbers, which are vectors of one element."""
    x, y = arranged(b, args, given, "a b")
    if isinstance(x, Number) and isinstance(y, Number):
        return added_to_nothing(b, product(b, (x, y), {}))
    if isinstance(x, Number) or isinstance(y, Number):
        raise Unfit("an inner product of a vector and a number", b.place)
    return reductions.product(b, flattened(b, x), flattened(b, y))


# New arrays.


def filled(value: float | None) -> Reader:
    """Return the reader of ``np.zeros`` and its like; None where contents are not defined."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        shape, dtype = arranged(b, args, given, "shape dtype")
        found = new(b, shape_in(b, shape), kind_in(b, dtype), value)
        b.layouts.certain(found)
        return found

    return read


def filled_like(value: float | None) -> Reader:
    """Return the reader of ``np.zeros_like`` and its like."""

    def read(b: Builder, args: Sequence[Value], given: Given) -> Value:
        like, dtype = arranged(b, args, given, "a dtype")
        a = array_of(b, like)
        found = new(b, a.shape, a.kind if dtype is None else kind_in(b, dtype), value)
        b.layouts.follow(found, [a])
        return found

    return read


def new(b: Builder, shape: Sequence[Expr], kind: str, value: float | None) -> Array:
    """Return a new array, filled with a number."""
    if kind in PARTS:
        pair = b.new_complex(shape, PARTS[kind], zero=value == 0)
        for part, number in zip(pair.parts, (value, 0.0), strict=True) if value else ():
            b.for_all(pair.shape, lambda at: b.stored(part, at, Const(number)))  # noqa: B023
        return pair
    found = b.new(shape, kind, zero=value == 0)
    if value:
        e = Const(value if kind in REAL else bool(value) if kind == BOOL else int(value))
        b.for_all(found.shape, lambda at: b.stored(found, at, e))
    return found


def full(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.full(shape, number)``."""
    shape, value, dtype = arranged(b, args, given, "shape fill_value dtype")
    kind = "" if dtype is None else kind_in(b, dtype)
    return filled_with(b, shape_in(b, shape), value, kind)


def full_like(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.full_like(a, number)``."""
    like, value, dtype = arranged(b, args, given, "a fill_value dtype")
    a = array_of(b, like)
    found = filled_with(b, a.shape, value, a.kind if dtype is None else kind_in(b, dtype))
    b.layouts.follow(found, [a])
    return found


def filled_with(b: Builder, shape: Sequence[Expr], value: Value | None, kind: str) -> Array:
    """Return a new array of one number, of its own kind if none is given."""
    if not isinstance(value, Number) or value.narrow or value.rank is not None:
        raise Unfit(f"an array filled with {said(value)}: use a number", b.place)
    kind = kind or value.kind
    if (kind == BOOL) != (value.kind == BOOL) or (kind == INT and value.kind != INT):
        raise Unfit(f"an array of {kind} filled with {said(value)}: convert it first", b.place)
    if kind not in (*REAL, INT, BOOL):
        raise Unfit("a complex array filled with a number: use np.zeros, and assign", b.place)
    found = b.new(shape, kind)
    b.layouts.certain(found)
    e = operations.as_element(b, value)
    if kind in REAL:
        e = (
            operations.as_float(e)
            if value.kind in REAL or isinstance(e, Const)
            else Op("float", (e,))
        )
    b.for_all(found.shape, lambda at: b.stored(found, at, e))
    return found


def copied(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.copy(a)``."""
    (a,) = arranged(b, args, given, "a")
    return b.kept(array_of(b, a))


def copied_in_order(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``a.copy()``, which is in C order."""
    (a,) = arranged(b, args, given, "a")
    found = b.kept(array_of(b, a))
    b.layouts.certain(found)
    return found


def flat(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``a.fill(number)``."""
    a, value = arranged(b, args, given, "a value")
    target = target_of(b, a)
    if not isinstance(value, Number) or target.kind not in REAL:
        raise Unfit(f"`fill` with {said(value)}: use a number", b.place)
    e = operations.as_float(operations.as_element(b, value))
    b.before_write(target)
    b.store(target, lambda at: e)
    return Known(None)


# Views.


def flip(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.flip(a)``."""
    a, axis = arranged(b, args, given, "m axis")
    found = array_of(b, a)
    return flipped(found, axes_in(b, axis, len(found.shape)))


def of_diagonal(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.diagonal(a)``, which is not to be written."""
    value, k = arranged(b, args, given, "a k")
    a = array_of(b, value)
    found = diagonal(b, a if k is None else beside_diagonal(b, a, k))
    found = found if found.base else b.kept(found)  # else the copy that a name gets is not frozen
    if isinstance(found, ComplexArray):
        return found.mapped(lambda part: replace(part, frozen=True))
    return replace(found, frozen=True)


def diag(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.diag(a, k)`` of a matrix, or of a vector, which it puts on a diagonal."""
    value, k = arranged(b, args, given, "v k")
    a = array_of(b, value)
    return (
        with_diagonal(b, a, k) if len(a.shape) == 1 else of_diagonal(b, [a], {"k": k} if k else {})
    )


def fill_diagonal(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.fill_diagonal(a, number)``."""
    a, value = arranged(b, args, given, "a val")
    on_it = diagonal(b, target_of(b, a))
    return flat(b, [on_it, *([] if value is None else [value])], {})


def astype(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``a.astype(dtype)``."""
    given_a, dtype = arranged(b, args, given, "a dtype")
    a, kind = array_of(b, given_a), kind_in(b, dtype)
    if kind == a.kind:
        return b.kept(a)
    if a.kind == BOOL and kind == INT:
        return b.kept(Array(a.shape, INT, lambda at: Select(a.at(at), Const(1), Const(0))))
    if a.kind in REAL and kind == INT:
        operations.require_all_rounded(b, a)
        return b.kept(Array(a.shape, INT, lambda at: Op("int", (a.at(at),))))
    if kind in REAL:
        return b.kept(Array(a.shape, kind, lambda at: Op(kind, (a.at(at),))))
    raise Unfit(f"`astype` of {said(a)} to another kind of number", b.place)


def where(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.where(test, x, y)``."""
    if len(args) == 1:
        return nonzero(b, args, given)
    if len(args) != 3 or given:
        raise Unfit("np.where of two arguments", b.place)
    if is_complex(*args):
        return complex_functions.chosen(b, *args)
    return operations.chosen(b, *args)


def nonzero(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.nonzero(a)``."""
    (a,) = arranged(b, args, given, "a")
    return Tuple(tuple(masks.places(b, array_of(b, a))))


def flat_nonzero(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.flatnonzero(a)`` of a vector."""
    (a,) = arranged(b, args, given, "a")
    found = array_of(b, a)
    if len(found.shape) != 1:
        raise Unfit(f"np.flatnonzero of {said(found)}: use a vector", b.place)
    return masks.places(b, found)[0]


def clip(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.clip(a, low, high)``, which is the lesser of the greater.

    Zeros keep their signs between two bounds that are numbers; else they take those of bounds.
    """
    by_name = {"min": "a_min", "max": "a_max"}
    is_new = len(args) == 1 and not {"min", "max"}.isdisjoint(given)
    given = {by_name.get(name, name): v for name, v in given.items()}
    found, low, high = arranged(b, args, given, "a a_min a_max")
    if is_new:  # NumPy takes one of them then
        low, high = (Known(None) if bound is None else bound for bound in (low, high))
    if not isinstance(found, Number):
        found = array_of(b, found)
    first = isinstance(found, Number) or is_single(found)
    bounds = [bound for bound in (low, high) if isinstance(bound, Number | Array)]
    keeps_zeros = len(bounds) == 2 and all(
        isinstance(bound, Number) or (is_single(bound) and not first) for bound in bounds
    )
    if not bounds:
        raise Unfit("np.clip without a bound: give one", b.place)
    for f, bound in ((np.maximum, low), (np.minimum, high)):
        if isinstance(bound, Number | Array):
            assert found is not None
            pair = [found, bound]
            pair = pair[::-1] if keeps_zeros else pair
            own = of_ints(f, pair)
            found = own(b, pair, {}) if own else operations.applied(b, f, pair)
        elif bound is None or written(b, bound) is not None:
            raise Unfit("np.clip without both bounds: give two", b.place)
    assert found is not None
    return found


def is_single(a: Array) -> bool:
    """Return True for an array of one element."""
    return all(n == ONE for n in a.shape)


def copied_to(b: Builder, args: Sequence[Value], given: Given) -> Value:
    """Read ``np.copyto(a, values)``."""
    target, value = arranged(b, args, given, "dst src")
    a = target_of(b, target)
    if not isinstance(value, Number | Array) or value.kind != a.kind or not a.base:
        raise Unfit("np.copyto of another kind of number: convert it first", b.place)
    b.before_write(a)
    b.store(a, operations.broadcast_to(value, a.shape, b))
    return Known(None)


FUNCTIONS: dict[Any, Reader] = {
    np.sum: reduction(added_up), np.mean: reduction(reductions.mean),
    np.dot: product, np.matmul: matmul, np.vdot: flat_inner,
    np.zeros: filled(0.0), np.empty: filled(None), np.ones: filled(1.0),
    np.zeros_like: filled_like(0.0), np.empty_like: filled_like(None),
    np.ones_like: filled_like(1.0), np.full: full, np.full_like: full_like,
    np.ndarray: filled(None), np.copy: copied,
    np.amax: extrema.extremum("max"), np.amin: extrema.extremum("min"),
    np.flip: flip, np.where: where, np.diagonal: of_diagonal,
    np.diag: diag, np.fill_diagonal: fill_diagonal, np.std: deviation(is_root=True),
    np.var: deviation(is_root=False),
    np.max: extrema.extremum("max"), np.min: extrema.extremum("min"),
    np.argmax: extrema.place_of_extremum("argmax"), np.argmin: extrema.place_of_extremum("argmin"),
    np.any: truths.of_all("any"), np.all: truths.of_all("all"),
    np.count_nonzero: truths.count_nonzero, np.nonzero: nonzero, np.flatnonzero: flat_nonzero,
    np.clip: clip,
    np.prod: cumulative.product_of_all, np.cumsum: cumulative.cumulated("cumsum"),
    np.cumprod: cumulative.cumulated("cumprod"),
    np.array: joining.array, np.asarray: joining.as_array,
    np.concatenate: joining.concatenated, np.stack: joining.stacked,
    np.hstack: joining.horizontal, np.vstack: joining.vertical,
    np.column_stack: joining.columns, np.roll: joining.rolled,
    np.linspace: joining.linspace, np.arange: joining.ranged,
    np.einsum: einsum, np.reshape: reshaped, np.ravel: raveled,
    np.copyto: copied_to,
} | BUILTINS | MATRIX_FUNCTIONS | LINEAR_ALGEBRA | ROUNDING | EXACT | AXES  # fmt: skip
FUNCTIONS |= searching.SEARCHING
FUNCTIONS |= (
    SORTING | INDICES | SETS | STATISTICS | DIFFERENCES | REPEATING | NORMS | PRODUCTS | OF_MATH
)


def reader_of(f: Any, args: Sequence[Value]) -> Reader | None:
    """Return the reader of a function for such arguments, None if there is none."""
    own = COMPLEX_FUNCTIONS.get(f) if is_complex(*args) else None
    return own or of_ints(f, args) or FUNCTIONS.get(f) or reader_of_method(f) or scipy_reader(f)


METHODS: dict[str, Reader] = {
    "sum": reduction(added_up), "mean": reduction(reductions.mean), "dot": product,
    "copy": copied_in_order, "fill": flat, "diagonal": of_diagonal,
    "astype": astype, "std": deviation(is_root=True), "var": deviation(is_root=False),
    "max": extrema.extremum("max"), "min": extrema.extremum("min"),
    "argmax": extrema.place_of_extremum("argmax"), "argmin": extrema.place_of_extremum("argmin"),
    "any": truths.of_all("any"), "all": truths.of_all("all"), "clip": clip,
    "prod": cumulative.product_of_all, "cumsum": cumulative.cumulated("cumsum"),
    "cumprod": cumulative.cumulated("cumprod"), "flatten": joining.flat_copy,
    "searchsorted": searching.searched, "trace": trace,
    "ravel": raveled, "round": rounded, "nonzero": nonzero,
} | AXES_METHODS | INDICES_METHODS | SORTING_METHODS | RESHAPING_METHODS  # fmt: skip


def method_of(a: Array | ComplexNumber, name: str) -> Reader | None:
    """Return the reader of a method of an array or a complex number, None if there is none."""
    if isinstance(a, ComplexNumber):
        is_there = name == "conjugate" or (name == "conj" and not may_be_of_python(a.re))
        return COMPLEX_METHODS[name] if is_there else None
    own = COMPLEX_METHODS.get(name) if is_complex(a) else None
    return own or METHODS.get(name)


def holds(found: Any, name: str) -> bool:
    """Return True for a function that has a method which is read: a ufunc, or a distribution."""
    return (type(found) is np.ufunc and name in METHODS_OF_UFUNCS) or is_density(found, name)


def attribute(b: Builder, a: Array, name: str) -> Value:
    """Return an attribute of an array."""
    if name == "shape":
        return Tuple(tuple([Number(n, "int") for n in a.shape]))
    if name == "size":
        return Number(reductions.size_of(a), "int")
    if name == "ndim":
        return Number(Const(len(a.shape)), "int")
    if name == "T":
        return transposed(b, a)
    if name == "real" or (name == "imag" and isinstance(a, ComplexArray)):
        a = b.with_order(a)
        return a if not isinstance(a, ComplexArray) else a.re if name == "real" else a.im
    if name == "dtype":
        return Known(np.dtype(CODES[a.kind]))
    raise Unfit(f"the attribute {name} of an array", b.place)
