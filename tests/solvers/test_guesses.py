"""Solutions that depend on the guess from which they were found: they are not isolated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, grad, jvp, value_and_grad

pytest.importorskip("scipy")
from scipy import optimize as so

minimize_scalar: Any = so.minimize_scalar
X = np.array([0.3, 0.9, 1.4])
FLAT: dict[str, Callable[[Any], Any]] = {
    "minimize": lambda x: so.minimize(lambda z: (np.sum(z) - 1) ** 2, x).x[0],
    "minimize bounds": lambda x: so.minimize(
        lambda z: (np.sum(z) - 1) ** 2, x, bounds=[(-9, 9)] * 3
    ).x[0],
    "minimize many": lambda x: so.minimize(
        lambda z: (np.sum(z) - 1) ** 2, np.repeat(x, 80), method="CG"
    ).x[0],
    "minimize masked": lambda x: so.minimize(
        lambda z: np.sum((z - np.ma.masked_array(X, X > 1)) ** 2), x
    ).x[0],
    "minimize_scalar": lambda x: (
        minimize_scalar(lambda z: max(z * z - 4.0, 0.0) ** 2, bracket=(-x[0], x[1])).x
    ),
    "least_squares": lambda x: so.least_squares(lambda z: np.array([np.sum(z) - 1]), x).x[0],
    "least_squares masked": lambda x: so.least_squares(
        lambda z: z - np.ma.masked_array(X, X > 1), x
    ).x[0],
    "curve_fit": lambda x: so.curve_fit(lambda t, a, b: a + b + t, X, X, p0=x[:2])[0][0],
    "root": lambda x: so.root(lambda z: [np.sum(z) - 1] * 3, x, method="lm").x[0],
    "fsolve": lambda x: so.fsolve(lambda z: np.maximum(z - 5.0, 0.0), x)[0],
    "newton": lambda x: so.newton(lambda z: z * 0.0 if z < 3 else z, x[0], fprime=np.cos),
    "root_scalar": lambda x: so.root_scalar(lambda z: z * 0.0, x0=x[0], fprime=np.cos).root,
    "brentq": lambda x: so.brentq(lambda z: 0.0 * z, -x[0], x[1]),
    "broyden1": lambda x: so.broyden1(lambda z: 0.0 * z, x)[0],
}
CONSTRAINED: dict[str, Any] = {
    "equation": {"type": "eq", "fun": lambda z: z[0] - 1.0},
    "inequality": [{"type": "ineq", "fun": lambda z: z[:1] - 1.0}],
    "linear": so.LinearConstraint([[1.0, 0.0, 0.0]], 1.0, np.inf),
    "nonlinear": (so.NonlinearConstraint(lambda z: z[0] ** 2, 1.0, 2.0),),
    "inactive": {"type": "ineq", "fun": lambda z: 100.0 - np.sum(z)},
}
FLAT |= {
    f"minimize with {name}": lambda x, held=held: so.minimize(
        lambda z: (z[0] - z[1]) ** 2 + z[0] ** 2, x, constraints=held, method="SLSQP"
    ).x[2]
    for name, held in CONSTRAINED.items()
}
FLAT["minimize many parameters"] = lambda x: (
    so.minimize(
        lambda z: (z[0] - x[0]) ** 2 + z[1] ** 2, np.ones(210), method="CG", options={"gtol": 1e-9}
    ).x[2] * x[0]
)  # fmt: skip
ISOLATED: dict[str, Callable[[Any], Any]] = {
    "minimize": lambda x: so.minimize(lambda z: np.sum((z - X) ** 2), x).x[0],
    "minimize bounds": lambda x: so.minimize(
        lambda z: np.sum((z - X) ** 2), x, bounds=[(1.0, 9)] * 3
    ).x[0],
    "minimize many": lambda x: so.minimize(
        lambda z: np.sum((z - 1) ** 2), np.repeat(x, 80), method="CG"
    ).x[0],
    "minimize constrained": lambda x: so.minimize(
        lambda z: np.sum((z - X) ** 2), x, constraints={"type": "ineq", "fun": np.sum}
    ).x[0],
    "minimize in a corner": lambda x: so.minimize(
        lambda z: np.sum(z),
        x,
        constraints=so.LinearConstraint(np.eye(3), 0.0, np.inf),
        method="SLSQP",
    ).x[0],
    "minimize on a circle": lambda x: so.minimize(
        lambda z: z[0] + z[1] + z[2] ** 2,
        x,
        constraints={"type": "eq", "fun": lambda z: z[0] ** 2 + z[1] ** 2 - 2.0},
        method="SLSQP",
    ).x[0],
    "minimize_scalar": lambda x: minimize_scalar(lambda z: (z - 1) ** 2, bracket=(-x[0], x[1])).x,
    "least_squares": lambda x: so.least_squares(lambda z: z - X, x).x[0],
    "curve_fit": lambda x: so.curve_fit(lambda t, a, b: a + b * t, X, X**2, p0=x[:2])[0][0],
    "root": lambda x: so.root(lambda z: z**3 + z - X, x).x[0],
    "newton": lambda x: so.newton(lambda z: z**3 + z - 1, x[0]),
    "root_scalar": lambda x: so.root_scalar(lambda z: z**3 + z - 1, x0=x[0], x1=x[1]).root,
    "brentq": lambda x: so.brentq(lambda z: z**3 + z - 0.5, -x[0], x[1]),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_guess_that_the_solution_depends_on_is_refused(name: str) -> None:
    for run in (lambda: grad(FLAT[name])(X), lambda: jvp(FLAT[name], (X,), (np.ones(3),))):
        with pytest.raises(SolverError, match=r"singular|not converge"):
            run()


@pytest.mark.parametrize("name", ISOLATED)
def test_an_isolated_solution_does_not_depend_on_the_guess(name: str) -> None:
    value, g = value_and_grad(ISOLATED[name])(X)
    assert value == ISOLATED[name](X)
    assert not g.any()
