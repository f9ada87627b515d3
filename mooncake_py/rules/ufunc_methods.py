"""The methods of ufuncs: reduce, accumulate, reduceat, outer and at.

The overlays below work for any ufunc that has a rule, also one of the user's: they are loops of
calls of the ufunc itself.  `np.add`, `np.subtract` and `np.multiply` have formulas where these
are faster; their `reduce` and `accumulate` are with the reductions.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules import registry
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import bilinear, linear, overlay, zero_derivative
from mooncake_py.rules.inplace import refuse_overlaps, refuse_read_only, written
from mooncake_py.rules.kinds import Like, ZeroDerivativeRule
from mooncake_py.rules.no_value import NoValue
from mooncake_py.rules.plain_values import same_values

__all__ = [
    "outer_product",
    "ufunc_accumulate",
    "ufunc_at",
    "ufunc_outer",
    "ufunc_reduce",
    "ufunc_reduceat",
]


# Formulas for the common ufuncs.


@linear(np.add.reduceat)
def add_reduceat_adjoint(
    dy: ndarray, array: Like, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> ndarray:
    """Give each element the cotangent of the segments that it was added to."""
    axis = axis[0] if isinstance(axis, tuple) else axis
    starts, stops = segments(indices, array.shape[axis])
    dy = np.moveaxis(dy, axis, 0)
    dx = np.zeros((array.shape[axis], *dy.shape[1:]), dy.dtype)
    for start, stop, g in zip(starts, stops, dy, strict=True):
        dx[start:stop] += g
    return np.moveaxis(dx, 0, axis)


def segments(indices: Any, length: int) -> tuple[list[int], list[int]]:
    """Return where the segments of `reduceat` start and stop; one that cannot run has length 1."""
    starts = [int(i) for i in indices]
    ends = [*starts[1:], length][: len(starts)]
    return starts, [max(start + 1, end) for start, end in zip(starts, ends, strict=True)]


def outer_product(a: Any, b: Any) -> Any:
    """Return the products of all pairs of elements."""
    return np.multiply.outer(a, b)


bilinear(
    outer_product,
    left=lambda dy, a, b, **options: np.tensordot(dy, conj(b), np.ndim(b)),
    right=lambda dy, a, b, **options: np.tensordot(conj(a), dy, np.ndim(a)),
)


@overlay(np.multiply.outer)
def multiply_outer(A: Any, B: Any, /, **options: Any) -> Any:
    """Return the products of all pairs of elements, written where the options say."""
    return ufunc_outer(np.multiply, A, B, **options) if options else outer_product(A, B)


def add_to_slots(slots: ndarray, which: ndarray, values: Any) -> ndarray:
    """Return the slots with values added, several to one slot where `which` repeats."""
    result = slots.copy()
    np.add.at(result, which, value_of_each(values, which, slots))
    return result


def subtract_from_slots(slots: ndarray, which: ndarray, values: Any) -> ndarray:
    """Return the slots with values subtracted."""
    result = slots.copy()
    np.subtract.at(result, which, value_of_each(values, which, slots))
    return result


def value_of_each(values: Any, which: ndarray, slots: ndarray) -> ndarray:
    """Broadcast the operand of `at`, which NumPy 2.4 misreads if it must broadcast it itself."""
    return np.broadcast_to(values, which.shape + slots.shape[1:])


linear(add_to_slots, wrt=(0, 2))(lambda dy, slots, which, values: (dy, dy[which]))
linear(subtract_from_slots, wrt=(0, 2))(lambda dy, slots, which, values: (dy, -dy[which]))


@overlay(np.add.at)
def add_at(a: ndarray, indices: Any, b: Any) -> None:
    refuse_overlaps(a)
    refuse_read_only(a, indices)
    a = a if a.ndim else np.reshape(a, 1)
    index, which = slots_of(a.shape, indices)
    a[index] = add_to_slots(a[index], which, b)


@overlay(np.subtract.at)
def subtract_at(a: ndarray, indices: Any, b: Any) -> None:
    refuse_overlaps(a)
    refuse_read_only(a, indices)
    a = a if a.ndim else np.reshape(a, 1)
    index, which = slots_of(a.shape, indices)
    a[index] = subtract_from_slots(a[index], which, b)


# Any ufunc.


@overlay(np.ufunc.at)
def ufunc_at(ufunc: np.ufunc, a: ndarray, indices: Any, *operand: Any) -> None:
    """Apply in rounds: the first use of each element, then the second, and so on."""
    refuse_overlaps(a)
    refuse_read_only(a, indices)
    if ufunc.signature is not None:
        natively(ufunc, "at", a, indices, *operand)  # raises
    if len(operand) != ufunc.nin - 1:
        raise ValueError("the ufunc takes another number of operands")
    a = a if a.ndim else np.reshape(a, 1)
    index, which = slots_of(a.shape, indices)
    slots = a[index]
    if not which.size:
        ufunc(slots, *operand)  # raises where it takes no such numbers
    values = [value_of_each(b, which, slots) for b in operand]
    for used in rounds(which):
        chosen = which[used]
        current = slots[chosen]
        ufunc(current, *[b[used] for b in values], out=current, casting="unsafe")
        slots[chosen] = current
    a[index] = slots


def slots_of(shape: tuple[int, ...], indices: Any) -> tuple[tuple[ndarray, ...], ndarray]:
    """Return `index`, the distinct elements or rows in use, and `which` of them each use means.

    ``x[index][which]`` equals ``x[indices]``.  Integer arrays select along the leading axes, and
    the other axes stay as they are; with slices and masks the slots are single elements.
    """
    parts = indices if isinstance(indices, tuple) else (indices,)
    plain = len(parts) > 0 and all(
        isinstance(part, (int, list, np.integer, ndarray)) and np.asarray(part).dtype.kind in "iu"
        for part in parts
    )
    leading = shape[: len(parts)] if plain else shape
    size = math.prod(leading)
    if plain and len(parts) == 1:
        chosen = np.asarray(parts[0], np.intp)
        if chosen.size and not -size <= chosen.min() <= chosen.max() < size:
            np.arange(size)[chosen]  # raises IndexError as NumPy does
        chosen = chosen % size if size else chosen
    else:
        chosen = np.arange(size).reshape(leading)[indices]
    distinct, which = np.unique(chosen, return_inverse=True)
    return np.unravel_index(distinct, leading), which.reshape(np.shape(chosen) or 1)


def rounds(which: ndarray) -> list[tuple[ndarray, ...]]:
    """Split the uses into rounds in which each slot is used once; the order of uses is kept."""
    flat = which.reshape(-1)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    first = np.searchsorted(ordered, ordered)
    turn = np.empty(flat.size, np.intp)
    turn[order] = np.arange(flat.size) - first
    turns = turn.reshape(which.shape)
    return [np.nonzero(turns == i) for i in range(int(turn.max(initial=-1)) + 1)]


@overlay(np.ufunc.outer)
def ufunc_outer(ufunc: np.ufunc, A: Any, B: Any, /, **options: Any) -> Any:
    """Apply the ufunc to all pairs of elements."""
    a, b = np.asarray(A), np.asarray(B)
    return ufunc(np.reshape(a, a.shape + (1,) * b.ndim), b, **options)


@overlay(np.ufunc.reduce)
def ufunc_reduce(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """Combine the elements one by one; several axes count as one in C order."""
    x = np.asarray(array)
    if is_of_objects(dtype, out) and x.dtype != object:
        options: Any = {"keepdims": keepdims, "initial": initial, "where": where}
        return ufunc.reduce(x.astype(object), axis, dtype, out, **options)
    dtype = accumulator(array, dtype, out)
    if ufunc.identity is None and initial is NoValue and narrows(out, dtype or x.dtype):
        array = x = with_first_stored(x, axis, dtype, out)
    if is_stepwise(ufunc):
        result = natively(ufunc, "reduce", array, axis, dtype, None, keepdims, initial, where)
        return returned(out, result)
    expected = reduced_natively(ufunc, array, axis, dtype, keepdims, initial, where)
    if x.dtype.kind in "biu" and initial is NoValue:  # the first may become a float
        return returned(out, expected)
    axes = reduced_axes(axis, x.ndim)
    kept = [i for i in range(x.ndim) if i not in axes]
    items = along_first(x, axes, kept)
    masks = None if where is True else along_first(np.broadcast_to(where, x.shape), axes, kept)
    start = starting_value(ufunc, initial, len(items), masks is not None)
    result = folded(ufunc, items, masks, start, dtype)
    if keepdims:
        result = np.reshape(result, [1 if i in axes else n for i, n in enumerate(x.shape)])
    check_agreement(ufunc, "reduce", expected, result)
    return returned(out, same_values(result, expected))


def returned(out: Any, result: Any) -> Any:
    """Return a result, written to the output if there is one."""
    if out is None:
        return result
    return np.asarray(result) if out is Ellipsis else written(out, result)


def accumulator(array: Any, dtype: Any, out: Any) -> Any:
    """Return the dtype that NumPy computes in: `out` takes part in it, as it accumulates."""
    out = out[0] if isinstance(out, tuple) else out
    if out is None or out is Ellipsis:
        return dtype
    if not isinstance(out, ndarray):
        raise TypeError("return arrays must be of ArrayType")
    if dtype is not None or out.dtype.kind not in "fc":
        return dtype
    of = np.asarray(array).dtype
    return None if of == out.dtype else np.result_type(of, out.dtype)


def narrows(out: Any, dtype: Any) -> bool:
    """Return whether an output does not hold what is computed in a dtype."""
    out = out[0] if isinstance(out, tuple) else out
    return isinstance(out, ndarray) and out.dtype.kind in "fc" and not np.can_cast(dtype, out.dtype)


def with_first_stored(x: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """Return an array whose first elements are rounded: NumPy begins with these in the output."""
    axes = reduced_axes(axis, x.ndim)
    first = tuple([slice(0, 1) if i in axes else slice(None) for i in range(x.ndim)])
    x = np.array(x, dtype)
    x[first] = x[first].astype((out[0] if isinstance(out, tuple) else out).dtype)
    return x


def along_first(x: Any, axes: Any, kept: Any) -> Any:
    """Bring the axes of a reduction to the front and join them to one."""
    moved = np.transpose(x, [*axes, *kept])
    count = math.prod(moved.shape[: len(axes)])
    return np.reshape(moved, (count, *moved.shape[len(axes) :]))


def folded(ufunc: np.ufunc, items: Any, masks: Any, start: Any, dtype: Any) -> Any:
    """Combine items from the left, those that a mask excludes left out."""
    options = {} if dtype is None else {"dtype": dtype, "casting": "unsafe"}
    if start is None and not len(items):
        return np.zeros(items.shape[1:], dtype or items.dtype)  # nothing along another axis
    if start is None:
        result, first = np.array(items[0], dtype=dtype), 1
    else:
        result, first = np.full(items.shape[1:], start, dtype or items.dtype), 0
    for i in range(first, len(items)):
        combined = ufunc(result, items[i], **options)
        result = combined if masks is None else np.where(masks[i], combined, result)
    return result[()] if isinstance(result, ndarray) else result


def starting_value(ufunc: np.ufunc, initial: Any, count: int, masked: bool) -> Any:
    """Return the starting value of a reduction; None if it starts from the first element."""
    if initial is not NoValue:
        return initial
    return ufunc.identity if masked or count <= 1 else None  # hypot.reduce([-2.0]) is 2.0


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes of a reduction, none of them negative."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(operator.index(i) % ndim for i in axes) if ndim else ()


def reduced_natively(
    ufunc: Any, array: Any, axis: Any, dtype: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    """Return NumPy's own result, or raise what it raises for a reduction that it refuses."""
    with np.errstate(all="ignore"):
        return ufunc.reduce(array, axis, dtype, None, keepdims, initial, where)


def accumulated_natively(ufunc: Any, array: Any, axis: int, dtype: Any = None) -> Any:
    """Return NumPy's own result, without its warnings, which come from the elements."""
    with np.errstate(all="ignore"):
        return ufunc.accumulate(array, axis, dtype)


def check_agreement(ufunc: np.ufunc, method: str, expected: Any, result: Any) -> None:
    """Raise where NumPy does not combine the elements in order, as the derivative assumes.

    On processors with AVX512 `arctan2` and `power` take wide vectors of elements as if they did
    not depend on one another.
    """
    expected = np.asarray(expected)
    tolerance = 1e3 * np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
    if not np.allclose(expected, result, rtol=tolerance, atol=0, equal_nan=True):
        raise MissingRuleError(
            f"numpy.{ufunc.__name__}.{method} cannot be differentiated here",
            why="NumPy's result is not that of combining the elements from first to last",
            fix=f"write the loop: for v in x: y = np.{ufunc.__name__}(y, v)",
        )


def is_stepwise(ufunc: np.ufunc) -> bool:
    """Return whether the methods of a ufunc have no derivative, so that they run as they are.

    Of one that returns floats the first element is that of the array, which has one.
    """
    if not isinstance(registry.find(ufunc), ZeroDerivativeRule):
        return False
    return ufunc.nin != 2 or not any(types[-1] in "efdgFDG" for types in ufunc.types)


def is_of_objects(dtype: Any, out: Any) -> bool:
    """Return whether a method of a ufunc is to compute with objects, by its dtype or output."""
    if dtype is not None:
        return np.dtype(dtype) == object
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    return isinstance(out, ndarray) and out.dtype == object


def natively(ufunc: np.ufunc, method: str, *arguments: Any) -> Any:
    """Run a method of a ufunc that has no derivative, or on no elements."""
    return getattr(ufunc, method)(*arguments)


@overlay(np.ufunc.accumulate)
def ufunc_accumulate(
    ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Combine the elements one by one, and keep each result on the way."""
    x = np.asarray(array)
    axis = single_axis(axis, x.ndim)
    if is_of_objects(dtype, out) and x.dtype != object:
        return ufunc.accumulate(x.astype(object), axis, dtype, out)
    dtype = accumulator(array, dtype, out)
    if is_stepwise(ufunc) or x.dtype.kind in "biu" or not x.ndim or not x.shape[axis]:
        result = natively(ufunc, "accumulate", array, axis, dtype)
        return written_by(ufunc, "accumulate", (array, axis, dtype), out, result)
    items = np.moveaxis(x, axis, 0)
    options = {} if dtype is None else {"dtype": dtype, "casting": "unsafe"}
    results = [np.array(items[0], dtype=dtype)]
    for i in range(1, len(items)):
        results.append(ufunc(results[-1], items[i], **options))
    result = np.stack(results, axis=axis)
    expected = accumulated_natively(ufunc, array, axis, dtype)
    check_agreement(ufunc, "accumulate", expected, result)
    result = same_values(result, expected) if expected.dtype.kind in "fc" else expected
    return written_by(ufunc, "accumulate", (array, axis, dtype), out, result)


def single_axis(axis: Any, ndim: int) -> Any:
    """Return the axis that is given; None is that of a vector."""
    if isinstance(axis, tuple) and len(axis) == 1:
        return axis[0]
    return 0 if axis is None and ndim == 1 else axis


def written_by(ufunc: np.ufunc, method: str, given: tuple[Any, ...], out: Any, result: Any) -> Any:
    """Return the result of a method, written to `out` if there is one, which may be larger."""
    target = out[0] if isinstance(out, tuple) else out
    if target is None or target is Ellipsis or target.shape == result.shape:
        return returned(out, result)
    target[place_in(ufunc, method, given, target, result)] = result
    return target


def place_in(ufunc: Any, method: str, given: Any, target: ndarray, result: Any) -> Any:
    """Return the index of the part of a larger array that a method writes to, or raise.

    That is its start along the axis; along others the result may be repeated.
    """
    native = target.copy()
    getattr(ufunc, method)(*given, native)  # raises where it does not fit
    axis = operator.index(given[-2]) % result.ndim
    start = (slice(None),) * axis + (slice(result.shape[axis]),)
    whole = (*start, *(slice(None),) * (result.ndim - axis - 1))
    for index in (start, (*whole, *(0,) * (target.ndim - result.ndim))):
        expected = target.copy()
        try:
            expected[index] = result
        except ValueError:  # it does not fit there
            continue
        if np.array_equal(expected, native, equal_nan=True):
            return index
    raise MissingRuleError(
        f"numpy.{ufunc.__name__}.{method} with an `out` of shape {target.shape} for a result of "
        f"shape {result.shape} cannot be differentiated",
        why="which part of it NumPy writes to is not known",
        fix="give an `out` of the shape of the result",
    )


@overlay(np.ufunc.reduceat)
def ufunc_reduceat(
    ufunc: np.ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Reduce the segments that start at the indices."""
    x = np.asarray(array)
    axis = single_axis(axis, x.ndim)
    if is_of_objects(dtype, out) and x.dtype != object:
        return ufunc.reduceat(x.astype(object), indices, axis, dtype, out)
    dtype = accumulator(array, dtype, out)
    expected = natively(ufunc, "reduceat", array, indices, axis, dtype)
    given = (array, indices, axis, dtype)
    if is_stepwise(ufunc) or x.dtype.kind in "biu":
        return written_by(ufunc, "reduceat", given, out, expected)
    starts, stops = segments(indices, x.shape[axis])
    items = np.moveaxis(x, axis, 0)
    pieces = [
        folded(ufunc, items[start:stop], None, None, dtype)
        for start, stop in zip(starts, stops, strict=True)
    ]
    result = np.stack(pieces, axis=axis) if pieces else expected  # of no segments
    check_agreement(ufunc, "reduceat", expected, result)
    return written_by(ufunc, "reduceat", given, out, same_values(result, expected))


zero_derivative(
    place_in, accumulated_natively, accumulator, is_of_objects, slots_of, rounds, reduced_axes,
    reduced_natively, check_agreement, is_stepwise, natively, segments, single_axis,
    because="returns positions or checks; the values take another way",
)  # fmt: skip
