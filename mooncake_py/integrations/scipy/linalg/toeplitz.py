"""Systems with Toeplitz matrices, of which every diagonal is constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.stacks import VECTORS, over_stacks
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, overlay

__all__: list[str] = []


@overlay(sl.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """Take the conjugate of the first column for the first row that is not given."""
    column, row = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, np.conj(c_or_cr))
    return solve_by_column_and_row(column, row, b, check_finite)


def solve_by_column_and_row(column: Any, row: Any, b: Any, check_finite: bool) -> Any:
    """Return T^-1 B."""
    return sl.solve_toeplitz((column, row), b, check_finite)


@from_vjp(solve_by_column_and_row)
@over_stacks(solve_by_column_and_row, 1, 1, VECTORS)
def solve_toeplitz_rule(column: Any, row: Any, b: Any, check_finite: bool) -> tuple[Any, Any]:
    """X = T^-1 B:  dB = T^-H dX,  dT = -dB X^H, of which each diagonal is summed."""
    column, row = np.asarray(column), np.asarray(row)
    x: Any = sl.solve_toeplitz((column, row), b, check_finite)

    def solve_toeplitz_pullback(dx: ndarray) -> Any:
        adjoint = np.append(column[:1], row[1:]), column
        db: Any = sl.solve_toeplitz(tuple(map(conj, adjoint)), dx, check_finite)
        below, above = diagonal_sums(-db, x)
        above[0] = 0  # the corner is that of the column
        return below, above, db

    return x, solve_toeplitz_pullback


def diagonal_sums(g: ndarray, x: ndarray) -> tuple[ndarray, ndarray]:
    """Sum the diagonals of G X^H: from the main one downwards, and upwards."""
    n = len(x)
    pairs = zip(g.reshape(n, -1).T, x.reshape(n, -1).T, strict=True)
    none = np.zeros(2 * n - 1, np.result_type(g, x))
    sums: Any = sum((np.correlate(left, right, "full") for left, right in pairs), none)
    return sums[n - 1 :], sums[n - 1 :: -1].copy()
