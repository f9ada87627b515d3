"""Callbacks that write into the point that a solver gives to them: it is their own, as in SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, hvp, implicit, jvp, prepare, value_and_grad
from tests.solvers.differences import along

optimize = pytest.importorskip("scipy.optimize")

P = np.array([1.3, 0.7])
V = np.array([0.6, -1.1])
W = np.array([1.0, 2.0])

Program = Callable[[Any], Any]


def distance(p: Any) -> Callable[[Any], Any]:
    def value(x: Any) -> float:
        x -= p
        return float(x @ x)

    return value


def halves(p: Any) -> Callable[[Any], Any]:
    def value(x: Any) -> float:
        a, b = np.split(x, 2)
        a -= p[0]
        b -= p[1]
        return float(a[0] * a[0] + b[0] * b[0])

    return value


def named(p: Any) -> Callable[[Any], Any]:
    def value(x: Any) -> float:
        parts = {"w": x[:1], "v": np.asarray(x[1:]).ravel()}
        parts["w"] -= p[0]
        parts["v"] -= p[1]
        return float(x @ x)

    return value


def minimum(fun: Callable[[Any], Any], method: str = "BFGS", **options: Any) -> Program:
    return lambda p: optimize.minimize(fun(p), [0.5, 0.5], method=method, **options).x @ W


def with_slope(p: Any) -> Any:
    def fun(x: Any) -> Any:
        x -= p
        return float(x @ x), 2 * x

    return optimize.minimize(fun, [0.5, 0.5], jac=True).x @ W


def slope_writes(p: Any) -> Any:
    def slope(x: Any) -> Any:
        x -= p
        x *= 2
        return x

    return optimize.minimize(distance(p), [0.5, 0.5], jac=slope).x @ W


def after_value(p: Any) -> Any:
    kept: dict[str, Any] = {}

    def fun(x: Any) -> float:
        x -= p
        kept["r"] = x.copy()
        return float(x @ x)

    def slope(x: Any) -> Any:
        x -= p
        return x + kept["r"]

    return optimize.minimize(fun, [0.5, 0.5], jac=slope).x @ W


def residual(p: Any) -> Callable[[Any], Any]:
    def errors(x: Any) -> Any:
        x[1] = x[1] - p[1]
        x[:1] -= p[0]
        return x

    return errors


def least_squares(**options: Any) -> Program:
    return lambda p: optimize.least_squares(residual(p), [0.5, 0.5], **options).x @ W


def broyden(p: Any) -> Any:
    return optimize.root(residual(p), [0.5, 0.5], method="broyden1").x @ W


def root_of_user(p: Any) -> Any:
    def squared(x: Any, p: Any) -> Any:
        x *= x
        return x - p

    return implicit(lambda p: np.sqrt(p), squared)(p) @ W


def independent_of_start(p: Any) -> Any:
    def condition(x: Any) -> Any:
        y = x * 1.0
        x *= 2.0
        return y[0] * y[1] - 0.2

    def value(x: Any) -> float:
        x -= 1.0
        return float(x @ x)

    limit = optimize.NonlinearConstraint(condition, 0.2, 0.5)
    found = optimize.minimize(
        value, p, constraints=limit, method="trust-constr", options={"gtol": 1e-9}
    )
    return p.sum() + found.x @ W


PROGRAMS: dict[str, Program] = {
    "BFGS": minimum(distance),
    "Nelder-Mead": minimum(distance, "Nelder-Mead", tol=1e-10),
    "SLSQP": minimum(distance, "SLSQP", tol=1e-12),
    "bounds": minimum(distance, "L-BFGS-B", bounds=[(0, 1), (0, 1)]),
    "halves": minimum(halves),
    "named": minimum(named),
    "jac=True": with_slope,
    "jac": slope_writes,
    "jac after the value": after_value,
    "least_squares": least_squares(),
    "least_squares, lm": least_squares(method="lm"),
    "least_squares, bounds": least_squares(bounds=(0, 1)),
    "broyden1": broyden,
    "implicit": root_of_user,
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_points_that_callbacks_write_into(f: Program) -> None:
    value, slope = value_and_grad(f)(P)
    np.testing.assert_allclose(value, f(P), rtol=1e-12)
    np.testing.assert_allclose(slope @ V, along(f, P, V), rtol=1e-3, atol=1e-3)
    _, tangent = jvp(f, (P,), (V,))
    np.testing.assert_allclose(tangent, slope @ V, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["BFGS", "jac after the value", "broyden1", "implicit"])
def test_them_in_other_modes(name: str) -> None:
    f = PROGRAMS[name]
    slope = grad(f)(P)
    np.testing.assert_allclose(grad(f, debug=True)(P), slope, rtol=1e-9)
    np.testing.assert_allclose(grad(lambda p: checkpoint(f, p))(P), slope, rtol=1e-9)
    prepared = prepare(grad, f, P)
    for _ in range(2):
        np.testing.assert_allclose(prepared(P), slope, rtol=1e-9)


@pytest.mark.parametrize("name", ["jac", "implicit"])
def test_second_derivatives_of_them(name: str) -> None:
    def f(p: Any) -> Any:
        return PROGRAMS[name](p * p)

    expected = along(grad(f), P, V)
    np.testing.assert_allclose(hvp(f, (P,), V), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.filterwarnings("ignore:delta_grad")
def test_a_minimum_with_conditions_that_does_not_depend_on_its_start() -> None:
    np.testing.assert_allclose(grad(independent_of_start)(P), 1.0, rtol=1e-9)
