"""Points that a callback keeps without a copy: the memory of some solvers, as in the plain call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import SolverError, checkpoint, grad, jvp, value_and_grad
from tests.solvers.differences import along

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

P = np.array([1.3, 0.7])
V = np.array([0.6, -1.1])
W = np.array([1.0, 2.0])

Program = Callable[[Any], Any]


class Kept:
    """The points of a callback, and how often the first and the one before are now the last."""

    def __init__(self) -> None:
        self.points: list[Any] = []
        self.count = 0.0

    def put(self, x: Any) -> None:
        self.points.append(x)
        before = self.points[-2:][0]
        self.count += np.array_equal(self.points[0], x) + 100 * np.array_equal(before, x)


def root(method: str) -> Program:
    def f(p: Any) -> Any:
        kept = Kept()

        def residual(x: Any) -> Any:
            kept.put(x)
            return x**3 - p

        x = optimize.root(residual, [1.0, 1.0], method=method, tol=1e-12).x
        return x @ W * kept.count

    return f


def minimum(method: str) -> Program:
    def f(p: Any) -> Any:
        kept = Kept()

        def value(x: Any) -> float:
            kept.put(x)
            return float((x - p) @ (x - p))

        return optimize.minimize(value, [1.0, 1.0], method=method, tol=1e-10).x @ W * kept.count

    return f


def equation(p: Any) -> Any:
    kept = Kept()

    def slope(y: Any, t: Any) -> Any:
        kept.put(y)
        return -y * p

    return integrate.odeint(slope, [1.0, 1.0], [0.0, 0.5])[-1] @ W * kept.count


def same_point_twice(p: Any) -> Any:
    last: list[Any] = [None, 0]

    def exponential(x: Any) -> Any:
        if last[0] is not x:
            last[0] = x
            last[1] += 1
        return np.exp(x)

    found = optimize.least_squares(
        lambda x: exponential(x) - p, [0.5, 0.5], jac=lambda x: np.diag(exponential(x)),
        xtol=1e-13, ftol=1e-13, gtol=1e-13,
    )  # fmt: skip
    return found.x.sum() + last[1] * p[0]


PROGRAMS = {
    "hybr": root("hybr"),
    "lm": root("lm"),
    "Nelder-Mead": minimum("Nelder-Mead"),
    "L-BFGS-B": minimum("L-BFGS-B"),
    "odeint": equation,
    "one point for two callbacks": same_point_twice,
}


@pytest.mark.without_modes("the numbers of calls differ, of points that are kept")
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_points_that_are_kept(f: Program) -> None:
    value, slope = value_and_grad(f)(P)
    np.testing.assert_allclose(value, f(P), rtol=1e-9)
    np.testing.assert_allclose(jvp(f, (P,), (V,))[1], slope @ V, rtol=1e-6)
    np.testing.assert_allclose(slope @ V, along(f, P, V, 1e-5), rtol=2e-3)


@pytest.mark.parametrize("name", ["hybr", "odeint"])
def test_them_in_other_modes(name: str) -> None:
    f = PROGRAMS[name]
    slope = grad(f)(P)
    np.testing.assert_allclose(grad(f, debug=True)(P), slope, rtol=1e-6)
    np.testing.assert_allclose(grad(lambda p: checkpoint(f, p))(P), slope, rtol=1e-6)


@pytest.mark.parametrize("method", ["lm", "hybr"])
def test_an_equation_that_depends_on_what_the_solver_writes(method: str) -> None:
    def f(p: Any) -> Any:
        first: list[Any] = []

        def residual(x: Any) -> Any:
            if not first:
                first.append(x)
            return x - first[0] - 0.5 * (p - x)

        return optimize.root(residual, p * 0.5, method=method).x.sum()

    for derivative in (lambda: grad(f)(P), lambda: jvp(f, (P,), (V,))):
        with pytest.raises(SolverError):
            derivative()
