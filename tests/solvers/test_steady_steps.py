"""Derivatives of `solve_ivp` with tight tolerances: those of the solution, also where it has kinks.

The sizes of the steps depend on the parameters, and are held constant: at kinks and jumps of the
right-hand side their derivatives are large.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, hvp, jvp, value_and_grad

pytest.importorskip("scipy")
from scipy import integrate

from tests.solvers.differences import slow_but

pytestmark = pytest.mark.without_modes("the modes are tried here")

METHODS = "RK23", "RK45", "DOP853", "Radau", "BDF"
IMPLICIT = "Radau", "BDF"  # which take long
NODES = np.linspace(0.0, 2.0, 9)
TABLE = np.sin(3.0 * NODES)
FORCING: dict[str, Callable[[Any], Any]] = {
    "table": lambda t: np.interp(t, NODES, TABLE),
    "switch": lambda t: 1.0 if t > 0.3 else 0.0,
    "saw": lambda t: abs(math.sin(9.0 * t)),
    "steps": lambda t: math.floor(5.0 * t),
}
K = 1.3
TOLERANCE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-8}


def solved(k: Any, forcing: Any, method: Any, **options: Any) -> Any:
    return integrate.solve_ivp(
        lambda t, y: -k * y + forcing(t), (0, 1), [1.0], method, **{**TOLERANCE, **options}
    )


def slope(forcing: Any, power: int = 1) -> float:
    """Return the derivative of the solution at 1 with respect to the rate, of an order."""
    points = sorted({*NODES.tolist(), 0.3, *(np.pi / 9 * np.arange(1, 3)), *(np.arange(1, 5) / 5)})
    ends = [0.0, *(p for p in points if 0.0 < p < 1.0), 1.0]
    parts = [
        integrate.quad(
            lambda s: (s - 1.0) ** power * math.exp(-K * (1.0 - s)) * forcing(s), low, high
        )[0]
        for low, high in itertools.pairwise(ends)
    ]
    return (-1.0) ** power * math.exp(-K) + sum(parts)


@pytest.mark.parametrize("method", slow_but(["RK45"], METHODS))
def test_kinks_and_jumps(method: str) -> None:
    chosen = list(FORCING)[: 2 if method in IMPLICIT else None]
    for name, forcing in ((name, FORCING[name]) for name in chosen):

        def f(k: Any, forcing: Any = forcing) -> Any:
            return solved(k, forcing, method).y[0, -1]

        y, dy = value_and_grad(f)(K)
        assert y == f(K), name
        assert dy == pytest.approx(slope(forcing), rel=5e-3), name
        assert jvp(f, (K,), (1.0,))[1] == pytest.approx(dy, rel=1e-9), name


def at_times(k: Any, forcing: Any) -> Any:
    return solved(k, forcing, "RK45", t_eval=[0.2, 1.0]).y[0, -1]


def interpolated(k: Any, forcing: Any) -> Any:
    return solved(k, forcing, integrate.DOP853, dense_output=True).sol(1.0)[0]


def with_first_step(k: Any, forcing: Any) -> Any:
    return solved(k, forcing, "RK45", first_step=0.01 * k, max_step=0.2 * k).y[0, -1]


def checked(k: Any, forcing: Any) -> Any:
    return checkpoint(lambda k: solved(k, forcing, "RK45").y[0, -1], k)


@pytest.mark.parametrize("form", [at_times, interpolated, with_first_step, checked])
def test_forms(form: Any) -> None:
    forcing = FORCING["switch"]
    y, dy = value_and_grad(lambda k: form(k, forcing))(K)
    assert y == form(K, forcing)
    assert dy == pytest.approx(slope(forcing), rel=1e-3)


def test_second_derivatives() -> None:
    forcing = FORCING["switch"]
    f = lambda k: solved(k[0], forcing, "RK45").y[0, -1]  # noqa: E731
    second = hvp(f, (np.array([K]),), np.ones(1))[0]
    assert second == pytest.approx(slope(forcing, 2), rel=1e-3)


def test_limits_and_events() -> None:
    def reached(k: Any) -> Any:
        def low(t: Any, y: Any) -> Any:
            return y[0] - 0.5

        low.terminal = True  # type: ignore[attr-defined]
        found = integrate.solve_ivp(lambda t, y: -k * y, (0, 9), [1.0], events=low, **TOLERANCE)
        return found.t_events[0][0]

    assert value_and_grad(reached)(K)[1] == pytest.approx(-math.log(2.0) / K**2, rel=1e-4)

    def between(t: Any) -> Any:
        found = integrate.solve_ivp(lambda s, y: s * y, (t[0], t[1]), [t[2]], **TOLERANCE)
        return found.y[0, -1]

    t = np.array([0.2, 1.1, 0.7])
    y, dy = value_and_grad(between)(t)
    np.testing.assert_allclose(dy, [-t[0] * y, t[1] * y, y / t[2]], rtol=1e-4)


def test_steps_of_loose_tolerances_are_part_of_the_program() -> None:
    def f(k: Any) -> Any:
        return solved(k, lambda t: t, "RK45", rtol=1e-3, atol=1e-6).y[0, -1]

    difference = (f(K + 1e-6) - f(K - 1e-6)) / 2e-6
    assert value_and_grad(f)(K)[1] == pytest.approx(difference, rel=1e-7)
