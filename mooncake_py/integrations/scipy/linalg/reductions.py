"""Reductions to simpler forms by similar matrices: Hessenberg form, LDL factors, balancing."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.integrations.scipy.linalg.stacks import over_stacks
from mooncake_py.integrations.scipy.linalg.systems import overwrite_a
from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, not_implemented, zero_derivative
from mooncake_py.rules.matrices import fold_triangle
from mooncake_py.rules.plain_values import derived_as

__all__: list[str] = []

Rule = tuple[Any, Any]


@derived_as(sl.hessenberg)
def hessenberg(
    a: Any, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    a = np.asarray(a)
    if a.ndim > 2:
        return hessenberg_of_stack(a, calc_q)
    h, q = reduced(a)
    return (h, q) if calc_q else h


def reduced(a: ndarray) -> tuple[ndarray, ndarray]:
    """Reflect one column after the other, as LAPACK does; return the form and the reflections."""
    h = np.array(a, np.result_type(a, np.float32))
    n = len(h)
    q = np.eye(n, dtype=h.dtype)
    for j in range(n - 1):
        column = h[j + 1 :, j]
        rest = column[1:]
        first = column[0]
        if not np.any(rest) and np.imag(first) == 0:
            continue
        size = np.sqrt(np.sum(np.real(column * np.conj(column))))
        end = -np.copysign(size, np.real(first))
        tau = (end - first) / end
        v = np.concatenate([np.ones(1), rest / (first - end)])
        h[j + 1 :] = h[j + 1 :] - np.conj(tau) * np.outer(v, np.conj(v) @ h[j + 1 :])
        h[:, j + 1 :] = h[:, j + 1 :] - tau * np.outer(h[:, j + 1 :] @ v, np.conj(v))
        q[:, j + 1 :] = q[:, j + 1 :] - tau * np.outer(q[:, j + 1 :] @ v, np.conj(v))
    return np.triu(h, -1), q


def hessenberg_of_stack(a: ndarray, calc_q: bool) -> Any:
    """Reduce each matrix of a stack."""
    found = [reduced(matrix) for matrix in np.reshape(a, (-1, *a.shape[-2:]))]
    h, q = [np.reshape(np.stack(parts), a.shape) for parts in zip(*found, strict=True)]
    return (h, q) if calc_q else h


COMPLEX_SYMMETRIC = not_implemented("the factors of a complex matrix that is not Hermitian")


@from_vjp(sl.ldl, permits=overwrite_a)
@over_stacks(sl.ldl, 2)
def ldl_rule(
    A: Any, lower: bool = True, hermitian: bool = True, overwrite_a: bool = False,
    check_finite: bool = True,
) -> Rule:  # fmt: skip
    """P A P' = L D L^H with the permutation and the blocks held.

    With M = L^-1 dA L^-H:  dD is M in the blocks,  L^-1 dL is M D^-1 below them.
    """
    a = np.atleast_2d(A)
    result: Any = sl.ldl(A, lower, hermitian, False, check_finite)

    def ldl_pullback(dy: Any) -> Any:
        if np.iscomplexobj(a) and not hermitian:
            return COMPLEX_SYMMETRIC
        lu, d, perm = result
        dl, dd, _ = dy
        adjoint = adjoint_matrix(lu[perm])
        inside = block_pattern(d)
        below = (np.tri(len(d), dtype=bool) if lower else np.tri(len(d), dtype=bool).T) & ~inside
        inner = np.zeros(d.shape, np.result_type(a, d))
        if dd is not None:
            inner = inner + np.where(inside, dd, 0)
        if dl is not None:
            turned = np.where(below, adjoint @ dl[perm], 0)
            inner = inner + adjoint_matrix(np.linalg.solve(d, adjoint_matrix(turned)))
        permuted = np.linalg.solve(adjoint, inner)
        permuted = adjoint_matrix(np.linalg.solve(adjoint, adjoint_matrix(permuted)))
        da = np.zeros_like(permuted)
        da[np.ix_(perm, perm)] = permuted
        return fold_triangle(da, lower=lower)

    return result, ldl_pullback


def block_pattern(d: ndarray) -> ndarray:
    """Return where the blocks of one and of two rows are."""
    return (d != 0) | np.eye(len(d), dtype=bool)


plain_balance: Any = sl.matrix_balance


def balancing(a: ndarray, permute: bool, scale: bool) -> ndarray:
    """Return the matrix T of permutations and powers of two."""
    return plain_balance(a, permute, scale)[1]


def scaling_and_permutation(a: ndarray, permute: bool, scale: bool) -> Any:
    """Return both apart."""
    return plain_balance(a, permute, scale, separate=True)[1]


zero_derivative(
    balancing, scaling_and_permutation, block_pattern, because="permutations and powers of two"
)


@derived_as(sl.matrix_balance)
def matrix_balance(
    A: Any, permute: bool = True, scale: bool = True, separate: bool = False,
    overwrite_a: bool = False,
) -> Any:  # fmt: skip
    """T^-1 A T with T constant between the matrices at which it changes."""
    a = np.atleast_2d(A)
    t = balancing(a, permute, scale)
    b = np.linalg.solve(t, a @ t)
    return b, scaling_and_permutation(a, permute, scale) if separate else t
