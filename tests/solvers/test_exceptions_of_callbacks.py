"""Exceptions of callbacks, which may carry numbers out of a solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.errors import SolverError

si = pytest.importorskip("scipy.integrate")
so = pytest.importorskip("scipy.optimize")


class Stop(Exception):
    """Ends a search."""

    value: Any = None


SOLVERS: dict[str, Callable[[Any], Any]] = {
    "quad": lambda g: si.quad(g, 0, 1)[0],
    "quad_vec": lambda g: si.quad_vec(g, 0, 1)[0],
    "brentq": lambda g: so.brentq(g, 0, 3),
    "newton": lambda g: so.newton(g, 1.0),
    "fsolve": lambda g: so.fsolve(g, 1.0)[0],
    "root": lambda g: so.root(g, 1.0).x[0],
    "odeint": lambda g: si.odeint(lambda y, t: g(t), [1.0], [0, 1])[-1, 0],
    "minimize": lambda g: so.minimize(lambda z: (g(z) ** 2)[0], [1.0]).x[0],
    "minimize_scalar": lambda g: so.minimize_scalar(lambda z: g(z) ** 2, bracket=(0.5, 1)).x,
    "least_squares": lambda g: so.least_squares(g, [1.0]).x[0],
    "solve_ivp": lambda g: si.solve_ivp(lambda t, y: [g(t)], [0, 1], [1.0]).y[0, -1],
}


def by_argument(x: Any) -> Exception:
    return Stop([x * x])


def by_attribute(x: Any) -> Exception:
    error = Stop([0.0])
    error.value = x * x
    return error


@pytest.mark.parametrize("made", [by_argument, by_attribute])
@pytest.mark.parametrize("name", SOLVERS)
def test_what_they_carry_keeps_its_derivative(name: str, made: Callable[[Any], Exception]) -> None:
    def f(x: Any) -> Any:
        def g(t: Any, *_: Any) -> Any:
            if np.min(t) > 0.4:
                raise made(x)
            return x * t - 0.1

        try:
            return SOLVERS[name](g)
        except Stop as error:
            return error.args[0][0] if error.value is None else error.value

    assert f(1.5) == 2.25
    for options in ({}, {"debug": True}):
        assert value_and_grad(f, **options)(1.5) == (2.25, 3.0)
    assert jvp(f, (1.5,), (1.0,)) == (2.25, 3.0)


def test_points_that_a_search_has_reached_are_refused() -> None:
    def f(x: Any) -> Any:
        def g(z: Any) -> Any:
            if abs(z**3 - x) < 1e-3:
                raise Stop(z * x)
            return z**3 - x

        try:
            return so.brentq(g, 0, 3)
        except Stop as error:
            return error.args[0]

    with pytest.raises(SolverError, match="a value that a callback of brentq stored"):
        value_and_grad(f)(1.5)


def test_errors_of_the_solver_are_its_own() -> None:
    def f(x: Any) -> Any:
        try:
            return so.brentq(lambda z: z + x, 0, 3)
        except ValueError as error:
            return x * len(str(error))

    assert value_and_grad(f)(1.5) == (f(1.5), f(1.0))
