"""Rules for functions that select elements: take, compress, choose, select."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.axes import shaped
from mooncake_py.rules.broadcasting import unbroadcast
from mooncake_py.rules.declare import from_vjp, linear, overlay, plain_jvp
from mooncake_py.rules.inplace import written
from mooncake_py.rules.sequences import distribute, filled, of_sequences

__all__ = []


# Elements by their indices: the adjoint adds up, since an index may occur several times.


@linear(np.take, np.ndarray.take)
def take_adjoint(dy, a, indices, axis=None, out=None, mode="raise"):
    if axis is None or a.ndim == 0:
        shape, axis = (a.size,), 0
    else:
        shape, axis = a.shape, axis % a.ndim
    n = shape[axis]
    indices = np.asarray(indices).astype(np.intp, copy=False)  # floats too, as numbers or a list
    if mode == "wrap":
        indices = indices % n
    elif mode == "clip":
        indices = indices.clip(0, n - 1)
    return shaped(_scatter(dy, shape, (slice(None),) * axis + (indices,)), a.shape)


@linear(np.take_along_axis)
def take_along_axis_adjoint(dy, arr, indices, axis=-1):
    if axis is None:
        return _scatter(dy, (arr.size,), (indices,)).reshape(arr.shape)
    grid: list[Any] = list(np.ogrid[tuple(slice(n) for n in arr.shape)])
    grid[axis] = indices
    return _scatter(dy, arr.shape, tuple(grid))


@linear(np.ndarray.item)
def item_adjoint(dy, a, *args):
    dx = np.zeros(a.shape, a.dtype)
    index = args[0] if len(args) == 1 else args
    if isinstance(index, tuple):
        dx[index] = dy
    else:
        dx.reshape(-1)[index if args else 0] = dy
    return dx


@overlay(np.ndarray.tolist)
def tolist(a):
    if a.ndim == 0:
        return a.item()
    if a.ndim == 1:
        return [a.item(i) for i in range(len(a))]
    return [a[i].tolist() for i in range(len(a))]


def _scatter(dy: Any, shape: tuple[int, ...], index: tuple[Any, ...]) -> ndarray:
    dy = np.asarray(dy)
    dx = np.zeros(shape, dy.dtype)
    np.add.at(dx, index, dy)
    return dx


# Elements by a condition.


@linear(np.compress, wrt=1)
def compress_adjoint(dy, condition, a, axis=None, out=None):
    return _decompress(dy, a.shape, condition, axis)


@linear(np.ndarray.compress)
def compress_method_adjoint(dy, a, condition, axis=None, out=None):
    return _decompress(dy, a.shape, condition, axis)


@linear(np.extract, wrt=1)
def extract_adjoint(dy, condition, arr):
    return _decompress(dy, arr.shape, np.ravel(condition), None)


def _decompress(dy: ndarray, shape: tuple[int, ...], condition: Any, axis: int | None) -> ndarray:
    dx = np.zeros(shape, dy.dtype)
    if axis is None or not shape:
        dx.reshape(-1)[np.flatnonzero(condition)] = dy
    else:
        np.moveaxis(dx, axis, 0)[np.flatnonzero(condition)] = np.moveaxis(dy, axis, 0)
    return dx


# Elements from one of several arrays.


@overlay(np.ndarray.choose)
def choose_method(a, /, *choices, out=None, mode="raise"):
    """Take the choices as one argument, or each as one."""
    return choose(a, choices[0] if len(choices) == 1 else choices, out, mode)


@overlay(np.choose)
def choose(a, choices, out=None, mode="raise"):
    result = choose_from(a, *choices, mode=mode)
    return result if out is None else written(out, result)


def choose_from(a, *choices, mode: Any = "raise"):
    """Return np.choose(a, choices) with the choices as arguments of their own."""
    return np.choose(a, choices, mode=mode)


@from_vjp(choose_from)
def choose_from_rule(a, *choices, mode: Any = "raise"):
    def choose_pullback(dy):
        chosen = np.choose(a, np.arange(len(choices)), mode=mode)
        return None, *(np.where(chosen == k, dy, 0) for k in range(len(choices)))

    return choose_from(a, *choices, mode=mode), choose_pullback


@from_vjp(np.select)
def select_rule(condlist, choicelist, default=0):
    """Return each cotangent where its condition is the first that holds."""

    def select_pullback(dy):
        left, dchoices = np.ones(np.shape(dy), bool), []
        for condition, choice in zip(condlist, choicelist, strict=True):
            dchoice = unbroadcast(np.where(left & condition, dy, 0), np.shape(choice))
            dchoices.append(distribute(dchoice, choice))
            left = left & ~np.asarray(condition)
        return None, dchoices, np.where(left, dy, 0)

    return np.select(condlist, choicelist, default), select_pullback


@plain_jvp(np.select)
@of_sequences
def select_jvp(tangents, y, condlist, choicelist, default=0):
    """Select among the tangents of the choices."""
    _, dchoices, ddefault = (*tangents, None)[:3]
    if not isinstance(choicelist, (list, tuple)):
        return NotImplemented
    return np.select(condlist, filled(dchoices, choicelist), filled(ddefault, default))
