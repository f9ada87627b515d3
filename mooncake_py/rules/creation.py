"""Rules for functions that make arrays: conversions, copies, constants, ranges."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import from_vjp, linear, overlay, zero_derivative
from mooncake_py.rules.sequences import distribute, nesting
from mooncake_py.tangents.memory import has_overlaps, is_writeable, zeros_like_owner

__all__ = ["assemble", "convert", "laid_out_copy"]

zero_derivative(
    *(np.zeros, np.ones, np.empty, np.eye, np.identity),
    *(np.zeros_like, np.ones_like, np.empty_like),
    because="the values do not depend on the arguments",
)


# Conversions and copies: the identity, or a change of dtype that the engine undoes.


def once(dy, dtype):
    """Sum what belongs to one number: a dtype with a shape repeats it along new last axes."""
    repeated = 0 if dtype is None else len(np.dtype(dtype).shape)
    return dy.sum(axis=tuple(range(-repeated, 0))) if repeated else dy


@linear(np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
def asarray_adjoint(dy, a, dtype=None, *args, **kwargs):
    return once(dy, dtype).reshape(a.shape)  # np.ascontiguousarray adds an axis to a number


@linear(np.ndarray.__array_wrap__, wrt=1, stepwise=(0,))
def array_wrap_adjoint(dy, self, array, *args, **kwargs):
    return dy


@overlay(np.ndarray.__array__)
def array_of(a, dtype=None, /, *, copy=None):
    """Return the array itself, or one of another dtype."""
    if not copy and (dtype is None or np.dtype(dtype) == a.dtype):
        return a
    return np.array(a, dtype, copy=copy is None or copy, order="C")


@overlay(np.flatiter.__array__)
def array_of_flat(flat, dtype=None, /):
    """Return a view; where there can be none, a copy that must not be written."""
    base = np.asarray(flat.base)
    shared = base.flags.c_contiguous
    y = base.reshape(-1)
    if not shared:
        y.flags.writeable = False
    return y if dtype is None else array_of(y, dtype)


@linear(np.copy, np.ndarray.copy)
def copy_adjoint(dy, a, order="K", subok=False):
    return dy


def laid_out_copy(a):
    """Return a copy with the very strides, a plain one of what is broadcast."""
    if has_overlaps(a):
        return np.copy(a)
    new = zeros_like_owner(a)
    new[...] = a
    return new


@linear(laid_out_copy)
def laid_out_copy_adjoint(dy, a):
    return dy


@linear(np.ndarray.__copy__)
def shallow_copy_adjoint(dy, a):
    return dy


@linear(np.ndarray.__deepcopy__)
def deep_copy_adjoint(dy, a, memo=None):
    return dy


@linear(np.ndarray.astype)
def astype_method_adjoint(dy, a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    return once(dy, dtype)


@overlay(np.astype)
def astype(x, dtype, /, *, copy=True, device=None):
    if device not in (None, "cpu") or not isinstance(x, (ndarray, np.generic)):
        refuse_input(x, dtype, device)
    return x.astype(dtype, copy=copy)


def refuse_input(x, dtype, device):
    """Raise what NumPy raises for what is neither an array nor one of its numbers."""
    np.astype(x, dtype, device=device)


zero_derivative(refuse_input, because="raises")


@overlay(np.from_dlpack)
def from_dlpack(x, /, **options):
    """Return a view, whose owner is known, unlike that of what NumPy returns."""
    if not isinstance(x, ndarray):
        return imported(x, **options)
    return x.copy("K") if options.get("copy") else shown(x)


def shown(x):
    """Return a view that can be written if NumPy's can (2.1 and newer)."""
    view = x[...]
    view.flags.writeable = is_writeable(np.from_dlpack(x))
    return view


@linear(shown)
def shown_adjoint(dy, x):
    return dy


def imported(x, **options):
    """Bring in an array of another library: a constant."""
    return np.from_dlpack(x, **options)


zero_derivative(imported, because="converts objects of other libraries to an array")


ZEROS = np.zeros(2)
CopyMode: Any = getattr(np, "_CopyMode")  # noqa: B009 - NumPy has no public name for it
SHARES_FLAT = np.shares_memory(np.array(ZEROS.flat), ZEROS)
"""Whether the copy of ``a.flat`` is none, as in NumPy 2.4."""


@overlay(np.array)
def array(
    object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None, **newer
):  # fmt: skip
    if isinstance(copy, CopyMode):
        copy = {CopyMode.ALWAYS: True, CopyMode.NEVER: False}.get(copy)
    if dtype is not None and not isinstance(object, ndarray) and np.dtype(dtype).kind == "O":
        return array_of_objects(object, ndmin, order)
    if isinstance(object, (list, tuple)):
        if copy is False:  # raises
            newer["copy"] = False
        return assemble(object, dtype, order=order, ndmin=ndmin, **newer)
    if isinstance(object, np.flatiter):
        object = object.__array__()
        copy = None if SHARES_FLAT and copy else copy
    return convert(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **newer)


def array_of_objects(items, ndmin, order):
    """Make an array of objects, which keeps references as a list does."""
    return np.array(items, "O", ndmin=ndmin, order=order)


def convert(object, dtype=None, **options: Any):
    """Make an array from an array or a number; without a copy it may be the very same one."""
    return np.array(object, dtype, **options)


@linear(convert)
def convert_adjoint(dy, object, dtype=None, **options):
    return once(dy, dtype).reshape(object.shape)  # ndmin adds axes in front


def assemble(object, dtype=None, **options: Any):
    """Make an array from nested sequences of numbers and arrays."""
    return np.array(object, dtype, **options)


@from_vjp(assemble)
def assemble_rule(object, dtype=None, **options: Any) -> tuple[ndarray, Callable[[Any], Any]]:
    def assemble_pullback(dy):
        dy = once(dy, dtype)
        added = dy.ndim - nesting(object)
        return (distribute(dy[(0,) * added], object),)

    return assemble(object, dtype, **options), assemble_pullback


KNOWN_ITEMS = (np.generic, float, int, complex, str, bytes, tuple, list)


NUMBERS = (np.generic, float, int, complex, ndarray)


def require_element(item, dtype):
    """Raise if an array of a dtype does not accept an item that is not a number."""
    np.fromiter([item], dtype)


@overlay(np.fromiter)
def fromiter(iter, dtype, count=-1, *, like=None):
    items = []
    shape = np.dtype(dtype).shape
    iterator = builtins.iter(iter)
    if count < 0:
        operator.length_hint(iter)
    if count != 0:
        for item in iterator:
            if not shape and not isinstance(item, KNOWN_ITEMS) and hasattr(item, "__float__"):
                element = np.empty((), dtype)
                element[()] = item  # as NumPy does, which looks at nothing but the number
                item = element[()]
            elif not shape and not isinstance(item, NUMBERS):
                require_element(item, dtype)
            items.append(item)
            if len(items) == count:
                break
    if len(items) < count:
        raise ValueError(
            f"iterator too short: Expected {count} but iterator had only {len(items)} items."
        )
    if not shape and np.dtype(dtype) != object:
        return np.array(items, dtype)
    rows = np.empty((len(items), *shape), np.dtype(dtype).base)
    for k, item in enumerate(items):
        rows[k] = item
    return rows


zero_derivative(require_element, because="it only raises")


# Constant arrays.


@linear(np.full, wrt=1)
def full_adjoint(dy, shape, fill_value, dtype=None, order="C", **kwargs):
    return with_leading_axes(dy, fill_value)  # the engine sums over what it was broadcast to


@linear(np.full_like, wrt=(0, 1))
def full_like_adjoint(dy, a, fill_value, dtype=None, order="K", subok=True, shape=None, **kwargs):
    # Only shape and dtype of the first argument matter.
    return None, with_leading_axes(dy, fill_value)


def with_leading_axes(dy: ndarray, fill_value: Any) -> ndarray:
    """Return a cotangent with the leading axes of length one that an assignment leaves out."""
    return np.reshape(dy, (1,) * (np.ndim(fill_value) - dy.ndim) + dy.shape)


SPARSE_IN_LIST = type(np.meshgrid(0, sparse=True, copy=False)) is list  # until NumPy 2.5


@overlay(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    grids = []
    for axis, x in zip(axes, xi, strict=True):
        grids.append(np.reshape(x, [-1 if k == axis else 1 for k in range(len(xi))]))
    if not sparse:
        grids = np.broadcast_arrays(*grids, subok=True)
    if copy:
        grids = [grid.copy() for grid in grids]
    return grids if SPARSE_IN_LIST and sparse and not copy else tuple(grids)


# Ranges: y[i] = start + i * step, a linear map of both.


@from_vjp(np.arange)
def arange_rule(start=None, stop=None, step=None, **options) -> tuple[ndarray, Any]:
    """Differentiate in start and step, which move the elements; stop only counts them."""
    given = {name: x for name, x in (("stop", stop), ("step", step)) if x is not None}
    y = np.arange(0 if start is None else start, **given, **options)

    def arange_pullback(dy):
        # A single number is where the range stops.
        dstart = None if stop is None else np.sum(dy)
        return dstart, None, np.sum(dy * np.arange(dy.size, dtype=dy.real.dtype))

    return y, arange_pullback


def linspace_jvp(
    tangents, y, start, stop, num=50, endpoint=True, retstep: Any = False, dtype=None, axis=0, *,
    device=None,
) -> Any:  # fmt: skip
    """Return the samples between the tangents of the ends."""
    ends = [
        np.zeros_like(end) if t is None else t
        for t, end in zip(tangents, (start, stop), strict=False)
    ]
    step: Any = retstep
    return np.linspace(ends[0], ends[1], num, endpoint, step, None, axis)


@from_vjp(np.linspace, jvp=linspace_jvp)
def linspace_rule(
    start, stop, num=50, endpoint=True, retstep: Any = False, dtype=None, axis=0, *, device=None
) -> tuple[Any, Callable[[Any], Any]]:
    """Give each sample's cotangent to both ends, by its distance from them."""
    intervals = num - 1 if endpoint else num

    def linspace_pullback(dy):
        dsamples, dstep = dy if retstep else (dy, None)
        dstart = dstop = 0.0
        if dsamples is not None:
            dsamples = np.moveaxis(dsamples, axis, -1)
            weights = np.arange(num, dtype=dsamples.real.dtype) / max(intervals, 1)
            dstart, dstop = dsamples @ (1 - weights), dsamples @ weights
        if dstep is not None and intervals > 0:
            dstart, dstop = dstart - dstep / intervals, dstop + dstep / intervals
        return dstart, dstop

    return np.linspace(start, stop, num, endpoint, retstep, dtype, axis), linspace_pullback
