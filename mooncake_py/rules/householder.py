"""The reflections that a QR factorization is made of, as `np.linalg.qr(a, mode="raw")` gives them.

Step j reflects column j of W, from row j on, onto a multiple b of the first unit vector.  With
the part (c, x) of that column, as LAPACK's `larfg` documents it,

    b = -sign(re c) norm(c, x),   t = (b - c) / b,   v = (1, x / (c - b)),

and (1 - conj(t) v v^H) is applied to the columns to the right.  The result holds b on the
diagonal and the rest of v below it.  The reverse pass goes through the steps backwards, and takes
W back by the inverse reflection 1 - t v v^H.
"""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.matrices import inverse_or_zero

__all__ = ["raw_cotangent"]


def raw_cotangent(result: ndarray, t: ndarray, dresult: ndarray, dt: ndarray) -> ndarray:
    """Return the cotangent of A, from those of the reflected matrix and of the factors `t`."""
    w, dw = np.array(result), np.array(dresult)
    for j in reversed(range(t.shape[-1])):
        right = np.s_[..., j:, j + 1 :]
        v = w[..., j:, j, None].copy()
        v[..., 0, :] = 1
        factor = t[..., j, None, None]
        w[right], dw[right], dv, dfactor = apply_backwards(v, factor, w[right], dw[right])
        dv += dw[..., j:, j, None]
        dfactor = dfactor + dt[..., j, None, None]
        b, db = (np.real(x[..., j, j, None, None]) for x in (w, dw))
        column = np.s_[..., j:, j]
        w[column], dw[column] = reflector_backwards(v, factor, b, dv, dfactor, db)
    return dw


def apply_backwards(
    v: ndarray, t: ndarray, y: ndarray, dy: ndarray
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Return X of Y = X - conj(t) v v^H X, and the cotangents of X, v and t."""
    vh = adjoint_matrix(v)
    x, dx = y - t * v @ (vh @ y), dy - t * v @ (vh @ dy)
    projected, dprojected = vh @ x, adjoint_matrix(dy) @ v
    dv = -t * dy @ adjoint_matrix(projected) - t.conj() * x @ dprojected
    return x, dx, dv, -(projected @ dprojected)


def reflector_backwards(
    v: ndarray, t: ndarray, b: ndarray, dv: ndarray, dt: ndarray, db: ndarray
) -> tuple[ndarray, ndarray]:
    """Return the column (c, x) that v, t and b were made of, and its cotangent.

    Where t is zero the column was b times the unit vector, and only b has a derivative.
    """
    c, difference = b * (1 - t), -b * t
    dx = dv * inverse_or_zero(difference.conj())
    dx[..., :1, :] = 0
    ddifference = -np.sum(v.conj() * dx, axis=-2, keepdims=True)
    inverse = inverse_or_zero(b)
    dc = ddifference - dt * inverse
    dnorm = db + np.real(c.conj() * dt) * inverse**2 - np.real(ddifference)
    column = v * difference
    column[..., :1, :] = c
    dx[..., :1, :] = dc
    dcolumn = np.where(t == 0, np.eye(v.shape[-2], 1) * db, dx + dnorm * inverse * column)
    return column[..., 0], dcolumn[..., 0]
