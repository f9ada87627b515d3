"""Factorizations: `splu`, `factorized` and `spsolve`, and factors that were made outside."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy import ndarray
from scipy.sparse.linalg._dsolve import _superlu

from mooncake_py.integrations.scipy.sparse.patterns import rows_of
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, linear, overlay, refused, zero_derivative
from mooncake_py.rules.kinds import Like
from mooncake_py.rules.stand_ins import StandIn

__all__ = ["of_elements"]

kernels: Any = _superlu

refused(
    spl.spilu,
    why="an incomplete factorization leaves elements out",
    fix="factorize a constant matrix, as for a preconditioner, or take splu",
)


@linear(spl.SuperLU.solve, wrt=1)
def solve_adjoint(dy: ndarray, self: Any, rhs: Like, trans: str = "N") -> ndarray:
    """Solve with the conjugate transpose of the matrix, its transpose or itself."""
    if trans == "T":
        return conj(self.solve(conj(dy)))
    return self.solve(dy, "H" if trans == "N" else "N")


# A factorized matrix whose elements may be active.


def solve(factors: Any, data: Any, rows: Any, columns: Any, b: Any, trans: str) -> ndarray:
    """Solve with factors of the matrix with these elements; they are constant by themselves."""
    return factors.solve(b, trans)


@from_vjp(solve)
def solve_rule(factors: Any, data: Any, rows: Any, columns: Any, b: Any, trans: str) -> Any:
    """Differentiate the solution; `trans` "T" or "H" solves with the transpose or adjoint."""
    x = solve(factors, data, rows, columns, b, trans)

    def solve_pullback(dx: ndarray) -> tuple[Any, ...]:
        if trans == "T":
            db = conj(solve(factors, data, rows, columns, conj(dx), "N"))
        else:
            db = solve(factors, data, rows, columns, dx, "H" if trans == "N" else "N")

        def of_data() -> Any:
            i, j = (rows, columns) if trans == "N" else (columns, rows)
            found = of_elements(-db[i], conj(x)[j])
            return conj(found) if trans == "H" else found

        return None, of_data, None, None, db

    return x, solve_pullback


def of_elements(left: Any, right: Any) -> Any:
    """Return the products of rows of two arrays, of several right hand sides their sum."""
    products = left * right
    return products if products.ndim == 1 else products.sum(axis=1)


def constant(data: Any, value: Any) -> Any:
    """Return a value that follows from elements that must be constant."""
    return value


refused(
    constant,
    why="only `solve` of a factorized matrix has a rule",
    fix="take scipy.linalg.lu of the dense matrix for its factors",
)


class Factorized(StandIn):
    """Returned by `splu` inside a differentiated function: stands for a `SuperLU`."""

    _stands_for = spl.SuperLU

    def __init__(self, factors: Any, data: Any, rows: Any, columns: Any) -> None:
        self._factors = factors
        self._data = data
        self._rows = rows
        self._columns = columns

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """Solve with the matrix, its transpose ("T") or its conjugate transpose ("H")."""
        return solve(self._factors, self._data, self._rows, self._columns, rhs, trans)

    @property
    def shape(self) -> Any:
        return self._factors.shape

    @property
    def nnz(self) -> Any:
        return self._factors.nnz

    @property
    def perm_r(self) -> Any:
        return self._factors.perm_r

    @property
    def perm_c(self) -> Any:
        return self._factors.perm_c

    @property
    def L(self) -> Any:
        return constant(self._data, self._factors.L)

    @property
    def U(self) -> Any:
        return constant(self._data, self._factors.U)


def factors_of(
    n: int, nnz: int, data: Any, indices: Any, indptr: Any, csc_construct_func: Any, ilu: bool,
    options: Any,
) -> Any:  # fmt: skip
    """Factorize a matrix in compressed columns."""
    return kernels.gstrf(
        n, nnz, data, indices, indptr, csc_construct_func=csc_construct_func, ilu=ilu,
        options=options,
    )  # fmt: skip


@overlay(kernels.gstrf)
def gstrf(
    n: int, nnz: int, data: Any, indices: Any, indptr: Any, csc_construct_func: Any, ilu: bool,
    options: Any,
) -> Factorized:  # fmt: skip
    """Factorize as SciPy does; only `splu` passes active elements."""
    factors = factors_of(n, nnz, data, indices, indptr, csc_construct_func, ilu, options)
    return Factorized(factors, data, indices, rows_of(indptr))


@overlay(kernels.gssv)
def gssv(
    n: int, nnz: int, data: Any, indices: Any, indptr: Any, b: Any, by_columns: int, options: Any
) -> tuple[Any, int]:
    """Keep the factors for the adjoint; rows are the columns of the transpose."""
    try:
        factors = factors_of(n, nnz, data, indices, indptr, sp.csc_array, False, options)
    except RuntimeError:
        # SciPy would fill the solution itself, with numbers that have no derivative.
        warnings.warn("Matrix is exactly singular", spl.MatrixRankWarning, stacklevel=2)
        return (b + np.sum(data)) * np.nan, 0
    trans = "N" if by_columns else "T"
    return solve(factors, data, indices, rows_of(indptr), b, trans), 0


zero_derivative(factors_of, because="only solutions have a derivative")
