"""Tangents along several directions: one row for each, with the layout of the primal.

Along k directions those of an array of shape (*s) are an array of shape (k, *s), those of a number
one of shape (k,).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.tangents.memory import address

__all__ = [
    "Stack", "each", "holds_stack", "rows_like", "rows_view", "stacked",
]  # fmt: skip


class Stack:
    """Tangents of one value on their way through a rule: what is unaware of them cannot use them.

    Parameters
    ----------
    rows : ndarray
    of_number : bool
    """

    __slots__ = ("of_number", "rows")

    def __init__(self, rows: ndarray, of_number: bool) -> None:
        self.rows = rows
        self.of_number = of_number

    def along(self, k: int) -> Any:
        """Return the tangent along one direction."""
        return self.rows[k] if self.of_number else self.rows[k, ...]


def holds_stack(value: Any) -> bool:
    """Return whether there is a stack among arguments."""
    t = type(value)
    return t is Stack or ((t is tuple or t is list) and any(map(holds_stack, value)))


def each(value: Any, k: int) -> Any:
    """Return arguments with the tangents along one direction in place of stacks."""
    t = type(value)
    if t is Stack:
        return value.along(k)
    if (t is tuple or t is list) and holds_stack(value):
        return t([each(part, k) for part in value])
    return value


def stacked(results: list[Any]) -> Any:
    """Return a stack of numbers or arrays, or one for each part of tuples and lists of them."""
    first = results[0]
    if issubclass(type(first), (tuple, list)):
        return [stacked(list(parts)) for parts in zip(*results, strict=True)]
    if isinstance(first, (ndarray, np.number, float, complex)):
        return Stack(np.array(results), type(first) is not ndarray)
    return first  # nothing has a derivative


# Rows of an array laid out like it.


def rows_like(owner: ndarray, directions: int) -> ndarray:
    """Return rows of zeros for a dense array of numbers."""
    if owner.flags.c_contiguous:
        return np.zeros((directions, *owner.shape), owner.dtype)
    store = np.zeros((directions, *owner.shape[::-1]), owner.dtype)
    return store.transpose(0, *range(owner.ndim, 0, -1))


def rows_view(rows: ndarray, owner: ndarray, view: ndarray) -> ndarray:
    """Return the view of rows that `view` is of `owner`, in each row."""
    strides = view.strides
    if strides == owner.strides and view.shape == owner.shape and view.dtype == owner.dtype:
        return rows
    shape = (len(rows), *view.shape)
    if not view.size:
        return np.zeros(shape, view.dtype)
    store = rows if rows.flags.c_contiguous else rows.base
    start = address(view) - address(owner)
    return ndarray(shape, view.dtype, store, start, (rows.strides[0], *strides))
