"""Differential equations by LSODA."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    MissingRuleError,
    SolverError,
    checkpoint,
    grad,
    hvp,
    is_deriving,
    jvp,
    value_and_grad,
)

pytest.importorskip("scipy")
from scipy import integrate as si

from tests.solvers.differences import along, slow_but

A = np.array([1.2, 0.5, 0.7])
V = np.array([1.0, 2.0, 3.0])
T = np.linspace(0, 2, 7)
TIGHT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}


def hunted(y: Any, t: Any, a: Any, b: Any) -> Any:
    return [a * y[0] - b * y[0] * y[1], -y[1] + 0.5 * y[0] * y[1]]


def reacting(t: Any, y: Any, k: Any) -> Any:
    a, b, c = 0.04 * k[0] * y[0], 1e4 * k[1] * y[1] * y[2], 3e7 * k[2] * y[1] ** 2
    return np.array([-a + b, a - b - c, c])


def driven(a: Any) -> Callable[[Any, Any], Any]:
    return lambda t, y: -a[0] * y + np.sin(a[1] * t)


def by_odeint(a: Any, t: Any, **options: Any) -> Any:
    return si.odeint(driven(a), a[2], t, tfirst=True, **TIGHT, **options)


def by_lsoda(a: Any, t_span: Any, **options: Any) -> Any:
    return si.solve_ivp(driven(a), t_span, [a[2]], "LSODA", **TIGHT, **options)


SOLUTIONS: dict[str, Callable[[Any], Any]] = {
    "odeint": lambda a: si.odeint(hunted, [a[2], 1.0], T, args=(a[0], a[1]), **TIGHT),
    "one": lambda a: si.odeint(lambda y, t: driven(a)(t, y), a[2], T, **TIGHT),
    "tfirst": lambda a: by_odeint(a, T),
    "full output": lambda a: by_odeint(a, T, full_output=True)[0],
    "backwards": lambda a: by_odeint(a, -T),
    "at times": lambda a: by_odeint(a, T * a[0] + a[1]),
    "LSODA": lambda a: by_lsoda(a, (0, 2), t_eval=T).y,
    "limits": lambda a: by_lsoda(a, (a[1], a[0])).y[:, -1],
    "times": lambda a: by_lsoda(a, (a[1], a[0])).t[[0, -1]],
    "of the class": lambda a: si.solve_ivp(driven(a), (0, 1), [a[2]], si.LSODA, **TIGHT).y[0, -1],
    "other methods": lambda a: si.solve_ivp(driven(a), (0, 1), [a[2]], **TIGHT).y[0, -1],
}
STIFF: dict[str, Callable[[Any], Any]] = {
    "odeint": lambda a: si.odeint(
        reacting, [1.0, 0, 0], [0, 0.4, 10], args=(a,), tfirst=True, rtol=1e-7, atol=1e-9
    ),
    "LSODA": lambda a: si.solve_ivp(
        reacting, (0, 10.0), [1.0, 0, 0], "LSODA", args=(a,), rtol=1e-7, atol=1e-9
    ).y[:, -1],
}


def weighed(solution: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(a: Any) -> Any:
        y = np.ravel(solution(a))
        return np.sum(y * np.cos(np.arange(len(y))))

    return f


@pytest.mark.sampled(4)
@pytest.mark.without_modes("they are as precise as the solver")
@pytest.mark.parametrize("name", SOLUTIONS)
def test_against_differences(name: str) -> None:
    f = weighed(SOLUTIONS[name])
    value, gradient = value_and_grad(f)(A)
    assert value == f(A)
    assert gradient @ V == pytest.approx(along(f, A, V), rel=1e-6, abs=1e-6)
    assert jvp(f, (A,), (V,))[1] == pytest.approx(gradient @ V, rel=1e-9)


@pytest.mark.thorough
@pytest.mark.without_modes("they are as precise as the solver")
@pytest.mark.parametrize("name", slow_but(["limits", "of the class"], SOLUTIONS))
def test_second_derivatives_against_differences(name: str) -> None:
    f = weighed(SOLUTIONS[name])
    expected = pytest.approx(along(lambda a: grad(f)(a) @ V, A, V), rel=1e-5, abs=1e-6)
    assert hvp(f, (A,), V) @ V == expected


@pytest.mark.thorough
@pytest.mark.without_modes("they are as precise as the solver")
@pytest.mark.parametrize("name", STIFF)
def test_stiff(name: str) -> None:
    f = weighed(STIFF[name])
    value, gradient = value_and_grad(f)(A)
    assert value == f(A)
    assert gradient @ V == pytest.approx(along(f, A, V, 1e-2), rel=1e-3, abs=1e-4)


def test_exponential() -> None:
    found = grad(lambda k: si.odeint(lambda y, t: -k * y, 1.0, [0.0, 2.0], **TIGHT)[-1, 0])(0.5)
    assert found == pytest.approx(-2 * math.exp(-1), rel=1e-7)


def test_constants_are_not_looked_at() -> None:
    y = si.odeint(lambda y, t: -abs(y), 1.0, [0.0, 2.0])[-1, 0]

    def f(a: Any) -> Any:
        by_class = si.solve_ivp(lambda t, y: -y, (0, 1), [1.0], "LSODA", dense_output=True)
        assert by_class.sol(0.5).shape == (1,)
        return a * si.odeint(lambda y, t: -abs(y), 1.0, [0.0, 2.0])[-1, 0]

    assert grad(f)(2.0) == y


def test_dense_output_is_refused() -> None:
    def f(a: Any) -> Any:
        return by_lsoda(a, (0, 2), dense_output=True).sol(0.3)[0]

    with pytest.raises(MissingRuleError, match="dense output") as caught:
        grad(f)(A)
    assert caught.value.where is not None
    assert "BDF" in caught.value.fix


@pytest.mark.without_modes("it asks for the mode")
def test_methods_that_do_not_agree() -> None:
    def f(a: Any) -> Any:
        def differs(y: Any, t: Any) -> Any:
            return a * y if is_deriving() else 2 * a * y

        return si.odeint(differs, 1.0, [0.0, 1.0])[-1, 0]

    with pytest.raises(SolverError, match="agree"):
        grad(f)(1.0)


TIMES = np.linspace(0.0, 2.0, 21)
FORCING = np.sin(TIMES)


def forced(a: float) -> Any:
    tight: Any = {"rtol": 1e-9, "atol": 1e-9}
    y = si.odeint(lambda y, t: -a * y + np.interp(t, TIMES, FORCING), 1.0, [0.0, 1.0], **tight)
    return y[-1, 0]


def forced_and_stiff(a: float) -> Any:
    tight: Any = {"rtol": 1e-8, "atol": 1e-8, "mxstep": 50_000}
    y = si.odeint(
        lambda y, t: [-300 * (y[0] - a * np.interp(t, TIMES, FORCING)), y[0]],
        [1.0, 0.0], [0.0, 1.0], **tight,
    )  # fmt: skip
    return y[-1, 1]


@pytest.mark.parametrize("f", [forced, pytest.param(forced_and_stiff, marks=pytest.mark.slow)])
def test_kinks_of_a_forcing_do_not_enter_by_the_sizes_of_steps(f: Any) -> None:
    expected = (f(2.37 + 1e-4) - f(2.37 - 1e-4)) / 2e-4
    np.testing.assert_allclose(value_and_grad(f)(2.37), (f(2.37), expected), rtol=2e-4)
    np.testing.assert_allclose(jvp(f, (2.37,), (1.0,)), (f(2.37), expected), rtol=2e-4)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "Radau", "BDF"])
def test_events_with_further_arguments_are_called_as_often(method: str) -> None:
    def f(x: Any) -> Any:
        calls: list[float] = []

        def event(t: Any, y: Any, a: Any) -> Any:
            calls.append(float(t))
            return y[0] - 0.3

        solution = si.solve_ivp(
            lambda t, y, a: -a * y, (0, 3), [1.0], method, events=event, args=(x,), **TIGHT
        )
        return solution.t_events[0][0], calls

    value, calls = f(2.0)
    (found, seen), slope = value_and_grad(f, has_aux=True)(2.0)
    assert (found, seen) == (value, calls)
    assert slope == pytest.approx(math.log(0.3) / 4, rel=1e-6)


def stepped(method: Any) -> Callable[..., Any]:
    """Return a function that steps through a solution, looks within the steps and stops early."""

    def f(y0: Any) -> Any:
        solver, total = method(lambda t, y: -y * y[0] + np.sin(t), 0.0, y0, 2.0, rtol=1e-7), 0.0
        while solver.status == "running" and solver.y[0] > 0.35:
            solver.step()
            middle = (solver.t_old + solver.t) / 2
            total = total + np.sum(solver.dense_output()(middle) ** 2) * solver.step_size
        return total + solver.y @ np.arange(len(y0))

    return f


@pytest.mark.parametrize("method", [si.RK23, si.RK45, si.DOP853, si.Radau, si.BDF])
def test_steps_by_hand(method: Any) -> None:
    f, y0 = stepped(method), np.array([1.1, 2.0])
    value, gradient = value_and_grad(f)(y0)
    assert value == f(y0)
    for i, e in enumerate(np.eye(2)):
        difference = (f(y0 + 1e-5 * e) - f(y0 - 1e-5 * e)) / 2e-5
        assert gradient[i] == pytest.approx(difference, rel=1e-4)
        assert jvp(f, (y0,), (e,))[1] == pytest.approx(gradient[i], rel=1e-9)
    assert grad(lambda y: checkpoint(f, y))(y0) == pytest.approx(gradient, rel=1e-12)


def test_solvers_that_keep_their_state_in_compiled_code_are_refused() -> None:
    def by_ode(y0: Any) -> Any:
        solver = si.ode(lambda t, y: -y).set_integrator("dopri5").set_initial_value(y0)
        return np.sum(solver.integrate(1.0))

    for f in (stepped(si.LSODA), by_ode):
        with pytest.raises(MissingRuleError, match="cannot be differentiated") as caught:
            grad(f)(np.array([1.1, 2.0]))
        assert "solve_ivp" in caught.value.fix
        assert f(np.ones(2)) == grad(lambda x, f=f: x * f(np.ones(2)))(1.0)


@pytest.mark.parametrize(("begin", "end", "times"), [
    (0.0, 1.0, [0.5, 1.0]), (0.0, 1.0, [0.003, 0.9]), (1.0, -0.5, [0.4, -0.3]), (0.0, 1.0, [0.7]),
    (0.0, 1.0, [0.0, 0.5]),
])  # fmt: skip
def test_times_that_do_not_begin_at_the_start(begin, end, times):
    # y' = -k t y from y(t0) = y0: y = y0 exp(k (t0^2 - t^2) / 2)
    def f(y0, k, t0):
        solution = si.solve_ivp(
            lambda t, y: -k * t * y, (t0, end), [y0], method="LSODA", t_eval=times,
            rtol=1e-10, atol=1e-12,
        )  # fmt: skip
        return solution.y[0, -1] * 2.0 + solution.y[0, 0]

    y0, k = 1.3, 0.8
    moving = np.array([times[-1], times[0]])
    weights = np.array([2.0, 1.0]) * np.exp(k * (begin**2 - moving**2) / 2)
    value, (of_y0, of_k, of_t0) = value_and_grad(f, argnums=(0, 1, 2))(y0, k, begin)
    np.testing.assert_allclose(value, y0 * weights.sum(), rtol=1e-7)
    np.testing.assert_allclose(of_y0, weights.sum(), rtol=1e-6)
    np.testing.assert_allclose(of_k, y0 * (weights * (begin**2 - moving**2) / 2).sum(), rtol=1e-6)
    expected = y0 * weights.sum() * k * begin
    if times[0] != begin:  # else the first value is the initial one
        np.testing.assert_allclose(of_t0, expected, rtol=1e-5, atol=1e-8)
    _, moved = jvp(f, (y0, k, begin), (1.0, 0.5, None))
    np.testing.assert_allclose(moved, of_y0 + 0.5 * of_k, rtol=1e-6)
