"""Orthogonal and spectral decompositions, with the formulas of `numpy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.stacks import over_stacks
from mooncake_py.integrations.scipy.linalg.systems import overwrite_a, overwrite_b
from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, not_implemented
from mooncake_py.rules.eigen import hermitian_cotangent
from mooncake_py.rules.factorizations import qr_cotangent
from mooncake_py.rules.gauge import inverse_differences, vectors_of_values
from mooncake_py.rules.matrices import fold_triangle
from mooncake_py.rules.singular_values import svd_cotangent, values_cotangent

__all__: list[str] = []

Rule = tuple[Any, Any]


@from_vjp(sl.qr, permits=overwrite_a)
def qr_rule(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Rule:
    """Differentiate A = Q R, or A[:, p] = Q R with the permutation held fixed."""
    a = np.asarray(a)
    if pivoting and a.ndim > 2:
        return pivoted_stack(a, False, lwork, mode, pivoting, check_finite)
    result: Any = sl.qr(a, False, lwork, mode, pivoting, check_finite)

    def qr_pullback(dy: Any) -> Any:
        if mode == "raw":
            return not_implemented("the reflections of mode='raw'")
        p = result[-1] if pivoting else slice(None)
        columns = a[..., p]
        factors: Any = sl.qr(columns, mode="economic") if mode == "r" else result
        q, r = factors[:2]
        dq, dr = (None, dy[0]) if mode == "r" else dy[:2]
        found = qr_cotangent(columns, q, r, dq, dr)
        if not isinstance(found, ndarray) or not pivoting:
            return found
        da = np.empty_like(found)
        da[:, p] = found
        return da

    return result, qr_pullback


pivoted_stack: Any = over_stacks(sl.qr, 2)(qr_rule)  # each matrix has its own permutation


@from_vjp(sl.svd, permits=overwrite_a)
def svd_rule(a: Any, full_matrices: bool = True, compute_uv: bool = True, **options: Any) -> Rule:
    """Differentiate A = U diag(s) V^H."""
    result = sl.svd(a, full_matrices, compute_uv, **options)
    if not compute_uv:
        return result, lambda ds: singular_values_cotangent(a, ds)

    def svd_pullback(dy: tuple[Any, Any, Any]) -> Any:
        u, s, vh = result
        du, ds, dvh = dy
        dv = None if dvh is None else adjoint_matrix(dvh)
        return svd_cotangent(u, s, adjoint_matrix(vh), du, ds, dv)

    return result, svd_pullback


@from_vjp(sl.svdvals, permits=overwrite_a)
def svdvals_rule(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Rule:
    """Differentiate the singular values alone; the pullback computes the vectors."""
    return sl.svdvals(a, check_finite=check_finite), lambda ds: singular_values_cotangent(a, ds)


def singular_values_cotangent(a: Any, ds: ndarray) -> ndarray:
    """Return U diag(ds) V^H."""
    return values_cotangent(*np.linalg.svd(a, full_matrices=False), ds)


PRODUCTS = not_implemented(
    "the eigenvalue problems of type 2 and 3", fix="solve that of A B or of B A"
)
SUBSET = not_implemented("vectors of a subset depend on the other ones", fix="take all of them")


@from_vjp(sl.eigh, permits=overwrite_a + overwrite_b)
def eigh_rule(
    a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, **options: Any
) -> Rule:
    """Differentiate A V = V diag(w), or A V = B V diag(w) with V^H B V = 1."""
    result = sl.eigh(a, b, lower=lower, eigvals_only=eigvals_only, **options)
    subset = any(options.get(name) is not None for name in ("subset_by_index", "subset_by_value"))

    def eigh_pullback(dy: Any) -> Any:
        if b is not None and options.get("type", 1) != 1:
            return PRODUCTS, PRODUCTS
        dw, dv = (dy, None) if eigvals_only else dy
        w, v = sl.eigh(a, b, lower=lower, **options) if eigvals_only else result
        if eigvals_only:
            v = vectors_of_values(w, v)
        if dv is not None and subset:
            return SUBSET, SUBSET
        if dv is None:
            da: Any = fold_triangle((v * dw[..., None, :]) @ adjoint_matrix(v), lower=lower)
        else:
            da = hermitian_cotangent(w, v, dw, dv, lower=lower)
        if b is None:
            return da, None
        return da, metric_cotangent(w, v, dw, dv, lower=lower) if isinstance(da, ndarray) else da

    return result, eigh_pullback


def metric_cotangent(w: ndarray, v: ndarray, dw: Any, dv: Any, *, lower: bool) -> ndarray:
    """Return the cotangent of B for A V = B V diag(w).

    S = -V ((diag(dw) + F * (V^H dV)) diag(w) + diag(V^H dV) / 2) V^H, with F as for A alone.
    """
    n = v.shape[-1]
    inner = np.zeros((*v.shape[:-2], n, n), v.dtype)
    if dv is not None:
        projected = adjoint_matrix(v) @ dv
        inverses, _ = inverse_differences(w)
        inner -= inverses * projected * w[..., None, :] + 0.5 * np.eye(n) * np.real(projected)
    if dw is not None:
        inner -= np.eye(n) * (w * dw)[..., None, :]
    return fold_triangle(v @ inner @ adjoint_matrix(v), lower)


@from_vjp(sl.eigvalsh, permits=overwrite_a + overwrite_b)
def eigvalsh_rule(a: Any, b: Any = None, **options: Any) -> Rule:
    """Differentiate the eigenvalues alone."""
    _, pullback = eigh_rule(a, b, eigvals_only=True, **options)
    return sl.eigvalsh(a, b, **options), pullback
