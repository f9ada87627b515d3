"""Exponentials of sparse matrices: `expm` and `expm_multiply`.

SciPy goes by the structure, the norm and the last term of a series, which say nothing of how the
result changes: a matrix that happens to be triangular does not stay so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.sparse.patterns import rows_compressed, rows_of
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, overlay
from mooncake_py.rules.plain_values import same_values
from mooncake_py.rules.undrawn import drawn, undrawn

__all__: list[str] = []

MOST = 1000  # rows of a matrix whose derivative is computed by a dense one


@overlay(spl.expm)
def expm(A: Any) -> Any:
    """Take that of the dense matrix, and keep all its elements."""
    if not sp.issparse(A):
        return same_values(sl.expm(A), drawn(spl.expm, A), spl.expm)
    dense = sl.expm(A.toarray())
    n = len(dense)
    rows = sp.csr_array((dense.ravel(), np.tile(np.arange(n), n), np.arange(n + 1) * n))
    return type(A)(rows)


@overlay(spl.expm_multiply)
def expm_multiply(A: Any, B: Any, *times: Any, **options: Any) -> Any:
    options.pop("traceA", None)
    is_matrix = sp.issparse(A) or type(A) is ndarray
    if not is_matrix or type(B) is not ndarray or B.ndim > 2 or times or options:
        raise MissingRuleError(
            "expm_multiply has a rule for exp(A) B only, of a matrix and an array",
            why="SciPy's series ends where the result does not change any more, not its derivative",
            fix="call it for each time by itself, without the options",
        )
    if A.shape != (len(B), len(B)):
        raise ValueError(f"expm_multiply of shapes {A.shape} and {B.shape}")  # SciPy says what
    Ap, Aj, Ax = rows_compressed(A)
    return multiplied_at(Ap, Aj, Ax, B, drawn(multiplied_natively, Ap, Aj, Ax, B))


def multiplied(Ap: Any, Aj: Any, Ax: Any, b: Any) -> ndarray:
    """Return exp(A) b for a matrix in compressed rows, without draws."""
    return undrawn(multiplied_natively, Ap, Aj, Ax, b)


@from_vjp(multiplied)
def multiplied_rule(Ap: Any, Aj: Any, Ax: Any, b: Any) -> Any:
    return multiplied_at_rule(Ap, Aj, Ax, b, multiplied(Ap, Aj, Ax, b))


def multiplied_natively(Ap: Any, Aj: Any, Ax: Any, b: Any) -> ndarray:
    """Return exp(A) b for a matrix in compressed rows."""
    n = len(Ap) - 1
    return spl.expm_multiply(sp.csr_array((Ax, Aj, Ap), shape=(n, n)), b)


def multiplied_at(Ap: Any, Aj: Any, Ax: Any, b: Any, y: Any) -> Any:
    """Return y = exp(A) b, which is known."""
    return y


@from_vjp(multiplied_at)
def multiplied_at_rule(Ap: Any, Aj: Any, Ax: Any, b: Any, y: Any) -> Any:
    """Take the derivative in A from a block of exp([[A^H, dy b^H], [0, A^H]])."""
    n = len(Ap) - 1

    def multiplied_pullback(dy: ndarray) -> tuple[Any, ...]:
        adjoint = sp.csc_array((conj(Ax), Aj, Ap), shape=(n, n)).tocsr()

        def of_data() -> Any:
            if n > MOST:
                raise MissingRuleError(
                    f"expm_multiply has no derivative in a matrix of more than {MOST} rows",
                    why="it would be computed by a dense matrix of twice the size",
                )
            dense = adjoint.toarray()
            outer = dy.reshape(n, -1) @ conj(b.reshape(n, -1)).T
            whole = np.block([[dense, outer], [np.zeros_like(dense), dense]])
            return sl.expm(whole)[rows_of(Ap), n + Aj]

        return (
            None, None, of_data,
            lambda: multiplied(adjoint.indptr, adjoint.indices, adjoint.data, dy),
        )  # fmt: skip

    return y, multiplied_pullback
