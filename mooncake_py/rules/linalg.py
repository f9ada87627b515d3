"""Linear systems, inverses, determinants and factorizations of `np.linalg`.

Sources: M. B. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), for solve, inv, det and the symmetric eigenvalue problem;
I. Murray, "Differentiation of the Cholesky decomposition" (arXiv:1602.07527);
J. Townsend, "Differentiating the singular value decomposition" (2016), with the phases of the
complex case after Z. Wan and S. Zhang (arXiv:1909.02659);
G. H. Golub and V. Pereyra, SIAM J. Numer. Anal. 10 (1973), for the pseudoinverse.

`cholesky`, `eigh` and `eigvalsh` read one triangle of their argument.  The derivative is that of
what they compute: it is zero in the triangle that is not read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix, conj
from mooncake_py.rules.declare import from_vjp, not_implemented, zero_derivative

__all__: list[str] = []

Rule = tuple[Any, Any]

zero_derivative(np.linalg.matrix_rank, because="piecewise constant")


# Linear systems and inverses.


@from_vjp(np.linalg.solve)
def solve_rule(a: Any, b: Any) -> Rule:
    """Y = A^-1 B:  dB = A^-H dY,  dA = -dB Y^H  (Giles 2.3.1)."""
    a, b = np.asarray(a), np.asarray(b)
    y = np.linalg.solve(a, b)

    def solve_pullback(dy: ndarray) -> tuple[ndarray, ndarray]:
        if b.ndim == 1:  # one vector for each matrix of the stack
            db = np.linalg.solve(adjoint_matrix(a), dy[..., None])[..., 0]
            return -db[..., :, None] * conj(y)[..., None, :], db
        db = np.linalg.solve(adjoint_matrix(a), dy)
        return -db @ adjoint_matrix(y), db

    return y, solve_pullback


@from_vjp(np.linalg.inv)
def inv_rule(a: Any) -> Rule:
    """Y = A^-1:  dA = -Y^H dY Y^H  (Giles 2.2.3)."""
    y = np.linalg.inv(a)

    def inv_pullback(dy: ndarray) -> ndarray:
        adjoint = adjoint_matrix(y)
        return -adjoint @ dy @ adjoint

    return y, inv_pullback


@from_vjp(np.linalg.pinv)
def pinv_rule(a: Any, rcond: Any = None, hermitian: bool = False, **options: Any) -> Rule:
    """P = A^+ at constant rank.

    dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P  (Golub and Pereyra 1973).
    """
    a = np.asarray(a)
    p = np.linalg.pinv(a, rcond, hermitian, **options)

    def pinv_pullback(dp: ndarray) -> ndarray:
        if not a.size:
            return np.zeros_like(a)
        whole = complete_triangle(a) if hermitian else a
        ph, dph = adjoint_matrix(p), adjoint_matrix(dp)
        from_left = dph @ p @ ph  # dP^H P P^H
        from_right = ph @ p @ dph  # P^H P dP^H
        da = from_left - whole @ (p @ from_left) + from_right - from_right @ p @ whole
        da -= ph @ dp @ ph
        return fold_triangle(da, lower=True) if hermitian else da

    return p, pinv_pullback


# Determinants.


@from_vjp(np.linalg.det)
def det_rule(a: Any) -> Rule:
    """D = det A:  dA = dD conj(C) with the cofactors C, which are D A^-T where A is regular.

    Giles 2.2.4; at a singular matrix the cofactors come from the singular vectors.
    """
    a = np.asarray(a)
    y = np.linalg.det(a)

    def det_pullback(dy: Any) -> ndarray:
        return np.asarray(dy)[..., None, None] * conj(cofactors(a, y))

    return y, det_pullback


def cofactors(a: ndarray, det: Any) -> ndarray:
    """Return the derivative of the determinant, also at singular matrices."""
    if np.all(det != 0):
        return np.asarray(det)[..., None, None] * np.linalg.inv(a).swapaxes(-1, -2)
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    phase = np.linalg.det(u) * np.linalg.det(vh)
    without_one = np.where(np.eye(n, dtype=bool), 1, s[..., None, :]).prod(axis=-1)
    scaled = conj(u) * (phase[..., None] * without_one)[..., None, :]
    return scaled @ conj(vh)


@from_vjp(np.linalg.slogdet)
def slogdet_rule(a: Any) -> Rule:
    """(s, l) with det A = s exp(l):  dA = (dl + i c) A^-H,  c = -Im(conj(ds) s).

    The phase s moves only for complex matrices.  At a singular matrix the derivative is nan:
    it has no limit there.
    """
    a = np.asarray(a)
    result = np.linalg.slogdet(a)

    def slogdet_pullback(dy: tuple[Any, Any]) -> ndarray:
        ds, factor = dy
        factor = 0.0 if factor is None else factor
        if ds is not None and np.iscomplexobj(a):
            factor = factor - 1j * np.imag(np.conj(ds) * result[0])
        wide = np.asarray(factor)[..., None, None]
        return np.where(wide == 0, 0, wide * adjoint_matrix(inverse_or_nan(a)))

    return result, slogdet_pullback


def inverse_or_nan(a: ndarray) -> ndarray:
    """Invert a stack of matrices, with nan in place of those that have no inverse."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        if a.ndim == 2:
            return np.full_like(a, np.nan)
        return np.stack([inverse_or_nan(matrix) for matrix in a])


# Factorizations of Hermitian matrices.


def fold_triangle(s: ndarray, lower: bool) -> ndarray:
    """Turn the cotangent of a Hermitian matrix into that of the triangle that was read.

    An element off the diagonal stands for two, and the diagonal counts by its real part.
    """
    both = s + adjoint_matrix(s)
    triangle = np.tril(both, -1) if lower else np.triu(both, 1)
    n = s.shape[-1]
    triangle[..., range(n), range(n)] = np.einsum("...ii->...i", s).real
    return triangle


def complete_triangle(a: ndarray) -> ndarray:
    """Return the Hermitian matrix that the lower triangle stands for."""
    below = np.tril(a, -1)
    whole = below + adjoint_matrix(below)
    n = a.shape[-1]
    whole[..., range(n), range(n)] = np.einsum("...ii->...i", a).real
    return whole


@from_vjp(np.linalg.cholesky)
def cholesky_rule(a: Any, /, *, upper: bool = False) -> Rule:
    """A = L L^H:  S = L^-H F(L^H dL) L^-1, where F keeps the lower triangle, half the diagonal.

    Murray (2016), equation 9.
    """
    y = np.linalg.cholesky(a, upper=upper)

    def cholesky_pullback(dy: ndarray) -> ndarray:
        factor, df = (adjoint_matrix(y), adjoint_matrix(dy)) if upper else (y, dy)
        adjoint = adjoint_matrix(factor)
        inner = np.tril(adjoint @ np.tril(df))
        np.einsum("...ii->...i", inner)[...] *= 0.5
        half = np.linalg.solve(adjoint, inner)
        s = adjoint_matrix(np.linalg.solve(adjoint, adjoint_matrix(half)))
        return fold_triangle(s, lower=not upper)

    return y, cholesky_pullback


@from_vjp(np.linalg.eigh)
def eigh_rule(a: Any, UPLO: Any = "L") -> Rule:
    """A = V diag(w) V^H:  S = V (diag(dw) + F * (V^H dV)) V^H,  F_ij = 1 / (w_j - w_i).

    Giles 3.1.  F is zero on the diagonal, which fixes the phase of each vector, and between
    equal eigenvalues, whose vectors are not determined.
    """
    result = np.linalg.eigh(a, UPLO)
    w, v = result

    def eigh_pullback(dy: tuple[Any, Any]) -> ndarray:
        dw, dv = dy
        inner = np.zeros(v.shape, v.dtype)
        if dv is not None:
            gaps = w[..., None, :] - w[..., :, None]
            inner += inverse_or_zero(gaps) * (adjoint_matrix(v) @ dv)
        if dw is not None:
            np.einsum("...ii->...i", inner)[...] += dw
        return fold_triangle(v @ inner @ adjoint_matrix(v), lower=UPLO.upper() == "L")

    return result, eigh_pullback


@from_vjp(np.linalg.eigvalsh)
def eigvalsh_rule(a: Any, UPLO: Any = "L") -> Rule:
    """The eigenvalues of a Hermitian matrix; the vectors are computed when they are wanted."""
    a = np.asarray(a)

    def eigvalsh_pullback(dw: ndarray) -> ndarray:
        v = np.linalg.eigh(a, UPLO).eigenvectors
        s = (v * dw[..., None, :]) @ adjoint_matrix(v)
        return fold_triangle(s, lower=UPLO.upper() == "L")

    return np.linalg.eigvalsh(a, UPLO), eigvalsh_pullback


def inverse_or_zero(x: Any) -> ndarray:
    """Return 1 / x, and zero where x is zero."""
    x = np.asarray(x)
    return np.divide(1, x, out=np.zeros_like(x), where=x != 0)


# Singular values and vectors.


@from_vjp(np.linalg.svd)
def svd_rule(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Rule:
    """A = U diag(s) V^H; equal and zero singular values count as their vectors being fixed."""
    a = np.asarray(a)
    result = np.linalg.svd(a, full_matrices, compute_uv, hermitian)
    k = min(a.shape[-2:])

    def values_pullback(ds: ndarray) -> ndarray:
        u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
        da = (u * ds[..., None, :]) @ vh
        return fold_triangle(da, lower=True) if hermitian else da

    def svd_pullback(dy: tuple[Any, Any, Any]) -> Any:
        u, s, vh = result
        du, ds, dvh = dy
        if beyond(du, k, axis=-1) or beyond(dvh, k, axis=-2):
            return not_implemented(
                "singular vectors beyond the first min(m, n); pass full_matrices=False"
            )
        du = None if du is None else du[..., :k]
        dvh = None if dvh is None else dvh[..., :k, :]
        da = svd_cotangent(u[..., :k], s, vh[..., :k, :], du, ds, dvh)
        return fold_triangle(da, lower=True) if hermitian else da

    return result, svd_pullback if compute_uv else values_pullback


def beyond(dx: ndarray | None, k: int, axis: int) -> bool:
    """Tell whether a cotangent is non-zero for any singular vector after the first `k`."""
    return dx is not None and bool(np.moveaxis(dx, axis, 0)[k:].any())


def svd_cotangent(u: ndarray, s: ndarray, vh: ndarray, du: Any, ds: Any, dvh: Any) -> ndarray:
    """Return the cotangent of A = U diag(s) V^H for the thin factors.

    With F_ij = 1 / (s_j^2 - s_i^2), 0 on the diagonal, and skew X = X - X^H:
    dA = U (F * skew(U^H dU) s + s F * skew(V^H dV) + ds) V^H
         + (1 - U U^H) dU s^-1 V^H + U s^-1 dV^H (1 - V V^H).
    """
    squares = s * s
    f = inverse_or_zero(squares[..., None, :] - squares[..., :, None])
    column_s, row_s = s[..., :, None], s[..., None, :]
    row_inverse = inverse_or_zero(row_s)
    inner = np.zeros(f.shape, u.dtype)
    outside = 0
    if ds is not None:
        np.einsum("...ii->...i", inner)[...] += ds
    if du is not None:
        projected = adjoint_matrix(u) @ du
        skew = projected - adjoint_matrix(projected)
        inner += f * skew * row_s
        if np.iscomplexobj(u):  # the phase common to a pair of vectors is not determined
            np.einsum("...ii->...i", inner)[...] += (
                0.5 * inverse_or_zero(s) * np.einsum("...ii->...i", skew)
            )
        outside = ((du - u @ projected) * row_inverse) @ vh
    if dvh is not None:
        dv = adjoint_matrix(dvh)
        projected = vh @ dv
        inner += column_s * f * (projected - adjoint_matrix(projected))
        rest = (dv - adjoint_matrix(vh) @ projected) * row_inverse
        outside = outside + u @ adjoint_matrix(rest)
    return u @ inner @ vh + outside
