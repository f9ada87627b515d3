"""Triangular systems: `spsolve_triangular`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.sparse.patterns import rows_of
from mooncake_py.integrations.scipy.sparse_linalg.factors import of_elements
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, overlay
from mooncake_py.words import with_article

__all__: list[str] = []


@overlay(spl.spsolve_triangular)
def spsolve_triangular(
    A: Any, b: Any, lower: bool = True, overwrite_A: bool = False, overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Any:  # fmt: skip
    """Solve as SciPy does, without overwriting A or b."""
    if isinstance(b, ndarray) and type(b) is not ndarray:
        raise MissingRuleError(
            f"spsolve_triangular of {with_article(type(b).__name__)} has no derivative",
            why="its result is of that class",
            fix="pass np.asarray of it, and for a masked array the result of filled()",
        )
    A = sp.csr_array(A, copy=True)
    A.sum_duplicates()
    refuse_other_triangle(A.indptr, A.indices, lower)
    b = np.asarray(b)
    kind = np.result_type(A.dtype, b.dtype, np.float32)
    b = b.astype(kind, copy=False)
    return solve(A.indptr, A.indices, A.data.astype(kind, copy=False), b, lower, unit_diagonal)


def refuse_other_triangle(Ap: Any, Aj: Any, lower: bool) -> None:
    """Raise for elements of which SciPy takes for granted that there are none."""
    rows = rows_of(Ap)
    if np.any(Aj > rows if lower else Aj < rows):
        raise MissingRuleError(
            "spsolve_triangular of a matrix that is not triangular has no derivative",
            why="SciPy does not define its result",
            fix=f"take scipy.sparse.{'tril' if lower else 'triu'} of the matrix",
        )


def solve(Ap: Any, Aj: Any, Ax: Any, b: Any, lower: bool, is_unit: bool) -> Any:
    """Solve with a triangular matrix in compressed rows."""
    n = len(Ap) - 1
    A = sp.csr_array((Ax, Aj, Ap), shape=(n, n))
    return spl.spsolve_triangular(A, b, lower, unit_diagonal=is_unit)


@from_vjp(solve)
def solve_rule(Ap: Any, Aj: Any, Ax: Any, b: Any, lower: bool, is_unit: bool) -> Any:
    """Solve with the transpose; a diagonal that is taken to be one gets no cotangent."""
    x = solve(Ap, Aj, Ax, b, lower, is_unit)
    n = len(Ap) - 1

    def solve_pullback(dx: ndarray) -> tuple[Any, ...]:
        adjoint = sp.csc_array((conj(Ax), Aj, Ap), shape=(n, n)).tocsr()
        db = solve(adjoint.indptr, adjoint.indices, adjoint.data, dx, not lower, is_unit)

        def of_data() -> Any:
            rows = rows_of(Ap)
            dA = of_elements(-db[rows], conj(x)[Aj])
            return np.where(Aj == rows, 0, dA) if is_unit else dA

        return None, None, of_data, db

    return x, solve_pullback
