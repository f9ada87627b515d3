"""Cases of functions of `scipy.integrate` and `scipy.optimize`, which have rules of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate as si
from scipy import optimize as so

from tests.rules.cases import Case

__all__ = ["cases"]

X = np.array([0.3, 0.9, 1.4])
A = np.array([[2.0, 0.3, 0.1], [0.4, 3.0, 0.2], [0.1, 0.5, 2.5]])
T = np.array([0.0, 0.5, 1.0])


def area(a: Any, low: Any, high: Any) -> Any:
    return si.quad(lambda t, a: np.sum(np.cos(a * t)), low, high, args=(a,))[0]


def path(y: Any, a: Any, t: Any) -> Any:
    return si.solve_ivp(lambda t, y, a: -a * y, (0.0, 1.0), y, t_eval=t, args=(a,), rtol=1e-8).y


def path_of_odeint(y: Any, t: Any, a: Any) -> Any:
    return si.odeint(lambda y, t, a: -a * y, y, t, args=(a,), rtol=1e-9, atol=1e-9)


def zero(low: float, high: float, a: Any) -> Any:
    return so.brentq(lambda x, a: x**3 - np.sum(a), low, high, args=(a,), xtol=1e-12)


def zeros(x: Any, a: Any) -> Any:
    return so.root(lambda x, a: x**3 + x - a, x, args=(a,), tol=1e-12).x


def least(x: Any, a: Any) -> Any:
    return so.minimize(lambda x, a: np.sum((x - a) ** 2 + x**4), x, args=(a,), tol=1e-10).x


def squares(x: Any, a: Any) -> Any:
    return so.least_squares(lambda x, a: x + x**3 - a, x, args=(a,), xtol=1e-12).x


def cases() -> list[Case]:
    return [
        Case(si.trapezoid, (X, T)),
        Case(si.simpson, (X,), {"x": T}),
        Case(si.cumulative_trapezoid, (X, T), {"initial": 0}),
        Case(si.cumulative_simpson, (X,), {"x": T}),
        Case(si.romb, (np.array([0.3, 0.9, 1.4, 1.6, 1.1]), 0.25)),
        Case(area, (X, 0.2, 1.3)),
        Case(path, (X, X, T)),
        Case(path_of_odeint, (X, T, X)),
        Case(zero, (0.5, 2.0, X)),
        Case(zeros, (X, X)),
        Case(least, (X, X)),
        Case(squares, (X, X)),
        Case(so.nnls, (A, X)),
        Case(so.lsq_linear, (A, X)),
    ]
