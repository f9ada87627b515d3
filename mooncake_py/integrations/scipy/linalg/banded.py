"""Systems with matrices that are given by their diagonals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.stacks import VECTORS, over_stacks
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, not_implemented
from mooncake_py.rules.linalg import quiet

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
@over_stacks(sl.solve_banded, (0, 0), 2, VECTORS)
def solve_banded_rule(
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Rule:
    """X = A^-1 B:  dB = A^-H dX,  dA = -dB X^H on the diagonals."""
    low, up = map(int, l_and_u)
    ab = np.asarray(ab)
    x = sl.solve_banded(l_and_u, ab, b, check_finite=check_finite)

    def solve_banded_pullback(dx: ndarray) -> Any:
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
@over_stacks(sl.solveh_banded, 2, VECTORS)
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
        if ab.ndim < 2:
            return OF_VECTOR, OF_VECTOR
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


def as_column(half: Any) -> ndarray:
    """Return diagonals as SciPy reads a vector, or a number: as those of one column."""
    half = np.asarray(half)
    return half if half.ndim > 1 else half.reshape(-1, 1)


OF_VECTOR = not_implemented(
    "SciPy takes the vector for the diagonals of one column", fix="give the diagonals as rows"
)


# Cholesky factors, with the diagonals as in `solveh_banded`.


def lower_half(half: ndarray, lower: bool) -> ndarray:
    """Return the lower half of a Hermitian matrix, or of its factor, as a copy."""
    return np.array(half) if lower else exchanged(half, np.zeros_like(half), lower)


def exchanged(half: ndarray, other: ndarray, lower: bool) -> ndarray:
    """Write the conjugate of the diagonals of one half into the other one."""
    width, n = len(half) - 1, half.shape[1]
    for k in range(min(width, n - 1) + 1):
        if lower:
            other[width - k, k:] = conj(half[k, : n - k])
        else:
            other[k, : n - k] = conj(half[width - k, k:])
    return other


@from_vjp(sl.cholesky_banded, permits=PERMITS)
@over_stacks(sl.cholesky_banded, 2)
def cholesky_banded_rule(
    ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True
) -> Rule:
    """Differentiate A = L L^H column by column, backwards; copy elements beyond the diagonals.

    Source: I. Murray, "Differentiation of the Cholesky decomposition" (arXiv:1602.07527).
    """
    c: Any = sl.cholesky_banded(ab, lower=lower, check_finite=check_finite)

    def cholesky_banded_pullback(dc: ndarray) -> Any:
        if c.ndim < 2:
            dc = as_column(dc)
        factor, d = lower_half(as_column(c), lower), lower_half(dc, lower)
        width, n = len(factor) - 1, factor.shape[1]
        for j in range(n)[::-1]:
            size = min(width, n - 1 - j)
            column, pivot = factor[1 : size + 1, j], np.real(factor[0, j])
            below = d[1 : size + 1, j].copy()
            for b in range(size):  # column j was subtracted from column j + 1 + b
                later = d[: size - b, j + 1 + b]
                below[b:] -= later * column[b]
                below[b] -= np.vdot(later, column[b:])
            inner = np.real(np.vdot(column, below)) / pivot
            d[0, j] = (np.real(d[0, j]) - inner) / (2 * pivot)
            d[1 : size + 1, j] = below / pivot
        dab = quiet(d if lower else exchanged(d, np.array(dc), True), dc)
        return np.reshape(dab, np.shape(ab))

    return c, cholesky_banded_pullback


@from_vjp(sl.cho_solve_banded, permits=("overwrite_b",))
@over_stacks(sl.cho_solve_banded, (2, 0), VECTORS)
def cho_solve_banded_rule(
    cb_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Rule:
    """X = (L L^H)^-1 B:  G = (L L^H)^-1 dX,  dL = -(G (L^H X)^H + X (L^H G)^H),  dB = G."""
    half, lower = cb_and_lower
    half = np.asarray(half)
    x: Any = sl.cho_solve_banded(cb_and_lower, b, check_finite=check_finite)

    def cho_solve_banded_pullback(dx: ndarray) -> Any:
        if half.ndim < 2:
            return [OF_VECTOR, None], OF_VECTOR
        db: Any = sl.cho_solve_banded((half, lower), dx, check_finite=False)
        factor = lower_half(half, lower)
        n = half.shape[1]
        solutions, g = np.reshape(x, (n, -1)), np.reshape(db, (n, -1))
        p, q = adjoint_product(factor, solutions), adjoint_product(factor, g)
        d = np.zeros(half.shape, g.dtype)
        for k in range(min(len(half), n)):
            first, second = g[k:] * conj(p[: n - k]), solutions[k:] * conj(q[: n - k])
            d[k, : n - k] = -np.sum(first + second, axis=1)
        return [quiet(d if lower else exchanged(d, np.zeros_like(d), True), dx), None], db

    return x, cho_solve_banded_pullback


def adjoint_product(factor: ndarray, x: ndarray) -> ndarray:
    """Return L^H X."""
    n = len(x)
    products = np.zeros(x.shape, np.result_type(factor, x))
    for k in range(min(len(factor), n)):
        products[: n - k] += conj(factor[k, : n - k, None]) * x[k:]
    return products
