"""Spectral decompositions of matrices without symmetry: `eig`, `schur` and what needs them.

The formulas of eigenvectors are those of `numpy.linalg.eig`.  The basis of a Schur form turns by a
skew matrix, of which what is below the diagonal solves a triangular Sylvester equation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.stacks import over_stacks
from mooncake_py.integrations.scipy.linalg.systems import overwrite_a, overwrite_b
from mooncake_py.rules.contraction import adjoint_matrix, conj
from mooncake_py.rules.declare import from_vjp, not_implemented, zero_derivative
from mooncake_py.rules.eigen import eig_cotangent, order_like
from mooncake_py.rules.gauge import (
    ON_PHASE,
    UNDETERMINED,
    depends_on_phase,
    rounding,
    vectors_of_values,
)

__all__: list[str] = []

Rule = tuple[Any, Any]
LEFT = not_implemented("left eigenvectors", fix="take those of the adjoint matrix")
HOMOGENEOUS = not_implemented(
    "homogeneous eigenvalues", fix="leave homogeneous_eigvals out, or divide them yourself"
)

zero_derivative(sl.bandwidth, sl.issymmetric, sl.ishermitian, because="structure, not values")


@from_vjp(sl.eig, permits=overwrite_a + overwrite_b)
@over_stacks(sl.eig, 2, 2)
def eig_rule(
    a: Any, b: Any = None, left: bool = False, right: bool = True, overwrite_a: bool = False,
    overwrite_b: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False,
) -> Rule:  # fmt: skip
    """Differentiate A V = V diag(w), or A V = B V diag(w), which is that of B^-1 A."""
    a, b = np.asarray(a), None if b is None else np.asarray(b)
    options = {"check_finite": check_finite, "homogeneous_eigvals": homogeneous_eigvals}
    result: Any = sl.eig(a, b, left, right, **options)

    def eig_pullback(dy: Any) -> Any:
        if homogeneous_eigvals or left:
            return (HOMOGENEOUS if homogeneous_eigvals else LEFT,) * 2
        m = a if b is None else np.linalg.solve(b, a)
        if right:
            (w, v), (dw, dv) = result, dy
            dm = standard_cotangent(w, v, dw, dv, b is not None)
        else:
            w, v = np.linalg.eig(m)
            dw = dy[order_like(w, result)]
            dm = standard_cotangent(w, vectors_of_values(w, v), dw, None, False)
        if b is None or not isinstance(dm, ndarray):
            return dm, dm if b is not None else None
        da = np.linalg.solve(adjoint_matrix(b), dm)
        return da, -da @ adjoint_matrix(m)

    return result, eig_pullback


def standard_cotangent(w: ndarray, v: ndarray, dw: Any, dv: Any, scaled: bool) -> Any:
    """Return the cotangent of A = V diag(w) V^-1; `scaled` vectors have their own phase."""
    if dv is not None and scaled and np.iscomplexobj(v):
        return ON_PHASE
    return eig_cotangent(w, v, dw, dv, np.complex128)


@from_vjp(sl.eigvals, permits=overwrite_a)
@over_stacks(sl.eigvals, 2, 2)
def eigvals_rule(a: Any, b: Any = None, **options: Any) -> Rule:
    """Differentiate the eigenvalues alone."""
    return eig_rule(a, b, right=False, **options)


# Schur form.

BLOCKS = not_implemented(
    "a real Schur form with complex eigenvalues, in blocks of two", fix="use output='complex'"
)
SORTED = not_implemented("a sorted Schur form")


@from_vjp(sl.schur, permits=overwrite_a)
@over_stacks(sl.schur, 2)
def schur_rule(
    a: Any, output: str = "real", lwork: Any = None, overwrite_a: bool = False, sort: Any = None,
    check_finite: bool = True,
) -> Rule:  # fmt: skip
    """Differentiate A = Z T Z^H.

    With dX = Z^H dA Z and skew S = Z^H dZ:  dT = dX + T S - S T,  dZ = Z S.
    """
    a = np.asarray(a)
    result: Any = sl.schur(a, output, lwork, False, sort, check_finite)

    def schur_pullback(dy: Any) -> Any:
        if sort is not None:
            return SORTED
        (t, z), (dt, dz) = result, dy
        if np.any(np.diagonal(t, -1)):
            return BLOCKS
        dt = np.zeros_like(t) if dt is None else np.triu(dt)
        turned = adjoint_matrix(t) @ dt - dt @ adjoint_matrix(t)
        if dz is not None:
            turned = turned + adjoint_matrix(z) @ dz
        phases = np.imag(np.diagonal(turned))
        sizes = (dt,) if dz is None else (dt, dz)
        if np.iscomplexobj(t) and depends_on_phase(phases, *sizes):
            return ON_PHASE
        w = turned - adjoint_matrix(turned)
        y = skew_cotangent(t, np.tril(w, -1))
        return y if y is UNDETERMINED else z @ (dt - y) @ adjoint_matrix(z)

    return result, schur_pullback


def skew_cotangent(t: ndarray, w: ndarray) -> Any:
    """Solve tril(T^H Y - Y T^H, -1) = W for Y below the diagonal, from the last column on."""
    n, adjoint = len(t), adjoint_matrix(t)
    values = np.diagonal(t)
    coincide = np.abs(values[:, None] - values) <= rounding(values)
    y = np.zeros_like(w)
    for j in range(n - 1)[::-1]:
        later = slice(j + 1, n)
        right = w[later, j] + y[later, later] @ adjoint[later, j]
        if not right.any():
            continue
        if coincide[later, j].any():
            return UNDETERMINED
        shifted = adjoint[later, later] - conj(values[j]) * np.eye(n - 1 - j)
        y[later, j] = np.linalg.solve(shifted, right)
    return y
