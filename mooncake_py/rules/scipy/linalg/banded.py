"""Systems with matrices that are given by their diagonals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.linalg import quiet
from mooncake_py.rules.scipy.linalg.systems import ONE_MATRIX

__all__: list[str] = []

Rule = tuple[Any, Any]
PERMITS = ("overwrite_ab", "overwrite_b")


def diagonals(n: int, low: int, up: int) -> Iterator[tuple[int, ndarray, ndarray]]:
    """Yield for each diagonal its row in band storage, and the rows and columns of its elements."""
    for offset in range(-min(low, n - 1), min(up, n - 1) + 1):
        columns = np.arange(max(offset, 0), n + min(offset, 0))
        yield up - offset, columns - offset, columns


def product_at(g: ndarray, x: ndarray, rows: ndarray, columns: ndarray) -> ndarray:
    """Return elements of -G X^H."""
    products = -g[rows] * conj(x)[columns]
    return products if products.ndim == 1 else products.sum(axis=1)


@from_vjp(sl.solve_banded, permits=PERMITS)
def solve_banded_rule(
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Rule:
    """X = A^-1 B:  dB = A^-H dX,  dA = -dB X^H on the diagonals."""
    low, up = l_and_u
    ab = np.asarray(ab)
    x = sl.solve_banded(l_and_u, ab, b, check_finite=check_finite)

    def solve_banded_pullback(dx: ndarray) -> Any:
        if ab.ndim > 2:
            return None, ONE_MATRIX, ONE_MATRIX
        n = ab.shape[-1]
        adjoint = np.zeros_like(ab)
        for k, rows, columns in diagonals(n, low, up):
            adjoint[low + up - k, rows] = conj(ab[k, columns])
        db = sl.solve_banded((up, low), adjoint, dx, check_finite=False)
        dab = np.zeros(ab.shape, db.dtype)
        for k, rows, columns in diagonals(n, low, up):
            dab[k, columns] = product_at(db, x, rows, columns)
        return None, quiet(dab, dx), db

    return x, solve_banded_pullback


@from_vjp(sl.solveh_banded, permits=PERMITS)
def solveh_banded_rule(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Rule:
    """X = A^-1 B for Hermitian A, of which one half of the diagonals is given."""
    ab = np.asarray(ab)
    x = sl.solveh_banded(ab, b, lower=lower, check_finite=check_finite)

    def solveh_banded_pullback(dx: ndarray) -> Any:
        if ab.ndim > 2:
            return ONE_MATRIX, ONE_MATRIX
        db = sl.solveh_banded(ab, dx, lower=lower, check_finite=False)
        dab = np.zeros(ab.shape, db.dtype)
        width = len(ab) - 1
        for k, rows, columns in diagonals(ab.shape[-1], *((width, 0) if lower else (0, width))):
            dab[k, columns] = product_at(db, x, rows, columns)
            if rows[0] == columns[0]:
                dab[k] = dab[k].real
            else:
                dab[k, columns] += conj(product_at(db, x, columns, rows))
        return quiet(dab, dx), db

    return x, solveh_banded_pullback
