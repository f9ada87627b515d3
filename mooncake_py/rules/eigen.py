"""Eigenvalues and eigenvectors, of Hermitian and of general matrices.

Sources: M. B. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), section 3.1; C. Boeddeker, P. Hanebrink, L. Drude, J. Heymann
and R. Haeb-Umbach, "On the computation of complex-valued gradients with application to
statistically optimum beamforming" (arXiv:1701.00392), section 4, for complex matrices.

`eigh` and `eigvalsh` read one triangle of their argument, and the derivative is zero in the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix, conj
from mooncake_py.rules.declare import from_vjp, not_implemented, plain_jvp
from mooncake_py.rules.gauge import (
    ON_PHASE,
    UNDETERMINED,
    depends_on_phase,
    inverse_differences,
    norms,
    undetermined,
    used,
    vectors_of_values,
)
from mooncake_py.rules.matrices import (
    complete_triangle,
    diagonal,
    fold_triangle,
    inverse_or_nan,
)

__all__ = ["hermitian_cotangent"]

Rule = tuple[Any, Any]


# Hermitian matrices.


@from_vjp(np.linalg.eigh)
def eigh_rule(a: Any, UPLO: Any = "L") -> Rule:
    """Differentiate A = V diag(w) V^H, a Hermitian matrix.

    S = V (diag(dw) + F * (V^H dV)) V^H,  F_ij = 1 / (w_j - w_i)  (Giles 3.1).
    F is zero on the diagonal and between equal eigenvalues.
    """
    result = np.linalg.eigh(a, UPLO)
    w, v = result

    def eigh_pullback(dy: tuple[Any, Any]) -> Any:
        return hermitian_cotangent(w, v, *dy, lower=UPLO.upper() == "L"), None

    return result, eigh_pullback


@plain_jvp(np.linalg.eigh)
def eigh_jvp(tangents: Any, y: Any, a: Any, UPLO: Any = "L") -> Any:
    """Return dw = diag(V^T dA V) and dV = V (F * (V^T dA V)), where no eigenvalues coincide."""
    w, v = y
    da = np.asarray(tangents[0])
    inverses, coincide = inverse_differences(w)
    if v.dtype.kind != "f" or np.count_nonzero(coincide) != w.size:
        return NotImplemented
    inner = v.swapaxes(-1, -2) @ complete_triangle(da, UPLO.upper() == "L") @ v
    return diagonal(inner).copy(), v @ (inverses * inner)


def hermitian_cotangent(w: ndarray, v: ndarray, dw: Any, dv: Any, *, lower: bool) -> Any:
    """Return the cotangent of one triangle of A = V diag(w) V^H; `dw` or `dv` may be None."""
    inner = np.zeros(v.shape, v.dtype)
    if dv is not None:
        projected = adjoint_matrix(v) @ dv
        inverses, coincide = inverse_differences(w)
        if np.iscomplexobj(v) and depends_on_phase(diagonal(projected).imag, dv):
            return ON_PHASE
        if undetermined(coincide, dw, used(dv)):
            return UNDETERMINED
        inner += inverses * projected
    if dw is not None:
        diagonal(inner)[...] += dw
    return fold_triangle(v @ inner @ adjoint_matrix(v), lower)


@from_vjp(np.linalg.eigvalsh)
def eigvalsh_rule(a: Any, UPLO: Any = "L") -> Rule:
    """Differentiate the eigenvalues of a Hermitian matrix; the pullback computes the vectors."""
    a = np.asarray(a)

    def eigvalsh_pullback(dw: ndarray) -> tuple[ndarray, None]:
        v = vectors_of_values(*np.linalg.eigh(a, UPLO))
        s = (v * dw[..., None, :]) @ adjoint_matrix(v)
        return fold_triangle(s, lower=UPLO.upper() == "L"), None

    return np.linalg.eigvalsh(a, UPLO), eigvalsh_pullback


@plain_jvp(np.linalg.eigvalsh)
def eigvalsh_jvp(tangents: Any, y: ndarray, a: Any, UPLO: Any = "L") -> Any:
    da = complete_triangle(np.asarray(tangents[0]), UPLO.upper() == "L")
    v = np.linalg.eigh(a, UPLO)[1]
    if v.dtype.kind != "f":
        return NotImplemented
    return np.sum(v * (da @ v), axis=-2)


# General matrices.

DEFECTIVE = not_implemented(
    "the matrix has no basis of eigenvectors to working precision, and the derivative of its "
    "eigenvalues is infinite there"
)


@from_vjp(np.linalg.eig)
def eig_rule(a: Any) -> Rule:
    """Differentiate A = V diag(w) V^-1.

    dA = V^-H (diag(dw) + conj(F) * (V^H dU)) V^H,  F_ij = 1 / (w_j - w_i).

    dU is the cotangent of the vectors before they are normalized (see :func:`unnormalized`).
    """
    result = np.linalg.eig(a)
    w, v = result

    def eig_pullback(dy: tuple[Any, Any]) -> Any:
        return eig_cotangent(w, v, *dy, v.dtype)

    return result, eig_pullback


@plain_jvp(np.linalg.eig)
def eig_jvp(tangents: Any, y: Any, a: Any) -> Any:
    """Return dw = diag(V^-1 dA V), and dV by dU = V (F * (V^-1 dA V)): V is U with unit columns."""
    w, v = y
    inverses, coincide = inverse_differences(w)
    inverse = inverse_or_nan(v)
    is_basis = np.all(norms(inverse) * norms(v) < 0.01 / np.finfo(v.dtype).eps)
    if v.dtype.kind != "f" or not is_basis or np.count_nonzero(coincide) != w.size:
        return NotImplemented
    inner = inverse @ np.asarray(tangents[0]) @ v
    du = v @ (inverses * inner)
    return diagonal(inner).copy(), du - v * np.sum(v * du, axis=-2, keepdims=True)


def eig_cotangent(w: ndarray, v: ndarray, dw: Any, dv: Any, dtype: Any) -> Any:
    """Return the cotangent of A = V diag(w) V^-1 from those of w and V, either may be None."""
    inner = np.zeros(v.shape, dtype)
    if dv is not None:
        inverses, coincide = inverse_differences(w)
        if undetermined(coincide, dw, used(dv)):
            return UNDETERMINED
        inner += conj(inverses) * (adjoint_matrix(v) @ unnormalized(v, dv))
    if dw is not None:
        diagonal(inner)[...] += dw
    return in_basis(v, inner)


def unnormalized(v: ndarray, dv: ndarray) -> ndarray:
    """Return the cotangent of vectors u that v = u / norm(u), turned in phase, comes from.

    LAPACK turns a complex vector so that its largest component e is real.  Where u is v, a change
    of u along v has no effect, and one of e by i t turns v by -t/e.
    """
    along = np.sum(conj(v) * dv, axis=-2, keepdims=True)
    du = dv - v * along.real
    if np.iscomplexobj(v) and v.size:
        largest = np.abs(v).argmax(axis=-2)[..., None, :]
        e = np.real(np.take_along_axis(v, largest, axis=-2))
        turned = np.take_along_axis(du, largest, axis=-2) - 1j * along.imag / e
        np.put_along_axis(du, largest, turned, axis=-2)
    return du


def in_basis(v: ndarray, inner: ndarray) -> Any:
    """Return V^-H X V^H, zero where X is and no basis exists."""
    adjoint = adjoint_matrix(v)
    inverse = inverse_or_nan(adjoint)
    wanted = np.asarray(inner.any(axis=(-2, -1)))
    condition = norms(inverse) * norms(v)
    if np.any(wanted & ~(condition < 0.01 / np.finfo(v.dtype).eps)):
        return DEFECTIVE
    product = inverse @ inner @ adjoint
    return np.where(wanted[..., None, None] | np.isfinite(product), product, 0)


@from_vjp(np.linalg.eigvals)
def eigvals_rule(a: Any) -> Rule:
    """Differentiate the eigenvalues alone; the pullback computes the vectors."""
    a = np.asarray(a)
    y = np.linalg.eigvals(a)

    def eigvals_pullback(dw: ndarray) -> Any:
        w, v = np.linalg.eig(a)
        v = vectors_of_values(w, v)
        dw = np.take_along_axis(dw, order_like(w, y), axis=-1)
        inner = np.zeros(v.shape, np.result_type(v, dw))
        diagonal(inner)[...] = dw
        return in_basis(v, inner)

    return y, eigvals_pullback


def order_like(w: ndarray, y: ndarray) -> ndarray:
    """Return for each of the eigenvalues `w` the index in `y`, which may have another order.

    LAPACK uses other steps for the values alone than for values with vectors.
    """
    if not y.size:
        return np.zeros(y.shape, np.intp)
    distance = np.abs(w[..., :, None] - y[..., None, :])
    order = distance.argmin(axis=-1)
    expected = np.arange(w.shape[-1])
    for index in np.ndindex(order.shape[:-1]):
        if np.array_equal(np.sort(order[index]), expected):
            continue
        left = distance[index]  # of values that coincide each takes one that is left
        for i in expected:
            order[*index, i] = left[i].argmin()
            left[:, order[*index, i]] = np.inf
    return order
