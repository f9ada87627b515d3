"""Gauge freedom of decompositions, and whether an output depends on it.

Vectors may be fixed only up to a phase, or only as a basis of the space that they span: the
algorithm makes a choice, which may jump between neighbouring matrices.  An output that does not
depend on the choice has a derivative all the same, and its cotangent shows it: where a basis Q
may become Q exp(S) with any skew-Hermitian S, Q^H dQ has no skew-Hermitian part.

Where values coincide (equal eigenvalues) their vectors are such a basis, and their derivative has
the factor 1/(w_j - w_i), which is 0/0 for an output that is smooth there.  The limit is zero for
an output that depends on the vectors alone, and does not matter for one of the values alone.
For one of both, such as V f(w) V^H, the cotangents at that point do not tell it.

The derivative of the values alone is made of the vectors, which are free where values coincide;
so the second derivative of the values is not determined there, though that of a function of them
(such as the sum of their squares) may be: :func:`vectors_of_values` raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, not_implemented
from mooncake_py.rules.matrices import diagonal, inverse_or_zero

__all__ = [
    "ON_BASIS",
    "ON_PHASE",
    "UNDETERMINED",
    "depends_on_basis",
    "depends_on_phase",
    "inverse_differences",
    "norms",
    "rounding",
    "undetermined",
    "undetermined_at_zero",
    "used",
    "vectors_of_values",
    "without_complement",
]

ON_BASIS = not_implemented(
    "the output depends on vectors of which only the space that they span is determined",
    fix="use the reduced factors (full_matrices=False, mode='reduced')",
)
ON_PHASE = not_implemented(
    "the output depends on the phases of complex vectors, which are not determined",
    fix="use absolute values, or products in which the phases cancel",
)
UNDETERMINED = not_implemented(
    "eigenvalues or singular values coincide (or are zero), and the output depends on both them\n"
    "and their vectors: here their cotangents do not determine the derivative",
    fix="add a small perturbation to the matrix that separates the values",
)


def depends_on_basis(q: ndarray, dq: ndarray) -> bool:
    """Return whether an output with the cotangent `dq` depends on the basis `q` of its space."""
    projected = adjoint_matrix(q) @ dq
    return exceeds_rounding(norms(projected - adjoint_matrix(projected)), norms(dq))


def depends_on_phase(turning: ndarray, *dvectors: ndarray) -> bool:
    """Return whether an output depends on the phases of vectors.

    Parameters
    ----------
    turning : ndarray, shape (..., k)
        Derivatives of the output along the phases.
    *dvectors : ndarray, shape (..., n, k)
        Cotangents of the vectors, whose sizes they are compared with.
    """
    size = sum(np.abs(dv).sum(axis=-2) for dv in dvectors)
    return exceeds_rounding(np.abs(turning), size)


def exceeds_rounding(x: ndarray, scale: Any) -> bool:
    """Return whether any of `x` is more than the rounding of numbers of size `scale`."""
    return bool(np.any(x > np.finfo(x.dtype).eps ** (1 / 3) * scale))


def norms(x: ndarray) -> ndarray:
    """Return the Frobenius norms of a stack of matrices."""
    return np.sqrt(np.sum(np.real(x * x.conj()), axis=(-2, -1)))


def without_complement(q: ndarray, dq: ndarray, k: int) -> ndarray:
    """Return the cotangent of the first `k` columns of a unitary `q`, that of the rest included.

    The rest, Q_2, spans the complement of Q_1: Q_1^H times its differential is the negative
    adjoint of Q_2^H times the differential of Q_1.  So Q_1 receives -Q_2 dQ_2^H Q_1.
    """
    if q.shape[-1] == k:
        return dq
    return dq[..., :k] - q[..., k:] @ (adjoint_matrix(dq[..., k:]) @ q[..., :k])


def rounding(values: ndarray) -> ndarray:
    """Return for each stack of values the difference up to which they count as equal."""
    k = values.shape[-1]
    size = np.abs(values).max(axis=-1, keepdims=True, initial=0)
    return 4 * k * np.finfo(values.dtype).eps * size


def inverse_differences(values: ndarray) -> tuple[ndarray, ndarray]:
    """Return F_ij = 1 / (w_j - w_i), zero where these coincide, and where they do."""
    gaps = values[..., None, :] - values[..., :, None]
    coincide = np.abs(gaps) <= rounding(values)[..., None]
    return inverse_or_zero(np.where(coincide, 0, gaps)), coincide


def used(dvectors: ndarray) -> ndarray:
    """Return which columns of a cotangent are not zero."""
    return (dvectors != 0).any(axis=-2)


def undetermined(coincide: ndarray, dvalues: Any, in_use: ndarray) -> bool:
    """Return whether the derivative is not determined by cotangents of values and of vectors.

    Parameters
    ----------
    coincide : ndarray of bool, shape (..., k, k)
        Which values are equal.
    dvalues : ndarray, shape (..., k), or None
    in_use : ndarray of bool, shape (..., k)
        Which vectors have a cotangent.
    """
    if dvalues is None or np.count_nonzero(coincide) == diagonal(coincide).size:
        return False
    differ = np.abs(dvalues[..., None, :] - dvalues[..., :, None])
    differ = differ > 1e-6 * np.abs(dvalues).max(axis=-1)[..., None, None]
    apart = in_use[..., None, :] | in_use[..., :, None] | differ
    diagonal(apart)[...] = False
    return bool(np.any(coincide & apart))


def undetermined_at_zero(values: ndarray, dvalues: Any, in_use: ndarray) -> bool:
    """Return the same for singular values of zero, which coincide with their negatives."""
    return dvalues is not None and bool(np.any((values == 0) & (in_use | (dvalues != 0))))


def vectors_of_values(values: ndarray, vectors: ndarray, zeros: bool = False) -> ndarray:
    """Return vectors that the derivative of `values` is made of, the same that are given.

    Where the vectors are differentiated in turn, it raises if values coincide, or if `zeros` is
    true and one is zero.
    """
    return np.array(vectors)


@from_vjp(vectors_of_values)
def vectors_of_values_rule(values: ndarray, vectors: ndarray, zeros: bool = False) -> Any:
    def pullback(dvectors: ndarray) -> tuple[None, ndarray]:
        gaps = np.abs(values[..., None, :] - values[..., :, None])
        coincide = gaps <= rounding(values)[..., None]
        diagonal(coincide)[...] = zeros & (np.abs(values) <= rounding(values))
        if np.any(coincide):
            raise MissingRuleError(
                "the second derivative of eigenvalues or singular values is not determined here",
                why="some of them coincide (or are zero), and each of them has a kink there,\n"
                "though a function of all of them may be smooth",
                fix="compute the function from the matrix itself (its trace, determinant or\n"
                "Frobenius norm), or add a small perturbation that separates the values",
            )
        return None, dvectors

    return vectors_of_values(values, vectors), pullback
