"""Algebraic Riccati equations: the derivative of the solution solves a Lyapunov equation.

Source: T.-C. Kao and G. Hennequin, "Automatic differentiation of Sylvester, Lyapunov, and
algebraic Riccati equations" (arXiv:2011.11430).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy import ndarray

from mooncake_py.rules.contraction import adjoint_matrix
from mooncake_py.rules.declare import from_vjp
from mooncake_py.rules.plain_values import derived_as

__all__: list[str] = []

Rule = tuple[Any, Any]
plain_continuous, plain_discrete = sl.solve_continuous_are, sl.solve_discrete_are


def standard(b: Any, a: Any, q: Any, e: Any, s: Any) -> tuple[Any, Any, Any]:
    """Return A E^-1, E^-H Q E^-1 and E^-H S, with S = 0 if there is none."""
    a, q = np.atleast_2d(a), np.atleast_2d(q)  # numbers stand for matrices
    s = np.zeros(np.shape(b)) if s is None else np.atleast_2d(s)
    if e is None:
        return a, q, s
    adjoint = adjoint_matrix(np.atleast_2d(e))
    a = adjoint_matrix(np.linalg.solve(adjoint, adjoint_matrix(a)))
    q = np.linalg.solve(adjoint, adjoint_matrix(np.linalg.solve(adjoint, q)))
    return a, (q + adjoint_matrix(q)) / 2, np.linalg.solve(adjoint, s)


@derived_as(sl.solve_continuous_are)
def solve_continuous_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Any:
    b, r = np.atleast_2d(b), np.atleast_2d(r)
    a, q, s = standard(b, a, q, e, s)
    return continuous(a, b, q, r, s, balanced)


@derived_as(sl.solve_discrete_are)
def solve_discrete_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Any:
    b, r = np.atleast_2d(b), np.atleast_2d(r)
    a, q, s = standard(b, a, q, e, s)
    return discrete(a, b, q, r, s, balanced)


def continuous(a: ndarray, b: ndarray, q: ndarray, r: ndarray, s: ndarray, balanced: bool) -> Any:
    """Solve A^H X + X A - K^H R K + Q = 0 with K = R^-1 (B^H X + S^H)."""
    return plain_continuous(a, b, q, r, s=s, balanced=balanced)


def discrete(a: ndarray, b: ndarray, q: ndarray, r: ndarray, s: ndarray, balanced: bool) -> Any:
    """Solve A^H X A - X - K^H M K + Q = 0 with M = R + B^H X B, K = M^-1 (B^H X A + S^H)."""
    return plain_discrete(a, b, q, r, s=s, balanced=balanced)


@from_vjp(continuous)
def continuous_rule(a: Any, b: Any, q: Any, r: Any, s: Any, balanced: bool) -> Rule:
    """Solve C G + G C^H = -dX for dP = G, with C = A - B K:  C^H dX + dX C = -dP."""
    x = continuous(a, b, q, r, s, balanced)

    def continuous_pullback(dx: ndarray) -> Any:
        k = np.linalg.solve(r, adjoint_matrix(b) @ x + adjoint_matrix(s))
        g = sl.solve_continuous_lyapunov(a - b @ k, -symmetric(dx))
        return cotangents(x, x, k, symmetric(g))

    return x, continuous_pullback


@from_vjp(discrete)
def discrete_rule(a: Any, b: Any, q: Any, r: Any, s: Any, balanced: bool) -> Rule:
    """Solve G - C G C^H = dX for dP = G, with C = A - B K:  dX - C^H dX C = dP."""
    x = discrete(a, b, q, r, s, balanced)

    def discrete_pullback(dx: ndarray) -> Any:
        product = adjoint_matrix(b) @ x
        k = np.linalg.solve(r + product @ b, product @ a + adjoint_matrix(s))
        closed = a - b @ k
        g = sl.solve_discrete_lyapunov(closed, symmetric(dx))
        return cotangents(x, x @ closed, k, symmetric(g))

    return x, discrete_pullback


def cotangents(x: ndarray, factor: ndarray, k: ndarray, g: ndarray) -> tuple[Any, ...]:
    """Return those of A, B, Q, R and S from that of the equation, which is Hermitian."""
    gain = adjoint_matrix(k)
    da = 2 * factor @ g
    return da, -da @ gain, g, k @ g @ gain, -2 * g @ gain


def symmetric(x: ndarray) -> ndarray:
    """Return the Hermitian part."""
    return (x + adjoint_matrix(x)) / 2
