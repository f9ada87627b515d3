"""Linear systems, inverses and determinants of `np.linalg`.

Source: M. B. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008).

`tensorinv`, `matrix_power` and `multi_dot` are derived from NumPy's source.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix, conj
from mooncake_py.rules.declare import from_vjp, overlay, plain_jvp, zero_derivative
from mooncake_py.rules.exact_zeros import scaled, sum_of_products
from mooncake_py.rules.gauge import norms
from mooncake_py.rules.matrices import diagonal, inverse_or_nan, quiet
from mooncake_py.rules.products import products_of_others
from mooncake_py.rules.sequences import of_sequences
from mooncake_py.rules.shortcuts import are_floats, shortcut

__all__: list[str] = []

Rule = tuple[Any, Any]

zero_derivative(np.linalg.matrix_rank, because="piecewise constant")


# Linear systems and inverses.


def solve_jvp(tangents: Any, y: Any, a: Any, b: Any) -> Any:
    """Differentiate A Y = B:  dY = A^-1 (dB - dA Y)  (Giles 2.3.1)."""
    da, db = tangents
    if da is None:
        return np.linalg.solve(a, db)
    if np.ndim(b) == 1:  # one vector for each matrix of the stack
        moved = -(da @ y[..., None])
        return np.linalg.solve(a, moved if db is None else moved + db[..., None])[..., 0]
    moved = -(da @ y)
    return np.linalg.solve(a, moved if db is None else moved + db)


@from_vjp(np.linalg.solve, jvp=solve_jvp)
def solve_rule(a: Any, b: Any) -> Rule:
    """Y = A^-1 B:  dB = A^-H dY,  dA = -dB Y^H  (Giles 2.3.1)."""
    a, b = np.asarray(a), np.asarray(b)
    y = np.linalg.solve(a, b)

    def solve_pullback(dy: ndarray) -> tuple[ndarray, ndarray]:
        vectors = b.ndim == 1  # one for each matrix of the stack
        columns, solutions = (x[..., None] if vectors else x for x in (dy, y))
        db = quiet(np.linalg.solve(adjoint_matrix(a), columns), columns)
        return dyads(-db, solutions), db[..., 0] if vectors else db

    return y, solve_pullback


def dyads(x: ndarray, y: ndarray) -> ndarray:
    """Return X Y^H, to which zeros of X contribute nothing."""
    return sum_of_products(lambda left, right: left @ adjoint_matrix(right), x, y)


def inv_jvp(tangents: Any, y: Any, a: Any) -> ndarray:
    """Y = A^-1:  dY = -Y dA Y  (Giles 2.2.3)."""
    da = np.asarray(tangents[0])
    return quiet(-y @ da @ y, da)


@from_vjp(np.linalg.inv, jvp=inv_jvp)
def inv_rule(a: Any) -> Rule:
    """Y = A^-1:  dA = -Y^H dY Y^H  (Giles 2.2.3)."""
    y = np.linalg.inv(a)

    def inv_pullback(dy: ndarray) -> ndarray:
        adjoint = adjoint_matrix(y)
        return quiet(-adjoint @ dy @ adjoint, dy)

    return y, inv_pullback


@overlay(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Solve the system of the flattened arrays; NumPy's source changes a shape in place."""
    a, b = np.asanyarray(a), np.asarray(b)
    order = [k for k in range(a.ndim) if k not in (axes or ())]
    a = np.transpose(a, [*order, *(axes or ())])
    shape = a.shape[-(a.ndim - b.ndim) :]
    size = math.prod(shape)
    if a.size != size**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    found = np.linalg.solve(a.reshape(size, size), b.ravel())
    return found if found.shape == shape else found.reshape(shape).copy()


# Determinants.


@from_vjp(np.linalg.det)
def det_rule(a: Any) -> Rule:
    """D = det A:  dA = dD conj(C) with the cofactors C, which are D A^-T where A is regular.

    Giles 2.2.4; close to a singular matrix the cofactors come from the singular vectors.
    """
    a = np.asarray(a)
    y = np.linalg.det(a)

    def det_pullback(dy: Any) -> ndarray:
        return quiet(np.asarray(dy)[..., None, None] * conj(cofactors(a, y)), dy)

    return y, det_pullback


@plain_jvp(np.linalg.det)
def det_jvp(tangents: Any, y: Any, a: Any) -> Any:
    return np.sum(cofactors(np.asarray(a), y) * tangents[0], axis=(-2, -1))


WELL_CONDITIONED = 1e5


def cofactors(a: ndarray, det: Any) -> ndarray:
    """Return the derivative of the determinant, also at singular matrices."""
    inverse = inverse_or_nan(a)
    size = norms(a)
    condition = size * norms(inverse)
    is_finite = np.all(np.isfinite(det)) and np.all(np.isfinite(size))
    if np.all(condition < WELL_CONDITIONED) or not is_finite:
        return np.asarray(det)[..., None, None] * inverse.swapaxes(-1, -2)
    return singular_cofactors(a)


def singular_cofactors(a: ndarray) -> ndarray:
    """Return the cofactors of A = U diag(s) V^H, without a division.

    Those of diag(s) are diagonal, and det A = det U det V^H det(U^H A V).
    """
    u, s, vh = np.linalg.svd(a)
    phase = np.linalg.det(u) * np.linalg.det(vh)
    weighted = conj(u) * (phase[..., None] * products_of_others(s))[..., None, :]
    return weighted @ conj(vh)


@from_vjp(singular_cofactors)
def singular_cofactors_rule(a: Any) -> Rule:
    """Use that the second derivative D'' of det is symmetric:  dA = conj(D''(conj(dC)))."""

    def cofactors_pullback(dc: ndarray) -> ndarray:
        return conj(second_derivative(a, conj(dc)))

    return singular_cofactors(a), cofactors_pullback


def second_derivative(a: ndarray, e: ndarray) -> ndarray:
    """Return the change of the cofactors of A = U diag(s) V^H along E.

    Of diag(s) along F, with the products P_ij of all s but s_i and s_j, it is
    sum_{k != i} F_kk P_ik on the diagonal and -F_ji P_ij off it: the 2 by 2 minors.
    """
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    same = np.eye(n, dtype=bool)
    pairs = np.where(same, 0, products_of_others(np.where(same, 1, s[..., None, :])))
    f = adjoint_matrix(u) @ e @ adjoint_matrix(vh)
    k = -f.swapaxes(-1, -2) * pairs
    diagonal(k)[...] = np.sum(pairs * diagonal(f)[..., None, :], axis=-1)
    phase = np.linalg.det(u) * np.linalg.det(vh)
    return phase[..., None, None] * (conj(u) @ k @ conj(vh))


@from_vjp(np.linalg.slogdet)
def slogdet_rule(a: Any) -> Rule:
    """(s, l) with det A = s exp(l):  dA = (dl + i c) A^-H,  c = -Im(conj(ds) s).

    The phase s moves only for complex matrices.  At a singular matrix, where l is minus infinity,
    the derivative has no limit, and counts as zero.
    """
    a = np.asarray(a)
    result = np.linalg.slogdet(a)

    def slogdet_pullback(dy: tuple[Any, Any]) -> ndarray:
        ds, factor = dy
        factor = 0.0 if factor is None else factor
        if ds is not None and np.iscomplexobj(a):
            factor = factor - 1j * np.imag(np.conj(ds) * result[0])
        wide = np.asarray(factor)[..., None, None]
        singular = np.asarray(result[0])[..., None, None] == 0
        da = scaled(wide, adjoint_matrix(inverse_or_nan(a)))
        return np.where(singular, 0, da)

    return result, slogdet_pullback


@plain_jvp(np.linalg.slogdet)
def slogdet_jvp(tangents: Any, y: Any, a: Any) -> Any:
    """Return dl = tr(A^-1 dA) of regular matrices, of which the sign stays."""
    inverse = inverse_or_nan(np.asarray(a))
    if inverse.dtype.kind != "f":
        return NotImplemented
    dl = np.sum(inverse * np.swapaxes(tangents[0], -1, -2), axis=(-2, -1))
    return np.zeros_like(y[0])[()], dl


# Products of several matrices.


def are_factors(arrays, *, out=None) -> bool:
    """Return whether matrices, or vectors at the ends, are so small that any order will do."""
    return (
        type(arrays) in (list, tuple)
        and len(arrays) > 1
        and out is None
        and are_floats(*arrays)
        and all(a.ndim == 2 for a in arrays[1:-1])
        and all(a.ndim in (1, 2) for a in (arrays[0], arrays[-1]))
        and sum(a.size for a in arrays) < SMALL
    )


SMALL = 1000


def around(arrays: Any) -> tuple[list[Any], list[Any], list[ndarray]]:
    """Return the products left and right of each factor, None for nothing, and the matrices."""
    first = arrays[0][None] if arrays[0].ndim == 1 else arrays[0]
    last = arrays[-1][:, None] if arrays[-1].ndim == 1 else arrays[-1]
    matrices = [first, *arrays[1:-1], last]
    left: list[Any] = [None, first]
    right: list[Any] = [None, last]
    for k in range(1, len(matrices) - 1):
        left.append(left[-1] @ matrices[k])
        right.append(matrices[-1 - k] @ right[-1])
    return left, right[::-1], matrices


@of_sequences
def multi_dot_jvp(tangents, y, arrays, *, out=None) -> Any:
    """Return the sum of the products with one factor replaced by its tangent."""
    left, right, matrices = around(arrays)
    total: Any = 0.0
    for before, after, x, t in zip(left, right, matrices, tangents[0], strict=True):
        if t is not None:
            c = np.reshape(t, x.shape)
            c = c if before is None else before @ c
            total = total + (c if after is None else c @ after)
    return np.reshape(total, np.shape(y))


@shortcut(np.linalg.multi_dot, accepts=are_factors, jvp=multi_dot_jvp)
def multi_dot_rule(arrays, *, out=None) -> Rule:
    """Return dA = L^T dY R^T, for what stands left and right of A."""

    def multi_dot_pullback(dy: Any) -> tuple[list[ndarray]]:
        left, right, matrices = around(arrays)
        g = np.reshape(dy, (matrices[0].shape[0], matrices[-1].shape[1]))
        found = []
        for before, after, a in zip(left, right, arrays, strict=True):
            c = g if before is None else before.T @ g
            found.append(np.reshape(c if after is None else c @ after.T, a.shape))
        return (found,)

    return np.linalg.multi_dot(arrays), multi_dot_pullback


def is_power(a, n) -> bool:
    """Return whether a matrix is multiplied by itself a few times."""
    return are_floats(a) and a.ndim == 2 and type(n) is int and 1 < n <= 4


def powers(a: ndarray, n: int) -> list[Any]:
    """Return A, A^2, ... up to the power n - 1."""
    found = [a]
    for _ in range(n - 2):
        found.append(found[-1] @ a)
    return found


def summed_products(p: list[Any], x: ndarray, n: int) -> ndarray:
    """Return the sum of A^k X A^(n-1-k) over all k, given the powers of A."""
    total = x @ p[n - 2] + p[n - 2] @ x
    for k in range(1, n - 1):
        total += p[k - 1] @ x @ p[n - 2 - k]
    return total


def matrix_power_jvp(tangents, y, a, n) -> Any:
    return summed_products(powers(a, n), tangents[0], n)


@shortcut(np.linalg.matrix_power, accepts=is_power, jvp=matrix_power_jvp, wrt=(0,))
def matrix_power_rule(a, n) -> Rule:
    y = np.linalg.matrix_power(a, n)
    return y, lambda dy: summed_products([p.T for p in powers(a, n)], dy, n)
