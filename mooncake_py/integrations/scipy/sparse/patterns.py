"""Indices of sparse matrices: which element of one stands where in another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray
from scipy.sparse import _sparsetools

from mooncake_py.rules.declare import overlay, zero_derivative

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "blocks_of",
    "find",
    "kernels",
    "positions",
    "replaces",
    "rows_compressed",
    "rows_of",
    "written",
]

kernels: Any = _sparsetools
"""SciPy's compiled module."""


def replaces(name: str) -> Callable[[F], F]:
    """Declare the kernel of that name, if this version of SciPy has it, by a Python function."""
    kernel = getattr(kernels, name, None)
    return (lambda function: function) if kernel is None else overlay(kernel)


def positions(shape: Any) -> ndarray:
    """Return 1, 2, ...: elements that tell where they come from, none of them zero."""
    return np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape)


def rows_of(pointers: ndarray) -> ndarray:
    """Return the row of each element of a matrix in compressed rows."""
    return np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))


def blocks_of(height: int, width: int, pointers: ndarray, indices: ndarray) -> Any:
    """Return the row and the column of each element of a matrix of compressed rows of blocks."""
    shape = len(indices), height, width
    rows = rows_of(pointers)[:, None, None] * height + np.arange(height)[:, None]
    columns = indices[:, None, None].astype(np.intp) * width + np.arange(width)
    return np.broadcast_to(rows, shape).ravel(), np.broadcast_to(columns, shape).ravel()


def find(n_col: int, pattern: tuple[ndarray, ndarray], rows: ndarray, columns: ndarray) -> ndarray:
    """Return the place of each (row, column) in a pattern without duplicates, -1 for none."""
    pointers, indices = pattern
    keys = rows_of(pointers) * n_col + indices
    wanted = rows.astype(np.intp) * n_col + columns
    if not len(keys):
        return np.full(len(wanted), -1)
    order = np.argsort(keys, kind="stable")
    found = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return np.where(keys[found] == wanted, found, -1)


def written(name: str, args: Any, *places: int) -> tuple[list[ndarray], Any]:
    """Return the arguments that a kernel writes to, and its result."""
    own = list(args)
    for k in places:
        own[k] = np.array(args[k])
    result = getattr(kernels, name)(*own)
    return [own[k] for k in places], result


zero_derivative(positions, rows_of, blocks_of, find, written, because="of indices")


def rows_compressed(A: Any) -> tuple[Any, Any, Any]:
    """Return pointers, indices and elements, of a dense matrix all elements."""
    if isinstance(A, ndarray):
        n, m = A.shape
        return np.arange(n + 1) * m, np.tile(np.arange(m), n), A.ravel()
    A = A.tocsr()
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    return A.indptr, A.indices, A.data
