"""Callbacks of solvers that return ints: their derivative is zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, grad, implicit, jvp
from tests.solvers.differences import along

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

P = np.array([1.3, 0.7])
V = np.array([0.6, -1.1])

Program = Callable[[Any], Any]

SINGULAR: dict[str, Program] = {
    "int": lambda p: optimize.brentq(lambda x: int(np.sign(x**3 - p[0])), 0, 3),
    "bool": lambda p: optimize.bisect(lambda x: 2 * (x**3 > p[0]) - 1, 0, 3),
    "int of NumPy": lambda p: optimize.ridder(lambda x: np.sign(x - p[0]).astype(int), 0, 3),
    "of a pair": lambda p: optimize.root_scalar(
        lambda x: (int(x > 3), 1), x0=p[0], fprime=True
    ).root,
    "array": lambda p: optimize.fsolve(lambda x: np.sign(x - p).astype(int), p)[0],
    "list": lambda p: optimize.fsolve(lambda x: [int(x[0] - p[0]), 0], p)[0],
    "some of a list": lambda p: optimize.fsolve(lambda x: [x[0] - p[0], int(x[1] - p[1])], p)[0],
    "bools": lambda p: optimize.broyden1(lambda x: (x > p) * 0, p)[0],
    "implicit": lambda p: implicit(lambda a: a * 1.0, lambda x, a: int(x > a))(p[0]),
    "implicit, list": lambda p: implicit(lambda a: a * 1.0, lambda x, a: [x[0] - a[0], 0])(p)[0],
    "least squares": lambda p: optimize.least_squares(lambda x: (x > p) * 0, p).x[0],
    "value": lambda p: optimize.minimize(
        lambda x: int(np.sum((10 * (x - p)) ** 2)), p, method="Nelder-Mead"
    ).x[0],
    "value, a bool": lambda p: optimize.minimize(
        lambda x: bool(x[0] > p[0] + 1), p, method="Nelder-Mead"
    ).x[0],
    "slope": lambda p: optimize.minimize(
        lambda x: float((x - p) @ (x - p)), p, jac=lambda x: [0, 0], bounds=[(0, 2), (0, 2)]
    ).x[0],
    "value of a number": lambda p: optimize.minimize_scalar(
        lambda x: int(9 * (x - p[0]) ** 2), bounds=(0, 2), method="bounded"
    ).x,
}  # fmt: skip


@pytest.mark.parametrize("f", SINGULAR.values(), ids=SINGULAR)
def test_equations_that_are_flat(f: Program) -> None:
    for derivative in (lambda: grad(f)(P), lambda: jvp(f, (P,), (V,))):
        with pytest.raises(SolverError, match="singular"):
            derivative()


REGULAR: dict[str, Program] = {
    "slopes": lambda p: integrate.odeint(lambda y, t: [1, 0], p, [0, 1.0]).sum(),
    "array of slopes": lambda p: integrate.odeint(lambda y, t: np.array([1, 2]), p, [0, 1.0]).sum(),
    "slope": lambda p: integrate.odeint(lambda y, t: 1, p[0] * p[1], [0, 1.0]).sum(),
    "LSODA": lambda p: integrate.solve_ivp(
        lambda t, y: [1, 2], (0, 1), p * p, method="LSODA", t_eval=[0.5, 1.0]
    ).y.sum(),
    "quad": lambda p: integrate.quad(lambda x: 2, 0, p[0])[0],
    "now and then": lambda p: p[0] + optimize.brentq(lambda x: 0 if x < -9 else x - p[1], -1, 3),
    "slope of a minimum": lambda p: optimize.minimize(
        lambda x: float((x - p) @ (x - p)), p * 0, jac=lambda x: [2 * v for v in x - p]
    ).x.sum(),
}  # fmt: skip


@pytest.mark.parametrize("f", REGULAR.values(), ids=REGULAR)
def test_what_has_a_derivative(f: Program) -> None:
    expected = along(f, P, V)
    np.testing.assert_allclose(grad(f)(P) @ V, expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (P,), (V,))[1], expected, rtol=1e-6)
