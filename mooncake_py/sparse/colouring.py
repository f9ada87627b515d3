"""Colours for the columns of a sparse matrix: one product is enough for all columns of a colour.

Columns that share no row get one colour; the values are then read off the product of the matrix
with the sum of their unit vectors (A. R. Curtis, M. J. D. Powell and J. K. Reid, "On the estimation
of sparse Jacobian matrices", IMA Journal of Applied Mathematics 13 (1974), 117-119).
"""

from __future__ import annotations

import numpy as np
from numpy import ndarray

__all__ = ["coloured"]


def coloured(rows: ndarray, columns: ndarray, count: int) -> ndarray:
    """Return a colour for each of `count` columns; those that share a row have different ones.

    Parameters
    ----------
    rows, columns : ndarray of int, shape (nnz,)
        Where the matrix is not zero.
    count : int
        The number of columns.

    Returns
    -------
    ndarray of int, shape (count,)
        Colours from 0; greedy, in the order of the columns, which suits bands: a band of width `w`
        gets `w` colours, the fewest there can be.
    """
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(count + 1))
    by_column = rows[order].tolist()
    used = [0] * (int(rows.max()) + 1 if rows.size else 0)  # bits for the colours in each row
    colours = np.zeros(count, np.int64)
    for column, (start, stop) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        own = by_column[start:stop]
        taken = 0
        for row in own:
            taken |= used[row]
        lowest = ~taken & (taken + 1)  # the lowest bit that is not set
        for row in own:
            used[row] |= lowest
        colours[column] = lowest.bit_length() - 1
    return colours
