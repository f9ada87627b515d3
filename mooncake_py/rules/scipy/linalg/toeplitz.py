"""Systems with Toeplitz matrices, of which every diagonal is constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.scipy.linalg.systems import ONE_MATRIX

__all__: list[str] = []


@from_vjp(sl.solve_toeplitz)
def solve_toeplitz_rule(c_or_cr: Any, b: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """X = T^-1 B:  dB = T^-H dX,  dT = -dB X^H, of which each diagonal is summed.

    Without a first row that is the conjugate of the first column.
    """
    both = isinstance(c_or_cr, tuple)
    column, row = map(np.asarray, c_or_cr if both else (c_or_cr, np.conj(c_or_cr)))
    x: Any = sl.solve_toeplitz(c_or_cr, b, check_finite)

    def solve_toeplitz_pullback(dx: ndarray) -> Any:
        if column.ndim > 1:
            return ONE_MATRIX, ONE_MATRIX
        adjoint = np.append(column[:1], row[1:]), column
        db: Any = sl.solve_toeplitz(tuple(map(conj, adjoint)), dx, check_finite)
        below, above = diagonal_sums(-db, x)
        above[0] = 0  # the corner is that of the column
        return [below, above] if both else below + conj(above), db

    return x, solve_toeplitz_pullback


def diagonal_sums(g: ndarray, x: ndarray) -> tuple[ndarray, ndarray]:
    """Sum the diagonals of G X^H: from the main one downwards, and upwards."""
    n = len(x)
    pairs = zip(g.reshape(n, -1).T, x.reshape(n, -1).T, strict=True)
    sums: Any = sum(np.correlate(left, right, "full") for left, right in pairs)
    return sums[n - 1 :], sums[n - 1 :: -1].copy()
