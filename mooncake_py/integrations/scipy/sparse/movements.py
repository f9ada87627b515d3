"""Kernels that move elements, and those that add up what falls on the same place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.sparse.patterns import (
    blocks_of,
    kernels,
    positions,
    replaces,
    rows_of,
    written,
)
from mooncake_py.rules.declare import zero_derivative

__all__: list[str] = []

# Kernels of indices alone.

zero_derivative(
    kernels.csr_has_canonical_format, kernels.csr_has_sorted_indices, kernels.csr_matmat_maxnnz,
    kernels.csr_count_blocks,
    because="of indices",
)  # fmt: skip


@replaces("expandptr")
def expandptr(n_row: int, Ap: Any, Bi: Any) -> None:
    Bi[...] = rows_of(Ap)


@replaces("csr_column_index1")
def csr_column_index1(*args: Any) -> None:
    args[6][...], args[7][...] = written("csr_column_index1", args, 6, 7)[0]


@replaces("csr_sample_offsets")
def csr_sample_offsets(*args: Any) -> int:
    (args[7][...],), has_duplicates = written("csr_sample_offsets", args, 7)
    return has_duplicates


# Kernels that write each element to one place, or to none.


def moves(name: str, source: int, target: int, *indices: int) -> None:
    """Declare a kernel that copies elements from one argument to another, and writes indices."""

    @replaces(name)
    def moved(*args: Any) -> Any:
        arrays, places, reached, result = traced(name, source, target, indices, args)
        for k, array in zip(indices, arrays, strict=True):
            args[k][...] = array
        args[target][reached] = args[source].ravel()[places]
        return result


def traced(name: str, source: int, target: int, indices: tuple[int, ...], args: Any) -> Any:
    """Apply a kernel to positions.

    Returns
    -------
    tuple
        The indices that it writes, the place that each element comes from, the elements that it
        writes, and what it returns.
    """
    own = list(args)
    for k in indices:
        own[k] = np.array(args[k])
    own[source] = positions(np.shape(args[source]))
    if target != source:
        own[target] = np.zeros(np.size(args[target]), own[source].dtype)
    result = getattr(kernels, name)(*own)
    places = own[target] - 1
    reached: Any = slice(None)
    if places.size and places.min() < 0:
        reached = np.flatnonzero(places >= 0)
        places = places[reached]
    return [own[k] for k in indices], places, reached, result


zero_derivative(traced, because="of indices")

moves("coo_tocsr", 5, 8, 6, 7)
moves("csr_tocsc", 4, 7, 5, 6)
moves("csr_sort_indices", 3, 3, 2)
moves("csr_row_index", 4, 6, 5)
moves("csr_row_slice", 5, 7, 6)
moves("csr_column_index2", 4, 6, 5)
moves("csr_hstack", 5, 8, 6, 7)
moves("dia_tocsr", 5, 7, 8, 9)
moves("bsr_tocsr", 6, 9, 7, 8)
moves("bsr_transpose", 6, 9, 7, 8)
moves("bsr_sort_indices", 6, 6, 5)


@replaces("get_csr_submatrix")
def get_csr_submatrix(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, *bounds: int) -> Any:
    pointers, indices, places = submatrix(n_row, n_col, Ap, Aj, bounds)
    return pointers, indices, Ax[places]


def submatrix(n_row: int, n_col: int, Ap: ndarray, Aj: ndarray, bounds: Any) -> Any:
    """Return pointers, indices and places of the elements of a submatrix."""
    found = kernels.get_csr_submatrix(n_row, n_col, Ap, Aj, positions(len(Aj)), *bounds)
    return found[0], found[1], found[2] - 1


@replaces("csr_eliminate_zeros")
def csr_eliminate_zeros(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any) -> None:
    """Drop the elements that are zero now; which ones counts as held."""
    pointers, indices, places = nonzero(n_row, n_col, Ap, Aj, Ax)
    Ap[...], Aj[...] = pointers, indices
    Ax[: len(places)] = Ax[places]


def nonzero(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any) -> Any:
    """Return the pointers, indices and places of the elements that are not zero."""
    pointers, indices, places = np.array(Ap), np.array(Aj), positions(len(Aj)) * (Ax != 0)
    kernels.csr_eliminate_zeros(n_row, n_col, pointers, indices, places)
    return pointers, indices, places[: pointers[-1]] - 1


# Kernels that add up what falls on the same place.


@replaces("csr_sum_duplicates")
def csr_sum_duplicates(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any) -> None:
    """Add elements of the same row and column that follow one another."""
    pointers, indices, places = groups(Ap, Aj)
    sums = np.zeros(pointers[-1], Ax.dtype)
    np.add.at(sums, places, Ax[: len(places)])
    Ap[...] = pointers
    Aj[: len(sums)] = indices
    Ax[: len(sums)] = sums


def groups(Ap: ndarray, Aj: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Return the pointers and indices without duplicates, and the place of each element there."""
    rows, columns = rows_of(Ap), Aj[: Ap[-1]]
    begins = np.ones(len(columns), bool)
    begins[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    counts = np.concatenate([[0], np.cumsum(begins)])
    return counts[Ap], columns[begins], counts[1:] - 1


@replaces("csr_tobsr")
def csr_tobsr(*args: Any) -> None:
    indices, places, reached, _ = traced("csr_tobsr", 6, 9, (7, 8), args)
    Ap, Aj, Ax = args[4:7]
    if len(places) != Ap[-1] or not has_no_duplicates(Ap, Aj):
        raise MissingRuleError(
            "a sparse matrix with duplicates has no rule for its conversion to blocks",
            why="elements would be added up on the way",
            fix="call sum_duplicates() on it before",
        )
    args[7][...], args[8][...] = indices
    args[9][reached] = Ax[places]


def has_no_duplicates(Ap: ndarray, Aj: ndarray) -> bool:
    """Return whether no row has two elements in one column."""
    columns = Aj[: Ap[-1]]
    places = np.stack([rows_of(Ap), columns])
    return np.unique(places, axis=1).shape[1] == len(columns)


@replaces("coo_todense")
def coo_todense(
    n_row: int, n_col: int, nnz: int, Ai: Any, Aj: Any, Ax: Any, Bx: Any, fortran: int
) -> None:
    rows, columns = Ai.astype(np.intp), Aj.astype(np.intp)
    np.add.at(Bx, columns * n_row + rows if fortran else rows * n_col + columns, Ax)


@replaces("coo_todense_nd")
def coo_todense_nd(
    strides: Any, nnz: int, num_dims: int, coords: Any, Ax: Any, Bx: Any, fortran: int
) -> None:
    np.add.at(Bx, strides @ coords.reshape(num_dims, nnz), Ax)


@replaces("csr_todense")
def csr_todense(n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Bx: Any) -> None:
    np.add.at(Bx, (rows_of(Ap), Aj), Ax)


@replaces("csr_diagonal")
def csr_diagonal(k: int, n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, Yx: Any) -> None:
    write_diagonal(k, rows_of(Ap), Aj, Ax, Yx)


@replaces("bsr_diagonal")
def bsr_diagonal(
    k: int, n_row: int, n_col: int, height: int, width: int, Ap: Any, Aj: Any, Ax: Any, Yx: Any
) -> None:  # fmt: skip
    rows, columns = blocks_of(height, width, Ap, Aj)
    write_diagonal(k, rows, columns, Ax.ravel(), Yx)


def write_diagonal(k: int, rows: Any, columns: Any, Ax: Any, Yx: Any) -> None:
    """Write the sums of the elements on the diagonal `k`."""
    places = np.flatnonzero(columns - rows == k)
    Yx[...] = 0
    np.add.at(Yx, rows[places] + min(k, 0), Ax[places])


@replaces("csr_sample_values")
def csr_sample_values(
    n_row: int, n_col: int, Ap: Any, Aj: Any, Ax: Any, n: int, Bi: Any, Bj: Any, Bx: Any
) -> int:  # fmt: skip
    samples, places = sampled(n_row, n_col, Ap, Aj, Bi, Bj)
    Bx[...] = 0
    np.add.at(Bx, samples, Ax[places])
    return 0


def sampled(n_row: int, n_col: int, Ap: Any, Aj: Any, Bi: Any, Bj: Any) -> tuple[ndarray, ndarray]:
    """Return pairs of a sample and of an element that stands there."""
    keys = rows_of(Ap) * n_col + Aj
    wanted = np.where(Bi < 0, Bi + n_row, Bi).astype(np.intp) * n_col + np.where(
        Bj < 0, Bj + n_col, Bj
    )
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys, wanted, "left", sorter=order)
    counts = np.searchsorted(keys, wanted, "right", sorter=order) - first
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    samples = np.repeat(np.arange(len(wanted)), counts)
    return samples, order[np.repeat(first, counts) + within]


zero_derivative(submatrix, nonzero, groups, has_no_duplicates, sampled, because="of indices")
