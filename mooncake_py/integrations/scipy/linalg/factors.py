"""Triangular factors, and systems solved with them.

Sources: Murray (2016) for Cholesky; de Hoog, Anderssen and Lukas (2011), "Differentiation of
matrix functionals using triangular factorization", for LU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.stacks import VECTORS, over_stacks
from mooncake_py.integrations.scipy.linalg.systems import kind_of, outer, overwrite_a, overwrite_b
from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.factorizations import cholesky_jvp
from mooncake_py.rules.linalg import quiet
from mooncake_py.rules.matrices import diagonal, fold_triangle

__all__: list[str] = []

Rule = tuple[Any, Any]


# Cholesky.


def cholesky_cotangent(c: ndarray, dc: ndarray, lower: bool) -> ndarray:
    """Return the cotangent of the triangle of A = L L^H that is read (Murray 2016, equation 9)."""
    factor, df = (c, dc) if lower else (adjoint_matrix(c), adjoint_matrix(dc))
    adjoint = adjoint_matrix(np.tril(factor))
    inner = np.tril(adjoint @ np.tril(df))
    diagonal(inner)[...] *= 0.5
    half = np.linalg.solve(adjoint, inner)
    s = adjoint_matrix(np.linalg.solve(adjoint, adjoint_matrix(half)))
    return fold_triangle(s, lower=lower)


def cholesky_of_scipy_jvp(
    tangents: Any,
    y: Any,
    a: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> ndarray:
    """Use the tangent of NumPy's `cholesky`."""
    da = np.atleast_2d(tangents[0])  # SciPy takes a number for a matrix
    return cholesky_jvp((da,), y, np.atleast_2d(a), upper=not lower)


@from_vjp(sl.cholesky, permits=overwrite_a, jvp=cholesky_of_scipy_jvp)
def cholesky_rule(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Rule:
    """Differentiate A = U^H U or L L^H."""
    y = sl.cholesky(a, lower, check_finite=check_finite)
    return y, lambda dy: (cholesky_cotangent(y, dy, lower), None)


@from_vjp(sl.cho_factor, permits=overwrite_a)
def cho_factor_rule(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Rule:
    """Differentiate `cholesky` where the result keeps A's elements in the other triangle."""
    result = sl.cho_factor(a, lower, check_finite=check_finite)

    def cho_factor_pullback(dy: tuple[Any, ...]) -> Any:
        dc = dy[0]
        other = np.triu(dc, 1) if lower else np.tril(dc, -1)
        return cholesky_cotangent(result[0], dc, lower) + other, None

    return result, cho_factor_pullback


@from_vjp(sl.cho_solve, permits=overwrite_b)
@over_stacks(sl.cho_solve, (2, 0), VECTORS)
def cho_solve_rule(
    c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Rule:
    """X = A^-1 B with A = L L^H:  S = -dB X^H,  dL = tril((S + S^H) L)."""
    c, lower = c_and_lower
    x = sl.cho_solve(c_and_lower, b, check_finite=check_finite)

    def cho_solve_pullback(dx: ndarray) -> Any:
        db = sl.cho_solve((c, lower), dx, check_finite=False)
        s = -outer(db, x)
        both = s + adjoint_matrix(s)
        dc = np.tril(both @ np.tril(c)) if lower else np.triu(np.triu(c) @ both)
        return [quiet(dc, dx), None], db

    return x, cho_solve_pullback


# LU.


def lu_cotangent(lower: ndarray, upper: ndarray, dl: ndarray, du: ndarray) -> ndarray:
    """Return the cotangent of L U, for unit lower trapezoidal L and upper trapezoidal U.

    Square: dA = L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H.  Further rows of L are A_2 U^-1,
    and further columns of U are L^-1 A_2.
    """
    k = upper.shape[-2]
    l1, u1 = lower[..., :k, :], upper[..., :, :k]
    l1h, u1h = adjoint_matrix(l1), adjoint_matrix(u1)
    below = adjoint_matrix(np.linalg.solve(u1, adjoint_matrix(dl[..., k:, :])))
    beside = np.linalg.solve(l1h, du[..., :, k:])
    dl1 = np.tril(dl[..., :k, :] - beside @ adjoint_matrix(upper[..., :, k:]), -1)
    du1 = np.triu(du[..., :, :k] - adjoint_matrix(lower[..., k:, :]) @ below)
    inner = np.tril(l1h @ dl1, -1) + np.triu(du1 @ u1h)
    corner = np.linalg.solve(l1h, adjoint_matrix(np.linalg.solve(u1, adjoint_matrix(inner))))
    top = np.concatenate([corner, beside], axis=-1)
    if lower.shape[-2] == k:
        return top
    return np.concatenate([top, below], axis=-2)


@from_vjp(sl.lu, permits=overwrite_a)
@over_stacks(sl.lu, 2)
def lu_rule(
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> Rule:
    """Differentiate A = P L U, with the permutation held fixed."""
    a = np.asarray(a)
    result = sl.lu(a, permute_l, check_finite=check_finite, p_indices=p_indices)

    def lu_pullback(dy: tuple[Any, ...]) -> Any:
        if not a.size:
            return np.zeros_like(a)
        factors: Any = sl.lu(a, check_finite=False)
        p, lower, upper = factors
        dl, du = (
            np.zeros_like(x) if dx is None else dx
            for x, dx in zip(result[-2:], dy[-2:], strict=True)
        )
        dl = p.T @ dl if permute_l else dl
        return p @ lu_cotangent(lower, upper, np.tril(dl, -1), np.triu(du))

    return result, lu_pullback


@from_vjp(sl.lu_factor, permits=overwrite_a)
@over_stacks(sl.lu_factor, 2)
def lu_factor_rule(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Rule:
    """Differentiate A = P L U with L and U in one matrix."""
    result = sl.lu_factor(a, check_finite=check_finite)

    def lu_factor_pullback(dy: tuple[Any, ...]) -> Any:
        both, pivots = result
        if both.ndim < 2:  # SciPy takes the elements of a vector for a column
            both, dy = both.reshape(-1, 1), (dy[0].reshape(-1, 1), None)
        lower, upper = split(both)
        k = min(both.shape)
        da = lu_cotangent(lower, upper, np.tril(dy[0], -1)[:, :k], np.triu(dy[0])[:k])
        return da[np.argsort(permutation(pivots, len(da)))].reshape(np.shape(a))

    return result, lu_factor_pullback


def split(both: ndarray) -> tuple[ndarray, ndarray]:
    """Return L, with ones on the diagonal, and U."""
    k = min(both.shape)
    return np.tril(both, -1)[:, :k] + np.eye(len(both), k, dtype=both.dtype), np.triu(both)[:k]


def permutation(pivots: ndarray, n: int) -> ndarray:
    """Return the order of rows that exchanges of row i and row ``pivots[i]`` lead to."""
    order = np.arange(n)
    for i, j in enumerate(pivots):
        order[[i, j]] = order[[j, i]]
    return order


@from_vjp(sl.lu_solve, permits=overwrite_b)
@over_stacks(sl.lu_solve, (2, 1), VECTORS)
def lu_solve_rule(
    lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Rule:
    """X = op(A)^-1 B:  d op(A) = -dB X^H,  and of P^T A = L U:  dL = S U^H,  dU = L^H S."""
    both, pivots = np.asarray(lu_and_piv[0]), lu_and_piv[1]
    both = both if both.ndim > 1 else both.reshape(-1, 1)
    x = sl.lu_solve(lu_and_piv, b, trans, check_finite=check_finite)
    kind = kind_of(trans, lambda lu, b, trans: sl.lu_solve((lu, np.arange(2)), b, trans))

    def lu_solve_pullback(dx: ndarray) -> Any:
        if kind == 1:
            db = np.conj(sl.lu_solve((both, pivots), np.conj(dx), 0, check_finite=False))
        else:
            db = sl.lu_solve((both, pivots), dx, {0: 2, 2: 0}[kind], check_finite=False)
        s = -outer(db, x)
        s = {0: s, 1: s.swapaxes(-1, -2), 2: adjoint_matrix(s)}[kind]
        s = s[permutation(pivots, len(s))]
        lower, upper = split(both)
        dboth = np.tril(s @ adjoint_matrix(upper), -1) + np.triu(adjoint_matrix(lower) @ s)
        return [quiet(dboth, dx), None], db

    return x, lu_solve_pullback
