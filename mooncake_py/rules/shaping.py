"""Rules for functions that rearrange elements: reshape, transpose, flip, roll, diagonals.

Most of these return views, which the engine does not record; their adjoints are for calls that must
copy, such as a reshape across strides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.stride_tricks import as_strided

from mooncake_py.rules.axes import shaped
from mooncake_py.rules.declare import linear, overlay, zero_derivative
from mooncake_py.rules.kinds import Like

__all__ = []

zero_derivative(np.tri, because="the argument is a number of rows")


@overlay(np.broadcast)
def broadcast(*args: Any) -> np.broadcast:
    """Convert numbers to arrays first, as iteration reads the elements."""
    return broadcast_of_arrays(*[np.asarray(a) for a in args])


def broadcast_of_arrays(*arrays: ndarray) -> np.broadcast:
    return np.broadcast(*arrays)


zero_derivative(broadcast_of_arrays, because="only the shapes matter")


# The same elements in another shape.


@linear(np.reshape)
def reshape_adjoint(dy, a, shape=None, order="C", *, newshape=None, copy=None):
    return _reshape_back(dy, a, order)


@linear(np.ndarray.reshape)
def reshape_method_adjoint(dy, a, *shape, order="C", copy=None):
    return _reshape_back(dy, a, order)


@linear(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
def ravel_adjoint(dy, a, order="C"):
    return _reshape_back(dy, a, order)


@overlay(np.flatiter.copy)
def copy_flat(flat):
    return flat.base.flatten()


@linear(np.expand_dims, np.squeeze, np.ndarray.squeeze)
def squeeze_adjoint(dy, a, axis=None):
    return np.reshape(dy, a.shape)  # of a number, dy may be a float of Python


@overlay(np.broadcast_to)
def broadcast_to(array, shape, subok=False):
    if not isinstance(array, np.ndarray):
        array = np.asanyarray(array)  # from here on the result is a view of active memory
    return stretch(array, shape, subok)


def stretch(array, shape, subok):
    """Return np.broadcast_to of an array."""
    return np.broadcast_to(array, shape, subok)


@linear(stretch)
def stretch_adjoint(dy, array, shape, subok):
    return dy  # the engine sums over the axes that were added or stretched


def _reshape_back(dy: ndarray, a: Like, order: Any) -> Any:
    if order in ("A", "K") and (a.strides is None or not a.size):
        order = "C"
    if order == "K":
        axes = _axes_in_memory(a)
        return dy.reshape([a.shape[i] for i in axes]).transpose(_inverse(axes))
    if order == "A":
        order = "F" if _layout(a).flags.fnc else "C"
    return np.reshape(dy, a.shape, order)


def _layout(a: Like) -> ndarray:
    """Return an array that is laid out as `a` was; its elements are not to be read."""
    return as_strided(np.empty(1, a.dtype), a.shape, a.strides, writeable=False)


def _axes_in_memory(a: Like) -> list[int]:
    """Return the axes as NumPy runs through them in order "K", the last one fastest."""
    steps: Any = np.nditer(_layout(a), flags=["multi_index"], order="K")
    start, step, axes = steps.multi_index, 1, []
    while step < a.size:
        steps.iterindex = step
        moved = next(i for i, k in enumerate(steps.multi_index) if k != start[i])
        axes.insert(0, moved)
        step *= a.shape[moved]
    return [i for i in range(a.ndim) if i not in axes] + axes


# The same axes in another order.


@linear(np.transpose)
def transpose_adjoint(dy, a, axes=None):
    return np.transpose(dy, None if axes is None else _inverse(axes))  # as in squeeze_adjoint


@linear(np.ndarray.transpose)
def transpose_method_adjoint(dy, a, *axes):
    if len(axes) == 1 and not isinstance(axes[0], int):
        axes = axes[0]
    return dy.transpose(_inverse(axes) if axes else None)


@linear(np.matrix_transpose)
def matrix_transpose_adjoint(dy, x, /):
    return dy.swapaxes(-1, -2)


@linear(np.swapaxes, np.ndarray.swapaxes)
def swapaxes_adjoint(dy, a, axis1, axis2):
    return dy.swapaxes(axis1, axis2)


@linear(np.moveaxis)
def moveaxis_adjoint(dy, a, source, destination):
    return np.moveaxis(dy, destination, source)


@linear(np.rollaxis)
def rollaxis_adjoint(dy, a, axis, start=0):
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return np.moveaxis(dy, start - 1 if start > axis else start, axis)


def _inverse(axes: Any) -> ndarray:
    return np.argsort([k % len(axes) for k in axes])


# The same elements in another order.


@linear(np.flip)
def flip_adjoint(dy, m, axis=None):
    return np.flip(dy, axis)


@linear(np.fliplr)
def fliplr_adjoint(dy, m):
    return dy[:, ::-1]


@linear(np.flipud)
def flipud_adjoint(dy, m):
    return dy[::-1]


@linear(np.rot90)
def rot90_adjoint(dy, m, k=1, axes=(0, 1)):
    return np.rot90(dy, -k, axes)


@linear(np.roll)
def roll_adjoint(dy, a, shift, axis=None):
    back = np.negative(shift, dtype=np.intp, casting="unsafe")  # of unsigned ints and bools too
    if axis is None:
        return shaped(np.roll(dy.reshape(-1), back, 0), a.shape)
    return np.roll(dy, back, axis)


# Diagonals and triangles.


@linear(np.diagonal, np.ndarray.diagonal)
def diagonal_adjoint(dy, a, offset=0, axis1=0, axis2=1):
    return _on_diagonal(dy, a.shape, offset, axis1, axis2)


@linear(np.trace, np.ndarray.trace)
def trace_adjoint(dy, a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return _on_diagonal(np.expand_dims(dy, -1), a.shape, offset, axis1, axis2)


@linear(np.diag)
def diag_adjoint(dy, v, k=0):
    return _on_diagonal(dy, v.shape, k, 0, 1) if v.ndim == 2 else dy.diagonal(k)


@linear(np.diagflat)
def diagflat_adjoint(dy, v, k=0):
    return dy.diagonal(k).reshape(v.shape)


@linear(np.tril)
def tril_adjoint(dy, m, k=0):
    return np.tril(dy, k)


@linear(np.triu)
def triu_adjoint(dy, m, k=0):
    return np.triu(dy, k)


def _on_diagonal(
    dy: ndarray, shape: tuple[int, ...], offset: int, axis1: int, axis2: int
) -> ndarray:
    """Return zeros of the given shape with `dy` on a diagonal."""
    dx = np.zeros(shape, dy.dtype)
    planes = np.moveaxis(dx, (axis1, axis2), (-2, -1))
    rows, columns = planes.shape[-2:]
    first_row, first_column = max(-offset, 0), max(offset, 0)
    k = np.arange(max(min(rows - first_row, columns - first_column), 0))
    planes[..., k + first_row, k + first_column] = dy
    return dx
