"""Steps that are joined for the derivative of the solution of a differential equation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jacobian

pytest.importorskip("scipy")
from scipy import integrate as si

from mooncake_py.integrations.scipy.solvers.long_steps import (
    Known,
    Linearised,
    linearised_along,
    rule_of_gauss,
)

TIGHT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("count", [1, 7, 16])
def test_rule_integrates_polynomials(count: int) -> None:
    rule = rule_of_gauss(count)
    places = np.array([0.0, 0.3, 1.0])
    for k in range(count):
        integrals = rule.weights_at(places) @ rule.nodes**k
        assert integrals == pytest.approx(places ** (k + 1) / (k + 1), abs=1e-14)
    assert rule.within @ np.ones(count) == pytest.approx(rule.nodes, abs=1e-14)


def steps_along(matrix: Any, forcing: Any, y0: Any, end: float) -> tuple[Any, Linearised]:
    matrix = np.array(matrix)

    def slope(t: float, y: Any) -> Any:
        return matrix @ y + forcing(t)

    def evaluate(nodes: Any) -> Any:
        slopes = np.array([slope(t, y) for t, y in nodes])
        return slopes, np.broadcast_to(matrix, (len(nodes), *matrix.shape))

    found = si.solve_ivp(slope, (0.0, end), y0, "DOP853", dense_output=True, **TIGHT)
    return found, linearised_along(Known(found), evaluate, 1e-9, 1e-9)


@pytest.mark.parametrize("end", [3.0, -3.0])
def test_dense_output(end: float) -> None:
    found: Any = si.solve_ivp(
        lambda t, y: [y[1], -y[0]], (0.0, end), [1.0, 0.0], "DOP853", dense_output=True, **TIGHT
    )
    times = np.concatenate([found.t, np.linspace(0.0, end, 50)])
    assert Known(found)(times) == pytest.approx(found.sol(times).T, abs=1e-14)


def test_smooth_steps_are_joined() -> None:
    found, steps = steps_along([[0.0, 1.0], [-1.0, 0.0]], lambda t: 0.0, [1.0, 0.0], 60.0)
    assert steps.states.shape[1] == 16
    assert steps.slopes[..., 0].size < 0.5 * 7 * (len(found.t) - 1)
    assert np.array_equal(steps.spans[1:, 0], steps.spans[:-1, 1])
    assert steps.lengths.sum() == pytest.approx(60.0)


def test_kinks_take_no_more_nodes_than_the_steps_that_are_known() -> None:
    table = np.random.default_rng(3).standard_normal(40)
    times = np.arange(40) * 0.1
    found, steps = steps_along([[-1.0]], lambda t: np.interp(t, times, table), [1.0], 3.9)
    assert steps.slopes.size <= 7 * (len(found.t) - 1)


def test_steps_are_short_where_changes_of_the_start_die_out() -> None:
    found, steps = steps_along([[-80.0]], lambda t: 80.0 + 0.0 * t, [1.0], 6.0)
    assert np.all(found.y == 1.0)  # the solution does not show it
    assert steps.lengths[0] < 0.2 < np.max(steps.lengths)


@pytest.mark.without_modes("they are as precise as the solver")
def test_oscillator() -> None:
    t = np.linspace(0.0, 40.0, 9)

    def f(x: Any) -> Any:
        y = si.odeint(lambda y, t: [y[1], -x[0] * x[0] * y[0]], [x[1], 0.0], t, **TIGHT)
        return y[:, 0]

    found = jacobian(f)(np.array([1.3, 0.5]))
    assert found[:, 0] == pytest.approx(-0.5 * t * np.sin(1.3 * t), abs=1e-6)
    assert found[:, 1] == pytest.approx(np.cos(1.3 * t), abs=1e-7)


@pytest.mark.without_modes("they are as precise as the solver")
@pytest.mark.parametrize("t", [0.01, 0.1, 2.0])
def test_transient_that_the_solution_does_not_show(t: float) -> None:
    def f(y0: Any) -> Any:
        y = si.odeint(lambda y, t: -20.0 * (y - 1.0), y0, [0.0, t, 3.0], **TIGHT)
        return y[1, 0]

    assert grad(f)(1.0) == pytest.approx(math.exp(-20.0 * t), abs=1e-8)


@pytest.mark.without_modes("they are as precise as the solver")
def test_dose_that_begins_at_a_given_time() -> None:
    def f(rate: Any) -> Any:
        def slope(y: Any, t: Any) -> Any:
            return -rate * y + (1.0 if t > 0.3 else 0.0)

        return si.odeint(slope, 0.0, [0.0, 0.3, 1.0], **TIGHT)[-1, 0]

    expected = 0.7 * math.exp(-0.84) / 1.2 - (1 - math.exp(-0.84)) / 1.44
    assert grad(f)(1.2) == pytest.approx(expected, rel=1e-4)


@pytest.mark.without_modes("they are as precise as the solver")
def test_solution_that_grows_from_a_small_one() -> None:
    def f(b: Any) -> Any:
        slope = lambda y, t: -y + np.sin(b * t)  # noqa: E731
        return si.odeint(slope, 1.0, [0.0, -15.0], rtol=1e-6, atol=1e-6)[-1, 0]

    def closed(b: float) -> float:
        square = 1 + b * b
        oscillating = math.sin(-15 * b) - b * math.cos(-15 * b)
        return math.exp(15) * (1 + b / square) + oscillating / square

    expected = (closed(4.0 + 1e-5) - closed(4.0 - 1e-5)) / 2e-5
    assert grad(f)(4.0) == pytest.approx(expected, rel=1e-3)
