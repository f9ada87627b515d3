"""Callbacks that remember the point at which the solver has called them first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")

from mooncake_py import SolverError, checkpoint, grad, hessian, jvp, value_and_grad  # noqa: E402
from tests.solvers.differences import along  # noqa: E402

Program = Callable[[Any], Any]


def scaled_by_first_value(a: Any) -> Any:
    scale: list[Any] = []

    def r(x: Any) -> Any:
        v = x**3 - a
        if not scale:
            scale.append(abs(v))
        return v / scale[0]

    return optimize.brentq(r, 0.1, 5.0, xtol=1e-13)


def scaled_in_variable(a: Any) -> Any:
    first = None

    def r(x: Any) -> Any:
        nonlocal first
        v = x**3 - a * np.ones(2)
        if first is None:
            first = np.abs(v).max()
        return v / first

    return optimize.fsolve(r, np.array([0.5, 2.0]), xtol=1e-13).sum()


def objective_over_first_value(a: Any) -> Any:
    first = None

    def value(x: Any) -> Any:
        nonlocal first
        v = np.sum((x - a) ** 2) + 0.1 * np.sum(x**4)
        if first is None:
            first = v
        return v / first

    return optimize.minimize(value, np.zeros(2), tol=1e-10).x.sum()


def near_first_point(a: Any) -> Any:
    first: list[Any] = []

    def r(x: Any) -> Any:
        if not first:
            first.append(x)
        return x - a + 0.5 * (x - first[0])

    return optimize.newton(r, 1.1, tol=1e-13)


def near_first_point_of_vector(a: Any) -> Any:
    first: list[Any] = []

    def value(x: Any) -> Any:
        if not first:
            first.append(x.copy())
        return np.sum((x - a) ** 2) + 0.5 * np.sum((x - first[0]) ** 2)

    return optimize.minimize(value, np.array([1.1, 1.1]), tol=1e-10).x.sum()


def implicit_euler(a: Any) -> Any:
    x: Any = np.array([1.1, 1.1])
    for _ in range(3):
        previous: list[Any] = []

        def r(z: Any, previous: Any = previous) -> Any:
            if not previous:
                previous.append(z.copy())
            return z - previous[0] - 0.5 * (a - z)

        x = optimize.fsolve(r, x, xtol=1e-12)
    return x.sum()


def implicit_euler_of_number(a: Any) -> Any:
    x: Any = 1.1
    for _ in range(2):
        previous: dict[str, Any] = {}

        def r(z: Any, previous: Any = previous) -> Any:
            return z - previous.setdefault("x", z) - 0.5 * (a - z)

        x = optimize.newton(r, x, tol=1e-13)
    return x


def from_active_guess(a: Any) -> Any:
    first: list[Any] = []

    def r(z: Any) -> Any:
        if not first:
            first.append(z.copy())
        return z - a + (z - first[0]) ** 2 + 0.25 * (z - first[0])

    return optimize.fsolve(r, [a * 0.9, 0.8 * a], xtol=1e-13).sum()


def table_of_points(a: Any) -> Any:
    memo: dict[Any, Any] = {}

    def r(x: Any) -> Any:
        if x not in memo:
            memo[x] = x**3 - a
        return memo[x]

    return optimize.newton(r, a ** (1 / 3), tol=1e-13)


PROGRAMS = [scaled_by_first_value, scaled_in_variable, objective_over_first_value,
            near_first_point, near_first_point_of_vector, implicit_euler, implicit_euler_of_number,
            from_active_guess, table_of_points]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("a", [1.1, 1.5])
def test_what_the_first_call_keeps(f: Program, a: float) -> None:
    right = along(f, a, 1.0, 1e-4)
    assert value_and_grad(f)(a) == pytest.approx((f(a), right), rel=2e-4)
    assert jvp(f, (a,), (1.0,))[1] == pytest.approx(right, rel=2e-4)


@pytest.mark.parametrize("f", [scaled_by_first_value, near_first_point, implicit_euler])
def test_modes(f: Program) -> None:
    right = grad(f)(1.1)
    assert grad(f, debug=True)(1.1) == pytest.approx(right)
    assert grad(f, compile=True)(1.1) == pytest.approx(right)
    assert grad(lambda a: checkpoint(f, a))(1.1) == pytest.approx(right)
    assert hessian(f)(1.1) == pytest.approx(along(grad(f), 1.1, 1.0, 1e-4), abs=1e-4)


def test_points_that_depend_on_the_whole_way_are_refused() -> None:
    def f(a: Any) -> Any:
        calls = [0]

        def r(x: Any) -> Any:
            calls[0] += 1
            return x - a * (1.0 + 1.0 / calls[0])

        return optimize.brentq(r, -10.0, 10.0)

    with pytest.raises(SolverError, match="depends on where it was called before"):
        grad(f)(1.5)
