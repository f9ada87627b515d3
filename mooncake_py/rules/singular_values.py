"""Singular values and vectors, and what is computed from them: pseudoinverse, least squares.

Sources: J. Townsend, "Differentiating the singular value decomposition" (2016), with the phases
of the complex case after Z. Wan and S. Zhang, "Automatic differentiation for complex valued SVD"
(arXiv:1909.02659); for functions of singular values V. Noferini, "A formula for the Frechet
derivative of a generalized matrix function", SIAM J. Matrix Anal. Appl. 38 (2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, plain_jvp
from mooncake_py.rules.eigen import hermitian_cotangent
from mooncake_py.rules.gauge import (
    ON_BASIS,
    ON_PHASE,
    UNDETERMINED,
    depends_on_basis,
    depends_on_phase,
    inverse_differences,
    rounding,
    undetermined,
    undetermined_at_zero,
    used,
    vectors_of_values,
    without_complement,
)
from mooncake_py.rules.matrices import complete_triangle, diagonal, fold_triangle, inverse_or_zero

__all__ = ["svd_cotangent", "values_cotangent"]

Rule = tuple[Any, Any]


@from_vjp(np.linalg.svd)
def svd_rule(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Rule:
    """Differentiate A = U diag(s) V^H."""
    a = np.asarray(a)
    result = np.linalg.svd(a, full_matrices, compute_uv, hermitian)

    def values_pullback(ds: ndarray) -> ndarray:
        u, s, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
        da = values_cotangent(u, s, vh, ds)
        return fold_triangle(da, lower=True) if hermitian else da

    def svd_pullback(dy: tuple[Any, Any, Any]) -> Any:
        u, s, vh = result
        du, ds, dvh = dy
        dv = None if dvh is None else adjoint_matrix(dvh)
        cotangent = hermitian_svd_cotangent if hermitian else svd_cotangent
        return cotangent(u, s, adjoint_matrix(vh), du, ds, dv)

    return result, svd_pullback if compute_uv else values_pullback


@plain_jvp(np.linalg.svd)
def svd_jvp(
    tangents: Any,
    y: Any,
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Any:
    """Return the tangents where no singular values coincide or are zero (Townsend 2016).

    With P = U^T dA V, the vectors of a pair turn together by (P + P^T) / (s_j - s_i), and against
    each other by (P - P^T) / (s_j + s_i); U leaves its space by (1 - U U^T) dA V s^-1.
    """
    a, da = np.asarray(a), np.asarray(tangents[0])
    u, s, vh = y if compute_uv else np.linalg.svd(a, full_matrices=False)
    k = s.shape[-1]
    if hermitian or u.dtype.kind != "f" or u.shape[-1] != k or vh.shape[-2] != k:
        return NotImplemented
    ut, v = u.swapaxes(-1, -2), vh.swapaxes(-1, -2)
    moved = da @ v
    inner = ut @ moved
    ds = diagonal(inner).copy()
    if not compute_uv:
        return ds
    differences, coincide = inverse_differences(s)
    if np.any(s <= rounding(s)) or np.count_nonzero(coincide) != s.size:
        return NotImplemented
    mirrored = inner.swapaxes(-1, -2)
    together = 0.5 * (inner + mirrored) * differences
    against = 0.5 * (inner - mirrored) / (s[..., None, :] + s[..., :, None])
    du, dv = u @ (together + against), v @ (together - against)
    if u.shape[-2] > k:
        du += (moved - u @ inner) / s[..., None, :]
    if v.shape[-2] > k:
        dv += (da.swapaxes(-1, -2) @ u - v @ mirrored) / s[..., None, :]
    return du, ds, dv.swapaxes(-1, -2)


def values_cotangent(u: ndarray, s: ndarray, vh: ndarray, ds: ndarray) -> ndarray:
    """Return the cotangent of A = U diag(s) V^H, of the values alone."""
    v = adjoint_matrix(vh)
    u, v = (vectors_of_values(s, x, u.shape != v.shape or np.iscomplexobj(u)) for x in (u, v))
    return (u * ds[..., None, :]) @ adjoint_matrix(v)


def hermitian_svd_cotangent(u: ndarray, s: ndarray, v: ndarray, du: Any, ds: Any, dv: Any) -> Any:
    """Return the cotangent of a Hermitian matrix: its eigenvectors U, and V = U sign(w)."""
    signs = np.where(np.sum(u * v.conj(), axis=-2).real < 0, -1, 1).astype(s.dtype)
    du = du if dv is None else dv * signs[..., None, :] + (0 if du is None else du)
    dw = None if ds is None else ds * signs
    return hermitian_cotangent(s * signs, u, dw, du, lower=True)


def svd_cotangent(u: ndarray, s: ndarray, v: ndarray, du: Any, ds: Any, dv: Any) -> Any:
    """Return the cotangent of A = U diag(s) V^H, where `du`, `ds` and `dv` may be None."""
    k = s.shape[-1]
    for q, dq in ((u, du), (v, dv)):
        if dq is not None and q.shape[-1] > k and depends_on_basis(q[..., k:], dq[..., k:]):
            return ON_BASIS
    thin_u, thin_v = u[..., :k], v[..., :k]
    if du is None and dv is None:
        return (thin_u * ds[..., None, :]) @ adjoint_matrix(thin_v)
    du = np.zeros_like(thin_u) if du is None else without_complement(u, du, k)
    dv = np.zeros_like(thin_v) if dv is None else without_complement(v, dv, k)
    return vectors_cotangent(thin_u, s, thin_v, du, ds, dv)


def vectors_cotangent(u: ndarray, s: ndarray, v: ndarray, du: ndarray, ds: Any, dv: ndarray) -> Any:
    """Return the cotangent of A = U diag(s) V^H for the thin factors.

    The vectors of a pair turn together or against each other.  With P and Q the skew-Hermitian
    parts of U^H dU and V^H dV,

    dA = U (diag(ds) + (P + Q)_ij / (s_j - s_i) + (P - Q)_ij / (s_j + s_i)) V^H
         + (1 - U U^H) dU s^-1 V^H + U s^-1 dV^H (1 - V V^H).

    On the diagonal the first fraction is zero, and P + Q is the derivative along the phase
    common to a pair.  Only the first fraction grows where singular values coincide.
    """
    in_u, in_v = adjoint_matrix(u) @ du, adjoint_matrix(v) @ dv
    together, against = skew_part(in_u + in_v), skew_part(in_u - in_v)
    if np.iscomplexobj(u) and depends_on_phase(diagonal(together).imag, du, dv):
        return ON_PHASE
    positive = np.where(s > rounding(s), s, 0)
    differences, coincide = inverse_differences(s)
    in_use = used(du) | used(dv)
    turns_out = u.shape != v.shape or np.iscomplexobj(u)  # of the space of U or V, or in phase
    if undetermined(coincide, ds, in_use) or (
        turns_out and undetermined_at_zero(positive, ds, in_use)
    ):
        return UNDETERMINED
    together *= differences
    vanish = positive == 0
    both_vanish = vanish[..., None, :] & vanish[..., :, None]
    against *= inverse_or_zero(np.where(both_vanish, 0, s[..., None, :] + s[..., :, None]))
    inner = together + against
    if ds is not None:
        diagonal(inner)[...] += ds
    inverse = inverse_or_zero(positive)[..., None, :]
    left = u @ inner
    if u.shape[-2] > u.shape[-1]:
        left += (du - u @ in_u) * inverse
    da = left @ adjoint_matrix(v)
    if v.shape[-2] > v.shape[-1]:
        da += u @ adjoint_matrix((dv - v @ in_v) * inverse)
    return da


def skew_part(x: ndarray) -> ndarray:
    """Return the skew-Hermitian part of a stack of matrices."""
    return 0.5 * (x - adjoint_matrix(x))


# Functions of the singular values.


@from_vjp(np.linalg.pinv)
def pinv_rule(a: Any, rcond: Any = None, hermitian: bool = False, **options: Any) -> Rule:
    """P = A^+, in which singular values below the cutoff count as zero."""
    a = np.asarray(a)
    p = np.linalg.pinv(a, rcond, hermitian, **options)

    def pinv_pullback(dp: ndarray) -> tuple[ndarray, None]:
        if not a.size:
            return np.zeros_like(a), None
        u, s, vh = np.linalg.svd(complete_triangle(a) if hermitian else a, full_matrices=False)
        kept = diagonal(vh @ p @ u).real * s > 0.5  # 1 or 0, up to rounding
        da = pinv_cotangent(u, s, vh, kept, dp)
        return (fold_triangle(da, lower=True) if hermitian else da), None

    return p, pinv_pullback


@plain_jvp(np.linalg.pinv)
def pinv_jvp(
    tangents: Any, p: ndarray, a: Any, rcond: Any = None, hermitian: bool = False, **options: Any
) -> Any:
    """Return the tangent of the pseudoinverse of a matrix of full rank.

    dP = -P dA P + P P^T dA^T (1 - A P) + (1 - P A) dA^T P^T P,  for A^T of a stack of matrices.
    """
    a, da = np.asarray(a), np.asarray(tangents[0])
    if hermitian or p.dtype.kind != "f" or not a.size or not is_of_full_rank(a, p):
        return NotImplemented
    pt, dat = p.swapaxes(-1, -2), da.swapaxes(-1, -2)
    dp = -p @ da @ p
    if a.shape[-2] > a.shape[-1]:
        moved = p @ pt @ dat
        dp += moved - moved @ a @ p
    elif a.shape[-2] < a.shape[-1]:
        moved = dat @ pt @ p
        dp += moved - p @ (a @ moved)
    return dp


def is_of_full_rank(a: ndarray, p: ndarray) -> bool:
    """Return whether a pseudoinverse inverts all that it can: the trace of P A is the rank."""
    kept = np.sum(p * a.swapaxes(-1, -2), axis=(-2, -1))
    return bool(np.all(kept > min(a.shape[-2:]) - 0.5))


def pinv_cotangent(u: ndarray, s: ndarray, vh: ndarray, kept: ndarray, dp: ndarray) -> ndarray:
    """Return the cotangent of A = U diag(s) V^H for P = V diag(f) U^H, f = 1/s where kept.

    For the function f of the singular values (Noferini 2017, theorem 3.2), with G = U^H dP^H V:
    dA = U (D * herm G + S * skew G) V^H + (1 - U U^H) dP^H V f/s V^H + U f/s U^H dP^H (1 - V V^H),
    D_ij = (f_i - f_j) / (s_i - s_j),  S_ij = (f_i + f_j) / (s_i + s_j).
    """
    f = np.divide(1, s, out=np.zeros_like(s), where=kept)
    products = f[..., :, None] * f[..., None, :]  # S, and -D, of two that are kept
    one_kept = kept[..., :, None] != kept[..., None, :]
    differences = np.divide(
        f[..., :, None] - f[..., None, :],
        s[..., :, None] - s[..., None, :],
        out=-products,
        where=one_kept,
    )
    sums = np.divide(
        f[..., :, None] + f[..., None, :],
        s[..., :, None] + s[..., None, :],
        out=products,
        where=one_kept,
    )
    df, v = adjoint_matrix(dp), adjoint_matrix(vh)
    right, left = df @ v, adjoint_matrix(u) @ df
    g = left @ v
    inner = 0.5 * ((differences + sums) * g + (differences - sums) * adjoint_matrix(g))
    squares = f * f
    outside_left = (right - u @ g) * squares[..., None, :]
    outside_right = squares[..., :, None] * (left - g @ vh)
    return (u @ inner + outside_left) @ vh + u @ outside_right


@from_vjp(np.linalg.lstsq)
def lstsq_rule(a: Any, b: Any, rcond: Any = None) -> Rule:
    """X = A^+ B, the squares of the columns of R = B - A X, the rank and the singular values.

    dB = A^+H dX + 2 R dr,  dA: that of A^+ for dX B^H,  - 2 R dr X^H,  + U diag(ds) V^H.
    """
    a, b = np.asarray(a), np.asarray(b)
    result = np.linalg.lstsq(a, b, rcond)

    def lstsq_pullback(dy: tuple[Any, Any, Any, Any]) -> tuple[ndarray, ndarray, None]:
        x, _, rank, s = result
        dx, dr, _, ds = dy
        columns, x = (b[:, None], x[:, None]) if b.ndim == 1 else (b, x)
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        da, db = np.zeros(a.shape, u.dtype), np.zeros(columns.shape, x.dtype)
        if dx is not None:
            dx = dx.reshape(x.shape)
            kept = np.arange(s.size) < rank
            f = np.divide(1, s, out=np.zeros_like(s), where=kept)
            db = db + (u * f) @ (vh @ dx)
            da = da + pinv_cotangent(u, s, vh, kept, dx @ adjoint_matrix(columns))
        if dr is not None and np.size(dr):
            scaled = 2 * dr * (columns - a @ x)
            db, da = db + scaled, da - scaled @ adjoint_matrix(x)
        if ds is not None:
            da = da + (u * ds) @ vh
        return da, db.reshape(b.shape), None

    return result, lstsq_pullback


@plain_jvp(np.linalg.lstsq)
def lstsq_jvp(tangents: Any, y: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    """Return the tangents for a matrix of full rank.

    dX = P (dB - dA X) + P P^T dA^T R + (1 - P A) dA^T P^T X,  with P = A^+ and R = B - A X.
    """
    x, squares, rank, s = y
    da, db = (None if t is None else np.asarray(t) for t in tangents[:2])
    a, b = np.asarray(a), np.asarray(b)
    if rank != min(a.shape) or x.dtype.kind != "f":
        return NotImplemented
    x, b = (v[:, None] if b.ndim == 1 else v for v in (x, b))
    db = np.zeros_like(b, x.dtype) if db is None else db.reshape(b.shape)
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    inverse = (vh.T / s) @ u.T
    rest = b - a @ x
    moved = db if da is None else db - da @ x
    dx = inverse @ moved
    ds = np.zeros_like(s)
    if da is not None:
        dx += inverse @ (inverse.T @ (da.T @ rest))
        outside = da.T @ (inverse.T @ x)
        dx += outside - inverse @ (a @ outside)
        ds = np.sum(u * (da @ vh.T), axis=0)
    dsquares = 2 * np.sum(rest * moved, axis=0)
    return dx.reshape(y[0].shape), dsquares if squares.size else np.zeros_like(squares), None, ds
