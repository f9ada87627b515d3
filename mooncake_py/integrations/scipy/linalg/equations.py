"""Matrix equations that are linear in the unknown.

Source: T.-C. Kao and G. Hennequin, "Automatic differentiation of Sylvester, Lyapunov, and
algebraic Riccati equations" (arXiv:2011.11430).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp, not_implemented

__all__: list[str] = []

Rule = tuple[Any, Any]
MIXED = not_implemented(
    "SciPy has not solved the equation: a real matrix with complex eigenvalues stands next to a\n"
    "complex one, for which it would need another Schur form",
    fix="pass all matrices as complex arrays",
)


def sylvester(a: Any, b: Any, q: Any) -> Any:
    """Solve A X + X B = Q, whichever of the matrices are complex."""
    dtype = np.result_type(a, b, q)
    return sl.solve_sylvester(np.asarray(a, dtype), np.asarray(b, dtype), q)


def lyapunov(a: Any, q: Any) -> Any:
    """Solve A X + X A^H = Q, whichever of the matrices are complex."""
    return sl.solve_continuous_lyapunov(np.asarray(a, np.result_type(a, q)), q)


def discrete(a: Any, q: Any, method: Any) -> Any:
    """Solve X = A X A^H + Q, whichever of the matrices are complex."""
    return sl.solve_discrete_lyapunov(np.asarray(a, np.result_type(a, q)), q, method)


def is_unsolved(x: ndarray, again: Any, *matrices: Any) -> bool:
    """Return whether SciPy has found another solution than it does for complex matrices."""
    is_mixed = np.iscomplexobj(x) and any(map(np.isrealobj, matrices))
    return is_mixed and not np.allclose(x, again(*matrices), rtol=1e-4, atol=1e-6)


@from_vjp(sl.solve_sylvester)
def solve_sylvester_rule(a: Any, b: Any, q: Any) -> Rule:
    """Differentiate A X + X B = Q.

    A^H G + G B^H = dX,  dA = -G X^H,  dB = -X^H G,  dQ = G.
    """
    a, b = np.asarray(a), np.asarray(b)
    x = sl.solve_sylvester(a, b, q)

    def solve_sylvester_pullback(dx: ndarray) -> tuple[Any, ...]:
        if is_unsolved(x, sylvester, a, b, q):
            return MIXED, MIXED, MIXED
        g = sylvester(adjoint_matrix(a), adjoint_matrix(b), dx)
        xh = adjoint_matrix(x)
        return -g @ xh, -xh @ g, g if np.ndim(q) else np.trace(g)  # a number stands for q times I

    return x, solve_sylvester_pullback


@from_vjp(sl.solve_continuous_lyapunov)
def solve_continuous_lyapunov_rule(a: Any, q: Any) -> Rule:
    """Differentiate A X + X A^H = Q:  A^H G + G A = dX,  dA = -(G X^H + G^H X),  dQ = G."""
    x = sl.solve_continuous_lyapunov(a, q)
    a = np.atleast_2d(a)  # SciPy takes a number for a matrix

    def solve_continuous_lyapunov_pullback(dx: ndarray) -> tuple[Any, ...]:
        if is_unsolved(x, lyapunov, a, q):
            return MIXED, MIXED
        g = lyapunov(adjoint_matrix(a), dx)
        return -(g @ adjoint_matrix(x) + adjoint_matrix(g) @ x), g

    return x, solve_continuous_lyapunov_pullback


@from_vjp(sl.solve_discrete_lyapunov)
def solve_discrete_lyapunov_rule(a: Any, q: Any, method: Any = None) -> Rule:
    """X = A X A^H + Q:  G = A^H G A + dX,  dA = G A X^H + G^H A X,  dQ = G."""
    y = sl.solve_discrete_lyapunov(a, q, method)
    a, x = np.atleast_2d(a), np.atleast_2d(y)

    def solve_discrete_lyapunov_pullback(dx: ndarray) -> tuple[Any, ...]:
        if is_unsolved(y, partial(discrete, method=method), a, q):
            return MIXED, MIXED, None
        g = discrete(adjoint_matrix(a), np.atleast_2d(dx), method)
        return g @ a @ adjoint_matrix(x) + adjoint_matrix(g) @ a @ x, g, None

    return y, solve_discrete_lyapunov_pullback
