"""Dicts by the point at which a solver calls back, shared by a function and its slope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")

from mooncake_py import DerivativeDropError, checkpoint, grad, jvp, vjp  # noqa: E402
from tests.solvers.differences import along  # noqa: E402

KEYS: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "floats": lambda x: (float(x[0]), float(x[1])),
    "list": lambda x: tuple(x.tolist()),
    "elements": lambda x: (x[0], x[1]),
}
TIGHT: Any = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}
SOLVERS: dict[str, Callable[[Any], Any]] = {
    "minimize": lambda f: (
        optimize.minimize(lambda x: f(x)[0], np.zeros(2), jac=lambda x: f(x)[1], tol=1e-12).x
    ),
    "root": lambda f: (
        optimize.root(lambda x: f(x)[1], np.zeros(2), jac=lambda x: f(x)[2], tol=1e-13).x
    ),
    "fsolve": lambda f: optimize.fsolve(
        lambda x: f(x)[1], np.zeros(2), fprime=lambda x: f(x)[2], xtol=1e-13
    ),
    "least_squares": lambda f: (
        optimize.least_squares(lambda x: f(x)[1], np.zeros(2), jac=lambda x: f(x)[2], **TIGHT).x
    ),
}
MODES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(1.1),
    "debug": lambda f: grad(f, debug=True)(1.1),
    "compile": lambda f: grad(f, compile=True)(1.1),
    "vjp": lambda f: vjp(f, 1.1)[1](1.0)[0],
    "jvp": lambda f: jvp(f, (1.1,), (1.0,))[1],
    "checkpoint": lambda f: grad(lambda a: checkpoint(f, a))(1.1),
}


def program(solver: str, key: str) -> Callable[[Any], Any]:
    def f(a: Any) -> Any:
        memo: dict[Any, Any] = {}

        def both(x: Any) -> Any:
            k = KEYS[key](x)
            if k not in memo:
                value = np.sum((x - a) ** 2) + 0.1 * np.sum(x**4)
                memo[k] = value, 2 * (x - a) + 0.4 * x**3, np.diag(2 + 1.2 * x**2)
            return memo[k]

        return SOLVERS[solver](both).sum()

    return f


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_functions_that_share_a_table_with_their_slope(solver: str, key: str) -> None:
    f = program(solver, key)
    assert grad(f)(1.1) == pytest.approx(along(f, 1.1, 1.0), rel=1e-5)
    assert jvp(f, (1.1,), (1.0,))[1] == pytest.approx(along(f, 1.1, 1.0), rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str) -> None:
    f = program("minimize", "floats")
    assert MODES[mode](f) == pytest.approx(along(f, 1.1, 1.0), rel=1e-5)


def test_other_numbers_that_are_equal_are_refused_there_too() -> None:
    def f(a: Any, b: Any) -> Any:
        memo: dict[Any, Any] = {}

        def r(x: Any) -> Any:
            for p in (a, b):
                if p not in memo:
                    memo[p] = p * p
            return x * x - 2 * memo[a] - 3 * memo[b]

        return optimize.brentq(r, 0.0, 10.0)

    with pytest.raises(DerivativeDropError, match="a dict was read"):
        grad(f, argnums=(0, 1))(2.0, 2.0)
    assert grad(f)(2.0, 1.0) == pytest.approx(4 / 11**0.5)
