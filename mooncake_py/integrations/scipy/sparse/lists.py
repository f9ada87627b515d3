"""Kernels for rows that are lists (`lil`): changed in place, element by element."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import _csparsetools

from mooncake_py.integrations.scipy.sparse.joining import is_array
from mooncake_py.rules.declare import overlay, zero_derivative

__all__: list[str] = []

# Arrays of objects hold no derivatives: the lists in them are changed, not replaced.

kernels: Any = _csparsetools


def place(row: list[int], j: int) -> tuple[int, bool]:
    """Return where a column is, or would be, in a row, and whether it is there."""
    k = bisect_left(row, j)
    return k, k < len(row) and row[k] == j


def checked(n_row: int, n_col: int, i: int, j: int) -> tuple[int, int]:
    """Return a row and a column that are not negative."""
    if not -n_row <= i < n_row:
        raise IndexError(f"row index ({i}) out of bounds")
    if not -n_col <= j < n_col:
        raise IndexError(f"column index ({j}) out of bounds")
    return int(i % n_row), int(j % n_col)


zero_derivative(place, checked, because="of indices")


@overlay(kernels.lil_get1)
def lil_get1(n_row: int, n_col: int, rows: Any, datas: Any, i: int, j: int) -> Any:
    i, j = checked(n_row, n_col, i, j)
    k, found = place(rows[i], j)
    return datas[i][k] if found else 0


@overlay(kernels.lil_insert)
def lil_insert(n_row: int, n_col: int, rows: Any, datas: Any, i: int, j: int, x: Any) -> None:
    """Keep an element that is zero: its derivative is not."""
    i, j = checked(n_row, n_col, i, j)
    k, found = place(rows[i], j)
    if found:
        datas[i][k] = x
    else:
        rows[i].insert(k, j)
        datas[i].insert(k, x)


@overlay(kernels.lil_fancy_set)
def lil_fancy_set(
    n_row: int, n_col: int, rows: Any, datas: Any, i_idx: Any, j_idx: Any, values: Any
) -> None:
    for m in range(i_idx.shape[0]):
        for n in range(i_idx.shape[1]):
            i, j = int(i_idx[m, n]), int(j_idx[m, n])
            lil_insert(n_row, n_col, rows, datas, i, j, values[m, n])


@overlay(kernels.lil_fancy_get)
def lil_fancy_get(
    n_row: int, n_col: int, rows: Any, datas: Any, new_rows: Any, new_datas: Any,
    i_idx: Any, j_idx: Any,
) -> None:  # fmt: skip
    for m in range(i_idx.shape[0]):
        columns: list[Any] = []
        elements: list[Any] = []
        for n in range(i_idx.shape[1]):
            i, j = checked(n_row, n_col, int(i_idx[m, n]), int(j_idx[m, n]))
            k, found = place(rows[i], j)
            if found:
                columns.append(n)
                elements.append(datas[i][k])
        new_rows[m].extend(columns)
        new_datas[m].extend(elements)


@overlay(kernels.lil_get_row_ranges)
def lil_get_row_ranges(
    n_row: int, n_col: int, rows: Any, datas: Any, new_rows: Any, new_datas: Any,
    irows: Any, j_start: int, j_stop: int, j_stride: int, nj: int,
) -> None:  # fmt: skip
    kept = range(j_start, j_stop, j_stride)
    for m, i in enumerate(irows):
        columns: list[Any] = []
        elements: list[Any] = []
        places = [k for k, j in enumerate(rows[i]) if j in kept]
        for k in places[::-1] if j_stride < 0 else places:
            columns.append(kept.index(rows[i][k]))
            elements.append(datas[i][k])
        new_rows[m].extend(columns)
        new_datas[m].extend(elements)


@overlay(kernels.lil_get_lengths)
def lil_get_lengths(lists: Any, lengths: Any) -> None:
    for k in range(len(lengths)):
        lengths[k] = len(lists[k])


@overlay(kernels.lil_flatten_to_array)
def lil_flatten_to_array(lists: Any, elements: Any) -> None:
    start = 0
    for row in lists:
        for k in range(len(row)):
            elements[start + k] = row[k]
        start += len(row)


@overlay(sp.csr_array.tolil)
def tolil(self: Any, copy: bool = False) -> Any:
    if self.ndim != 2:
        raise ValueError("Cannot convert a 1d sparse array to lil format")
    self.sum_duplicates()
    kind: Any = sp.lil_array if is_array(self) else sp.lil_matrix
    lists = kind(self.shape, dtype=self.dtype)
    for i in range(self.shape[0]):
        here = slice(self.indptr[i], self.indptr[i + 1])
        lists.rows[i].extend(self.indices[here].tolist())
        lists.data[i].extend(self.data[here].tolist())
    return lists


@overlay(sp.lil_array.__truediv__)
def divided(self: Any, other: Any) -> Any:
    quotient = self.tocsr() / other
    return quotient.tolil() if np.ndim(other) == 0 else quotient


if hasattr(sp.lil_array, "_mul_scalar"):  # private: another version may do it another way

    @overlay(sp.lil_array._mul_scalar)
    def multiplied(self: Any, other: Any) -> Any:
        return (self.tocsr() * other).tolil()
