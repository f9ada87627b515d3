"""Further outputs of solvers: estimates and steps, which have no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.errors import SolverError

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")


def square(x: Any) -> Any:
    return lambda t: x * t * t


def quad(x: Any) -> Any:
    return integrate.quad(square(x), 0, 1, full_output=1)


def quad_vec(x: Any) -> Any:
    return integrate.quad_vec(lambda t: x * t * np.ones(2), 0, 1, full_output=True)


def odeint(x: Any) -> Any:
    return integrate.odeint(lambda y, t: -x * y, 1.0, [0, 0.5], full_output=True)


def simplex(x: Any) -> Any:
    return optimize.minimize(lambda z: (z[0] - x) ** 2, [1.4], method="Nelder-Mead")


WITHOUT: dict[str, Callable[[Any], Any]] = {
    "error of quad": lambda x: integrate.quad(square(x), 0, 1)[1],
    "integrals of pieces": lambda x: quad(x)[2]["rlist"][0],
    "errors of pieces": lambda x: quad(x)[2]["elist"][0],
    "error of a complex integral": lambda x: abs(
        integrate.quad(lambda t: x * t * (1 + 2j), 0, 1, complex_func=True)[1]
    ),
    "error of dblquad": lambda x: integrate.dblquad(lambda t, s: x * t * s, 0, 1, 0, 1)[1],
    "error of quad_vec": lambda x: quad_vec(x)[1],
    "integrals of quad_vec": lambda x: quad_vec(x)[2].integrals[0, 0],
    "steps of odeint": lambda x: odeint(x)[1]["hu"][0],
    "optimality": lambda x: optimize.least_squares(lambda z: [z[0] - x], [0.1]).optimality,
    "final simplex": lambda x: simplex(x).final_simplex[0][1, 0],
}


@pytest.mark.parametrize("name", WITHOUT)
def test_estimates_have_no_derivative(name: str) -> None:
    f = WITHOUT[name]
    assert np.isfinite(f(1.5))
    for derive in (grad(f), grad(f, debug=True), lambda x: jvp(f, (x,), (1.0,))):
        with pytest.raises(SolverError, match="approximations by a solver have no derivative"):
            derive(1.5)


def test_programs_may_look_at_them() -> None:
    def f(x):
        value, error, info = quad(x)
        assert error < 1e-6
        assert max(error, 1.0) == 1.0
        assert "rlist" in str(info)
        y, details = odeint(x)
        return value * info["neval"] + y[-1, 0] * details["nst"][0] + quad_vec(x)[2].neval

    value, slope = value_and_grad(f)(1.5)
    assert value == f(1.5)
    h = 1e-6
    assert slope == pytest.approx((f(1.5 + h) - f(1.5 - h)) / (2 * h), rel=1e-5)
