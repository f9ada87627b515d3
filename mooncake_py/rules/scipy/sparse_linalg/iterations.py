"""Iterative solvers: `cg`, `gmres` and others, differentiated as the solution of the system.

The adjoint is solved for by the same method, to the same tolerance.  A system with a
`LinearOperator`, or with a callback, is differentiated iteration by iteration.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy import ndarray

from mooncake_py.errors import SolverError
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import from_vjp, overlay
from mooncake_py.rules.scipy.sparse.patterns import rows_of
from mooncake_py.rules.scipy.sparse_linalg.factors import of_elements

__all__: list[str] = []

HERMITIAN = ("cg", "minres")
OTHERS = ("bicg", "bicgstab", "cgs", "gcrotmk", "gmres", "lgmres", "qmr", "tfqmr")


def iterated(
    name: str, Ap: Any, Aj: Any, Ax: Any, b: Any, x0: Any, options: dict[str, Any]
) -> tuple[Any, int]:
    """Solve with a matrix in compressed rows by the method of that name."""
    n = len(Ap) - 1
    A = sp.csr_array((Ax, Aj, Ap), shape=(n, n))
    return getattr(spl, name)(A, b, x0, **options)


@from_vjp(iterated)
def iterated_rule(
    name: str, Ap: Any, Aj: Any, Ax: Any, b: Any, x0: Any, options: dict[str, Any]
) -> Any:
    """Where the method starts has no influence on the solution."""
    x, info = iterated(name, Ap, Aj, Ax, b, x0, options)
    n = len(Ap) - 1

    def iterated_pullback(cotangents: Any) -> tuple[Any, ...]:
        dx: ndarray = cotangents[0]
        require_convergence(name, info, "the system")
        adjoint: Any = sp.csr_array((Ax, Aj, Ap), shape=(n, n))
        if name not in HERMITIAN:
            adjoint = sp.csc_array((conj(Ax), Aj, Ap), shape=(n, n)).tocsr()
        db, adjoint_info = iterated(
            name, adjoint.indptr, adjoint.indices, adjoint.data, dx, None,
            adjoint_options(name, options, n),
        )  # fmt: skip
        require_convergence(name, adjoint_info, "the adjoint system")

        def of_data() -> Any:
            return of_elements(-db[rows_of(Ap)], conj(x)[Aj])

        return None, None, None, of_data, db, None, None

    return (x, info), iterated_pullback


def require_convergence(name: str, info: int, system: str) -> None:
    """Raise if a method has not solved a system."""
    if info != 0:
        raise SolverError(
            f"{name} has not solved {system}, so that its result has no derivative",
            why=f"it returned {info} in place of 0",
            fix="allow more iterations, a larger tolerance, or give a preconditioner",
        )


def adjoint_options(name: str, options: dict[str, Any], n: int) -> dict[str, Any]:
    """Return the options for the adjoint system: its size is another, and M is M^H."""
    kept = {key: value for key, value in options.items() if key not in LEFT_OUT}
    if name not in HERMITIAN:
        for key in ("M", "M1", "M2"):
            if kept.get(key) is not None:
                kept[key] = adjoint_preconditioner(kept[key], n)
    return kept


LEFT_OUT = ("atol", "callback", "callback_type", "outer_v", "CU", "show")


def adjoint_preconditioner(M: Any, n: int) -> Any:
    """Return M^H, None where `M` does not tell it."""
    operator = spl.aslinearoperator(M)
    try:
        operator.rmatvec(np.zeros(n))
    except NotImplementedError:
        return None
    return operator.H


def declare(name: str) -> None:
    """Declare the method of that name."""
    method = getattr(spl, name)
    in_python = FunctionType(method.__code__, method.__globals__, name, method.__defaults__)
    in_python.__kwdefaults__ = method.__kwdefaults__

    @overlay(method)
    def solve(A: Any, b: Any, x0: Any = None, **options: Any) -> tuple[Any, int]:
        is_matrix = sp.issparse(A) or isinstance(A, ndarray)
        if not is_matrix or options.get("callback") is not None:
            return in_python(A, b, x0, **options)
        Ap, Aj, Ax = rows_compressed(A)
        return iterated(name, Ap, Aj, Ax, np.asarray(b), x0, options)


def rows_compressed(A: Any) -> tuple[Any, Any, Any]:
    """Return pointers, indices and elements, of a dense matrix all elements."""
    if isinstance(A, ndarray):
        n, m = A.shape
        return np.arange(n + 1) * m, np.tile(np.arange(m), n), A.ravel()
    A = A.tocsr()
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    return A.indptr, A.indices, A.data


for name in HERMITIAN + OTHERS:
    declare(name)
