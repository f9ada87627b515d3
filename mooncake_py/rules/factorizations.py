"""Cholesky and QR factorizations.

Sources: I. Murray, "Differentiation of the Cholesky decomposition" (arXiv:1602.07527);
S. F. Walter, L. Lehmann and R. Lamour, "On evaluating higher-order derivatives of the QR
decomposition of tall matrices" (2012), and D. A. O. Roberts and L. R. Roberts, "QR and LQ
decomposition matrix backpropagation algorithms for square, wide, and deep matrices"
(arXiv:2009.10071), for QR.

`cholesky` reads one triangle of its argument.  The derivative is that of what it computes: it is
zero in the triangle that is not read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, not_implemented, plain_jvp
from mooncake_py.rules.gauge import ON_BASIS, depends_on_basis, rounding, without_complement
from mooncake_py.rules.householder import raw_cotangent
from mooncake_py.rules.matrices import (
    complete_triangle,
    diagonal,
    fold_triangle,
    inverse_lower,
    quiet,
)

__all__ = ["cholesky_jvp"]

Rule = tuple[Any, Any]


def cholesky_jvp(tangents: Any, y: ndarray, a: Any, /, *, upper: bool = False) -> ndarray:
    """Differentiate A = L L^H:  dL = L F(L^-1 dA L^-H)  (Murray 2016, equation 8)."""
    da = np.asarray(tangents[0])
    factor = adjoint_matrix(y) if upper else y
    inverse = inverse_lower(factor)
    moved = complete_triangle(da, lower=not upper)
    inner = np.tril(inverse @ moved @ adjoint_matrix(inverse))
    diagonal(inner)[...] *= 0.5
    t = quiet(factor @ inner, da)
    return adjoint_matrix(t) if upper else t


@from_vjp(np.linalg.cholesky, jvp=cholesky_jvp)
def cholesky_rule(a: Any, /, *, upper: bool = False) -> Rule:
    """Differentiate A = L L^H.

    S = L^-H F(L^H dL) L^-1, where F keeps the lower triangle and halves the diagonal.
    Murray (2016), equation 9.
    """
    y = np.linalg.cholesky(a, upper=upper)

    def cholesky_pullback(dy: ndarray) -> ndarray:
        factor, df = (adjoint_matrix(y), adjoint_matrix(dy)) if upper else (y, dy)
        inner = np.tril(adjoint_matrix(factor) @ np.tril(df))
        diagonal(inner)[...] *= 0.5
        inverse = inverse_lower(factor)
        s = adjoint_matrix(inverse) @ inner @ inverse
        return quiet(fold_triangle(s, lower=not upper), dy)

    return y, cholesky_pullback


@from_vjp(np.linalg.qr)
def qr_rule(a: Any, mode: Any = "reduced") -> Rule:
    """Differentiate A = Q R, with LAPACK's choice of phases: the diagonal of R is real."""
    a = np.asarray(a)
    result = np.linalg.qr(a, mode)

    def raw_pullback(dy: tuple[Any, Any]) -> tuple[Any, None]:
        h, t = result  # h is transposed
        dh, dt = (np.zeros_like(x) if dx is None else dx for x, dx in zip(result, dy, strict=True))
        return raw_cotangent(h.swapaxes(-1, -2), t, dh.swapaxes(-1, -2), dt), None

    def qr_pullback(dy: Any) -> tuple[Any, None]:
        dq, dr = (None, dy) if mode == "r" else dy
        q, r = np.linalg.qr(a) if mode == "r" else result
        da = qr_cotangent(a, q, r, dq, dr)
        return (quiet(da, dq, dr) if isinstance(da, ndarray) else da), None

    return result, raw_pullback if mode == "raw" else qr_pullback


@plain_jvp(np.linalg.qr)
def qr_jvp(tangents: Any, y: Any, a: Any, mode: Any = "reduced") -> Any:
    """Differentiate A = Q R for square R: dQ = Q S + (1 - Q Q^T) dA R^-1,  dR = (M - S) R.

    M = Q^T dA R^-1, and S is the skew-symmetric matrix with its lower triangle.  Further columns
    of a wide A are A_2 = Q R_2.
    """
    if mode not in ("reduced", "r", "complete"):
        return NotImplemented
    a, da = np.asarray(a), np.asarray(tangents[0])
    q, r = np.linalg.qr(a) if mode == "r" else y
    k = min(a.shape[-2:])
    pivots = np.abs(diagonal(r[..., :k, :k]))
    if q.dtype.kind != "f" or q.shape[-1] != k or np.any(pivots <= rounding(pivots)):
        return NotImplemented
    qt, square = q.swapaxes(-1, -2), r[..., :k, :k]
    scaled = np.linalg.solve(square.swapaxes(-1, -2), da[..., :k].swapaxes(-1, -2))
    scaled = scaled.swapaxes(-1, -2)  # dA R^-1
    inner = qt @ scaled
    low = np.tril(inner, -1)
    upper = inner - low + low.swapaxes(-1, -2)  # M - S
    dq = scaled - q @ upper
    dr = np.triu(upper @ square)
    if r.shape[-1] > k:
        further = dq.swapaxes(-1, -2) @ a[..., k:] + qt @ da[..., k:]
        dr = np.concatenate([dr, further], axis=-1)
    return dr if mode == "r" else (dq, dr)


def qr_cotangent(a: ndarray, q: ndarray, r: ndarray, dq: Any, dr: Any) -> Any:
    """Return the cotangent of A = Q R from those of Q and R, either of which may be None.

    For square R, with H(X) the Hermitian matrix that has the upper triangle of X,
    dA = (dQ + Q H(dR R^H - Q^H dQ)) R^-H.

    Further columns of a wide A are A_2 = Q R_2, so that dA_2 = Q dR_2 and dQ += A_2 dR_2^H.
    """
    k = min(a.shape[-2:])
    dq = np.zeros_like(q) if dq is None else dq
    dr = np.zeros_like(r) if dr is None else np.triu(dr)
    if depends_on_basis(q[..., k:], dq[..., k:]):
        return ON_BASIS
    dq = without_complement(q, dq, k)
    q, r, dr, dr_2 = q[..., :k], r[..., :k, :k], dr[..., :k, :k], dr[..., :k, k:]
    dq = dq + a[..., k:] @ adjoint_matrix(dr_2)
    hermitian = complete_triangle(dr @ adjoint_matrix(r) - adjoint_matrix(q) @ dq, lower=False)
    da = dq + q @ hermitian
    wanted = da.any(axis=(-2, -1))
    pivots = np.abs(diagonal(r))
    singular = (pivots <= rounding(pivots)).any(axis=-1)
    if np.any(wanted & singular):
        return DEPENDENT
    r = np.where(singular[..., None, None], np.eye(k, dtype=r.dtype), r)
    da = adjoint_matrix(np.linalg.solve(r, adjoint_matrix(da)))
    return np.concatenate([da, q @ dr_2], axis=-1)


DEPENDENT = not_implemented(
    "the first columns of the matrix are linearly dependent to working precision, and the "
    "derivative of its QR factors is infinite there"
)
