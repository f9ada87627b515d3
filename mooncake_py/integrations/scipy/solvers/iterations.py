"""Iterative solvers: `cg`, `gmres` and others, differentiated as the solution of the system.

The adjoint is solved for by the same method, to the same tolerance.  The iterations themselves are
not differentiated: where a method ends early, since it happens to have the solution, its last
iterate does not change as the solution does.

Operators and preconditioners may be objects of the user's.  What their methods change is as after
the plain call, and as before after the derivative.  If it depends on the right-hand side, its
derivative is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy import ndarray

from mooncake_py.application.seen_calls import runs_python
from mooncake_py.errors import MissingRuleError, SolverError
from mooncake_py.integrations.scipy.sparse.patterns import rows_compressed, rows_of
from mooncake_py.integrations.scipy.sparse_linalg.factors import of_elements
from mooncake_py.rules.contraction import conj
from mooncake_py.rules.declare import contextual, from_vjp, overlay, refused, zero_derivative
from mooncake_py.solvers.apart import solved_apart
from mooncake_py.solvers.operators import heard, quietly

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

refused(
    spl.lsqr, spl.lsmr,
    why="their last iterate does not change as the solution does",
    fix="take numpy.linalg.lstsq of the dense matrix, or spsolve with the normal equations",
)  # fmt: skip

EIGEN = ("eigs", "eigsh", "funm_multiply_krylov", "lobpcg", "svds")
refused(
    *(getattr(spl, name) for name in EIGEN if hasattr(spl, name)),
    why="their last iterate does not change as the result does",
    fix="take numpy.linalg.eigh, svd or scipy.linalg.expm of the dense matrix",
)

HERMITIAN = ("cg", "minres")
OTHERS = ("bicg", "bicgstab", "cgs", "gcrotmk", "gmres", "lgmres", "qmr", "tfqmr")


def iterated(
    name: str, Ap: Any, Aj: Any, Ax: Any, b: Any, x0: Any, options: dict[str, Any]
) -> tuple[Any, int]:
    """Solve with a matrix in compressed rows by the method of that name."""
    n = len(Ap) - 1
    A = sp.csr_array((Ax, Aj, Ap), shape=(n, n))
    return quietly(getattr(spl, name), A, b, x0, **options)


@from_vjp(iterated)
def iterated_rule(
    name: str, Ap: Any, Aj: Any, Ax: Any, b: Any, x0: Any, options: dict[str, Any]
) -> Any:
    """Differentiate the solution, on which the starting point has no influence."""
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
            adjoint_options(name, options),
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


def adjoint_options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for the adjoint system: its size is another, and M is M^H."""
    kept = {key: value for key, value in options.items() if key not in LEFT_OUT}
    if name not in HERMITIAN:
        for key in ("M", "M1", "M2"):
            if kept.get(key) is not None:
                kept[key] = adjoint_operator(kept[key])
    return kept


LEFT_OUT = ("atol", "callback", "callback_type", "outer_v", "CU", "show")


def adjoint_operator(M: Any) -> Any:
    """Return M^H, None where `M` does not tell it."""
    operator = spl.aslinearoperator(M)
    try:
        quietly(operator.rmatvec, np.zeros(operator.shape[0]))
    except NotImplementedError:
        return None
    return operator.H


zero_derivative(adjoint_operator, because="of constants")


# Operators.


def operated(name: str, A: Any, b: Any, x0: Any, options: dict[str, Any]) -> tuple[Any, int]:
    """Solve with a constant operator by the method of that name."""
    return quietly(getattr(spl, name), A, b, x0, **options)


@from_vjp(operated)
def operated_rule(name: str, A: Any, b: Any, x0: Any, options: dict[str, Any]) -> Any:
    """Solve the adjoint system for the right-hand side; the operator gets no cotangent."""
    x, info = operated(name, A, b, x0, options)

    def operated_pullback(cotangents: Any) -> tuple[Any, ...]:
        dx: ndarray = cotangents[0]
        require_convergence(name, info, "the system")
        adjoint = A if name in HERMITIAN else adjoint_operator(A)
        if adjoint is None:
            raise MissingRuleError(
                f"{name} with an operator has no rule",
                why="the adjoint system needs the adjoint of the operator",
                fix="give it a rmatvec, or pass a matrix",
            )
        options_of_adjoint = adjoint_options(name, options)
        db, adjoint_info = operated(name, adjoint, dx, None, options_of_adjoint)
        require_convergence(name, adjoint_info, "the adjoint system")
        return None, None, db, None, None

    return (x, info), operated_pullback


# The functions that users call.


def require_constants(name: str, operator: Any, options: dict[str, Any]) -> None:
    """Do nothing outside of derivatives."""


@contextual(require_constants)
def require_constants_inside(ctx: Mode, name: str, operator: Any, options: dict[str, Any]) -> None:
    """Raise for an operator or an option that is active."""
    if ctx.contains_active(operator):
        raise MissingRuleError(
            f"{name} with an operator that depends on active data has no rule",
            why="the derivative of a product by an operator is not known",
            fix="pass a matrix, sparse or dense",
        )
    for option, value in options.items():
        if ctx.contains_active(value):
            raise MissingRuleError(
                f"{name} has no rule for an active {option}",
                why="the solution does not depend on it, but the iterations do",
                fix="hold it constant: see mooncake_py.stop_gradient",
            )


def with_callback(solve: Any, A: Any, b: Any, x0: Any, **options: Any) -> tuple[Any, int]:
    """Solve by a method that calls back in each iteration."""
    return solve(A, b, x0, **options)


@contextual(with_callback)
def with_callback_inside(
    ctx: Mode, solve: Any, A: Any, b: Any, x0: Any, **options: Any
) -> tuple[Any, int]:
    """Solve a system of constants, the callback of which may read and store anything."""
    given = [A, b, x0, *(value for name, value in options.items() if name != "callback")]
    if ctx.contains_active(given) or runs_python(given) or any(map(callable, given)):
        raise MissingRuleError(
            f"{solve.__name__} with a callback has no rule",
            why="its iterations are not differentiated",
            fix="leave the callback out; constant matrices and right-hand sides may have one",
        )
    return solved_apart(ctx, lambda run, found: found, False, solve, A, b, x0, **options)


def declare(name: str) -> None:
    """Declare the method of that name."""

    @overlay(getattr(spl, name))
    def solve(A: Any, b: Any, x0: Any = None, **options: Any) -> tuple[Any, int]:
        if options.get("callback") is not None:
            return with_callback(getattr(spl, name), A, b, x0, **options)
        b = np.asarray(b)
        is_operator = not sp.issparse(A) and not isinstance(A, ndarray)
        require_constants(name, A if is_operator else None, options)
        if is_operator:
            return heard(operated, name, A, b, x0, options)
        Ap, Aj, Ax = rows_compressed(A)
        return heard(iterated, name, Ap, Aj, Ax, b, x0, options)


for name in HERMITIAN + OTHERS:
    declare(name)
