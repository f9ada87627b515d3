"""Functions and methods that change an array in place, written as assignments.

An assignment saves what it overwrites, restores it in the reverse pass and handles overlapping
memory, so these functions need no rule of their own.  What they check of their arguments beyond
an assignment is checked on primals by the small functions without derivative.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.declare import from_vjp, not_implemented, overlay, zero_derivative
from mooncake_py.tangents.memory import address, are_laid_out_alike, has_overlaps

__all__ = ["refuse_overlaps", "refuse_read_only", "written"]


def written(out: Any, result: Any) -> Any:
    """Write a result to the array given as `out`, which may stand in a tuple."""
    target = out[0] if isinstance(out, tuple) else out
    check_shapes(target, result)
    target[...] = result
    return target


def check_shapes(target: Any, result: Any) -> None:
    """Raise where a reduction does not take an array for its result: it broadcasts none."""
    if np.shape(target) != np.shape(result):
        raise ValueError(
            f"output array of shape {np.shape(target)} for a result of shape {np.shape(result)}"
        )


# Whole arrays and masks.


SCALARS: tuple[Any, ...] = (bool, int, float, complex)
"""They convert more freely than arrays."""


@overlay(np.copyto)
def copyto(dst: ndarray, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if not isinstance(src, (ndarray, *SCALARS)):
        src = np.asarray(src)  # read before anything is written, unlike by an assignment
    check_copy(dst, src, casting, where)
    if is_one_view(dst, src):
        return  # NumPy does not ask then whether it may be written
    if isinstance(src, complex):
        src = np.asarray(src)  # cast as arrays are
    if where is True:
        dst[...] = src
        return
    mask = np.broadcast_to(np.asarray(where, dtype=bool), dst.shape)
    if copies_in_turn(dst, src):
        for position in copying_order(dst, src, mask):
            dst[position] = np.reshape(src, -1)[position]
        return
    dst[mask] = (
        src if np.ndim(src) == 0 else np.broadcast_to(fitted(src, dst.ndim), dst.shape)[mask]
    )


def fitted(src: Any, ndim: int) -> Any:
    """Return the source of a copy without leading axes of length one that the destination lacks."""
    extra = np.ndim(src) - ndim
    if extra <= 0 or np.shape(src)[:extra] != (1,) * extra:
        return src
    return np.reshape(src, np.shape(src)[extra:])


def check_copy(dst: Any, src: Any, casting: Any, where: Any) -> None:
    """Raise what NumPy raises for a copy that the dtypes forbid, by a copy of no elements."""
    if isinstance(dst, ndarray):
        dst = np.empty(0, dst.dtype)
        if not isinstance(src, SCALARS):
            src = np.empty(0, src.dtype)
    if casting == "unsafe":
        src = dst  # any will do
    where = np.empty(0, where.dtype if isinstance(where, ndarray) else bool)
    with np.errstate(all="ignore"):  # the copy itself warns
        np.copyto(dst, src, casting=casting, where=where)


def is_one_view(dst: Any, src: Any) -> bool:
    """Return whether two arrays have the same elements in the same places."""
    return dst is src or (
        isinstance(dst, ndarray)
        and isinstance(src, ndarray)
        and address(dst) == address(src)
        and are_laid_out_alike(dst, src)
    )


def copies_in_turn(dst: ndarray, src: Any) -> bool:
    """Return whether NumPy may read elements that it has written: vectors it does not copy first.

    Where strides are equal, it chooses the order in which it does not.
    """
    return (
        isinstance(src, ndarray)
        and dst.ndim == 1 <= src.ndim
        and src.size == dst.size
        and src.strides[-1:] != dst.strides
        and src.strides[-1] * dst.strides[0] > 0
        and np.may_share_memory(dst, src)
    )


def copying_order(dst: ndarray, src: ndarray, mask: ndarray) -> ndarray:
    """Return the positions to copy in the order of NumPy: backwards if `src` begins below `dst`."""
    positions, flat = np.flatnonzero(mask), src.reshape(-1)
    turned = dst.strides[0] < 0
    if turned:
        dst, flat = dst[::-1], flat[::-1]
    first, start = address(dst), address(flat)
    backwards = start < first < start + flat.size * flat.strides[0]
    return positions[::-1] if backwards != turned else positions


@overlay(np.ndarray.fill)
def fill(a: ndarray, value: Any) -> None:
    if a.dtype == object:  # each element is the object
        for index in np.ndindex(a.shape):
            a[index] = value
    elif isinstance(value, (ndarray, float, int)):
        check_fill(a, value)
        a[...] = value
    else:  # converted once
        element = np.empty((), a.dtype)
        element[()] = value
        a[...] = element


def check_fill(a: ndarray, value: Any) -> None:
    """Raise what NumPy raises for a value that is not a scalar."""
    with np.errstate(all="ignore"):  # the assignment warns
        np.empty((), a.dtype).fill(value)


@overlay(np.place)
def place(arr: ndarray, mask: Any, vals: Any) -> None:
    positions = masked_positions(arr, mask, "place")
    check_safe(arr, vals)
    values = listed(arr, vals)
    if len(positions) and not values.size:
        raise ValueError("Cannot insert from an empty array!")
    if reads_what_it_writes(arr, vals):
        for k, position in enumerate(positions):
            np.reshape(arr, -1)[position] = values[k % len(values)]
    else:
        assign_in_turn(arr, positions, values)


def reads_what_it_writes(arr: ndarray, vals: Any) -> bool:
    """Return whether `np.place` reads elements that it has written: it copies only what it must."""
    return (
        isinstance(vals, ndarray)
        and vals.dtype == arr.dtype
        and vals.flags.c_contiguous
        and arr.flags.c_contiguous
        and np.may_share_memory(arr, vals)
    )


@overlay(np.putmask)
def putmask(a: ndarray, mask: Any, values: Any) -> None:
    """Set element n to values[n] where the mask is True; `np.place` counts masked elements."""
    positions = masked_positions(a, mask, "putmask")
    check_safe(a, values)
    given = listed(a, values)
    if given.size:
        assign_in_turn(a, positions, given[positions % given.size])


def masked_positions(a: Any, mask: Any, name: str) -> ndarray:
    """Return the flat positions where a mask of the size of `a` is true."""
    if not isinstance(a, ndarray):
        raise TypeError(f"{name}: the first argument must be an array, not {type(a).__name__}")
    flags = np.asarray(mask, dtype=bool)
    if flags.size != a.size:
        raise ValueError(f"{name}: mask and data must be the same size")
    return np.flatnonzero(flags)


def check_safe(a: ndarray, values: Any) -> None:
    """Raise what NumPy raises for an array of values that are not safe to cast."""
    if isinstance(values, ndarray) and not np.can_cast(values.dtype, a.dtype, "safe"):
        what = "array data" if values.ndim else "scalar"
        raise TypeError(
            f"Cannot cast {what} from {values.dtype!r} to {a.dtype!r} according to the rule 'safe'"
        )


# Elements by position.


@overlay(np.ndarray.put)
def put_method(a: ndarray, indices: Any, values: Any, mode: str = "raise") -> None:
    given = listed(a, values)
    if given.size:
        assign_in_turn(a, flat_positions(a, indices, mode), given)
    else:
        put_nothing(a, indices, given, mode)


@overlay(np.put)
def put(a: ndarray, ind: Any, v: Any, mode: str = "raise") -> None:
    if isinstance(a, np.generic):  # of which NumPy changes a copy
        a = np.array(a)
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a)}")
    put_method(a, ind, v, mode)


def put_nothing(a: ndarray, indices: Any, values: Any, mode: Any) -> None:
    """Do nothing, as NumPy does without values, or raise what it raises."""
    np.put(a, indices, values, mode)


def listed(a: ndarray, values: Any) -> ndarray:
    """Return as a vector what NumPy makes of the values to be written to an array."""
    if isinstance(values, ndarray) or a.dtype.kind not in "OV":
        return np.reshape(np.asarray(values), -1)
    return np.reshape(np.array(values, a.dtype), -1)  # the objects are the items themselves


def assign_in_turn(a: ndarray, positions: ndarray, values: ndarray) -> None:
    """Write values to flat positions, from the start again when there are too few.

    NumPy converts the values first, so that an overflow raises before anything is written.
    """
    refuse_overlaps(a)
    count = len(positions)
    if count and values.size:
        if values.dtype != a.dtype:
            values = values.astype(a.dtype)
        if values.size != count:
            values = values[np.arange(count) % values.size]
        if a.ndim == 0:
            a[()] = values[-1]
        else:
            a[np.unravel_index(positions, a.shape)] = values


def refuse_overlaps(a: ndarray) -> None:
    """Raise if elements of an array are the same memory: NumPy reads and writes these in turn."""
    if has_overlaps(a):
        raise MissingRuleError(
            "a write by positions through a view that overlaps itself",
            why="several elements of the view are the same memory, and NumPy's order matters",
            fix="write to the array that owns the memory of the view",
        )


def refuse_read_only(a: Any, indices: Any) -> None:
    """Raise for the method `at` of a ufunc of a read-only array, which NumPy mostly writes to.

    For arguments other than arrays it raises the same as NumPy.
    """
    if not isinstance(a, ndarray):
        raise TypeError("first operand must be array")
    if not a.flags.writeable:
        still = a.copy()
        still.flags.writeable = False
        np.add.at(still, indices, 0)  # raises, or does what it should not
        raise MissingRuleError(
            "a write by the method `at` of a ufunc to a read-only array",
            why="NumPy before 2.5 writes to it by mistake; NumPy 2.5 raises a ValueError",
            fix="write to the array that owns the memory, or set flags.writeable",
        )


def flat_positions(a: ndarray, indices: Any, mode: Any) -> ndarray:
    """Return flat positions for indices that may be negative or out of bounds, as `mode` says."""
    if isinstance(indices, ndarray):
        found = np.reshape(indices, -1).astype(np.intp, casting="safe")
    else:
        found = np.reshape(np.asarray(indices, np.intp), -1)
    size = a.size
    np.put(np.zeros(1), [], 0.0, mode)  # raises for an invalid mode
    if mode in ("clip", 0):
        return np.clip(found, 0, size - 1)
    if mode in ("raise", 2, None):
        outside = (found < -size) | (found >= size)
        if outside.any():
            first = found[outside][0]
            raise IndexError(f"index {first} is out of bounds for axis 0 with size {size}")
    return found % size if found.size else found


def puts_in_any_layout() -> bool:
    """Return whether NumPy writes to flat positions of strided arrays, as before 2.4."""
    try:
        np.put_along_axis(np.zeros((2, 2)).T, np.zeros(1, int), 0.0, None)
    except ValueError:
        return False
    return True


PUTS_IN_ANY_LAYOUT = puts_in_any_layout()


@overlay(np.put_along_axis)
def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: int | None = -1) -> None:
    if axis is None:
        if np.ndim(indices) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        if PUTS_IN_ANY_LAYOUT:
            put_method(arr, indices, values)
            return
        if not arr.flags.c_contiguous:
            raise ValueError("assignment destination is read-only")
        arr, axis = arr.reshape(-1), 0
    arr[index_along_axis(arr.shape, indices, axis)] = values


def index_along_axis(shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """Return the index that picks ``indices`` along one axis and lines up all others."""
    indices = np.asarray(indices)
    if not np.issubdtype(indices.dtype, np.integer):
        raise IndexError("`indices` must be an integer array")
    if len(shape) != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    grid = list(np.ogrid[tuple(slice(n) for n in shape)]) if len(shape) > 1 else [None]
    grid[operator.index(axis)] = indices
    return tuple(grid)


@overlay(np.fill_diagonal)
def fill_diagonal(a: ndarray, val: Any, wrap: bool = False) -> None:
    a.flat[diagonal(a, wrap)] = val


def diagonal(a: ndarray, wrap: bool) -> slice:
    """Return the flat positions of the main diagonal; with `wrap` it starts again below."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim == 2:
        columns = a.shape[1]
        return slice(None, None if wrap else columns * columns, columns + 1)
    if any(n != a.shape[0] for n in a.shape):
        raise ValueError("All dimensions of input must be of equal length")
    return slice(None, None, sum(a.shape[0] ** i for i in range(a.ndim)))


zero_derivative(
    put_nothing,
    check_copy, check_fill, check_safe, check_shapes, copies_in_turn, copying_order,
    is_one_view,
    reads_what_it_writes, refuse_overlaps, refuse_read_only, has_overlaps, masked_positions,
    flat_positions, index_along_axis, diagonal,
    because="returns positions, or nothing",
)  # fmt: skip


# Sorting: the function of the same name has the rule.  NumPy sorts row by row: if rows share
# memory, each as those before have left it.


@overlay(np.ndarray.sort)
def sort(
    a: ndarray, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> None:
    axis = operator.index(axis)
    if not has_overlaps(a):
        a[...] = np.sort(a, axis=axis, kind=kind, order=order, stable=stable)
        return
    rows = np.moveaxis(a, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        rows[place] = np.sort(rows[place], kind=kind, order=order, stable=stable)


@overlay(np.ndarray.partition)
def partition(
    a: ndarray, kth: Any, axis: int = -1, kind: Any = "introselect", order: Any = None
) -> None:
    axis = operator.index(axis)
    if not has_overlaps(a):
        a[...] = np.partition(a, kth, axis=axis, kind=kind, order=order)
        return
    rows = np.moveaxis(a, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        rows[place] = np.partition(rows[place], kth, kind=kind, order=order)


# Refused: what changes an array in ways that the reverse pass cannot undo.


@overlay(np.ndarray.resize)
def resize(a: ndarray, *new_shape: Any, refcheck: bool = True) -> NoReturn:
    raise MissingRuleError(
        "ndarray.resize cannot be differentiated",
        why="it moves the array's memory, to which views and the record for the reverse pass refer",
        fix="make a new array: np.resize(a, shape), or assign to part of np.zeros(shape)",
    )


@overlay(np.ndarray.byteswap)
def byteswap(a: ndarray, inplace: bool = False) -> ndarray:
    if inplace:
        raise MissingRuleError(
            "ndarray.byteswap in place cannot be differentiated",
            why="it reinterprets the bytes of the numbers, which is not a smooth function of them",
            fix="convert the byte order by value: a.astype(a.dtype.newbyteorder())",
        )
    return swapped_bytes(a)


def swapped_bytes(a: ndarray) -> ndarray:
    """Return a copy with the bytes of each element in reverse order."""
    return a.byteswap()


setattr(swapped_bytes, "stands_for", np.ndarray.byteswap)  # noqa: B010


@from_vjp(swapped_bytes)
def swapped_bytes_rule(a: ndarray) -> tuple[Any, Any]:
    """Swap the bytes of constants; numbers with a derivative lose it."""
    return a.byteswap(), lambda dy: not_implemented("the bytes of a number are not smooth in it")


@overlay(np.ndarray.setfield)
def setfield(a: ndarray, val: Any, dtype: Any, offset: int = 0) -> None:
    fields: Any = a.dtype.fields or {}
    for name, field in fields.items():
        if field[:2] == (dtype, offset):
            a[name] = val
            return
    raise MissingRuleError(
        "ndarray.setfield cannot be differentiated",
        why="it writes part of the bytes of each element",
        fix="assign to the elements, or to a.real and a.imag",
    )
