"""Exceptions of callbacks, which may carry numbers out of a solver."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import is_deriving, jvp, value_and_grad
from mooncake_py.errors import SolverError
from tests.support.pairs import rotating

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


@pytest.mark.parametrize(("name", "made"), rotating(SOLVERS, [by_argument, by_attribute]))
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


ADDED: dict[str, Callable[[Any], Any]] = {
    **SOLVERS,
    "curve_fit": lambda g: so.curve_fit(lambda t, a: g(a) * t, [1.0, 2.0], [1.0, 2.0])[0][0],
    "LSODA": lambda g: si.solve_ivp(lambda t, y: [g(t)], [0, 1], [1.0], "LSODA").y[0, -1],
}


@pytest.mark.parametrize(
    ("name", "kind"),
    rotating(sorted({*ADDED} - {"solve_ivp", "quad_vec"}), [Stop, StopIteration, ValueError]),
)
def test_those_of_evaluations_that_the_derivative_adds_are_refused(name: str, kind: Any) -> None:
    def f(x: Any) -> Any:
        def g(t: Any, *_: Any) -> Any:
            if is_deriving():
                raise kind("added")
            return x * t - 0.1

        try:
            return ADDED[name](g)
        except kind:
            return 0.0 * x

    f(1.5)
    with pytest.raises(SolverError, match=f"raised {kind.__name__} in an evaluation") as raised:
        value_and_grad(f)(1.5)
    assert isinstance(raised.value.__cause__, kind)
    assert "test_exceptions_of_callbacks.py" in str(raised.value)


def test_calls_are_allowed_for_a_number_of_times() -> None:
    def f(x: Any, most: int) -> Any:
        calls = [0]

        def slope(y: Any, t: Any) -> Any:
            calls[0] += 1
            if calls[0] > most:
                raise Stop(calls[0])
            return -(y**3 + y - x)

        return si.odeint(slope, [1.0], [0.0, 1.0])[-1, 0]

    assert f(2.0, 4) == 1.0
    with pytest.raises(SolverError, match="slope raised Stop in an evaluation"):
        value_and_grad(f)(2.0, 4)


def test_handlers_of_signals_raise_what_they_raise() -> None:
    def alarm(*_: Any) -> None:
        raise Stop("late")

    def f(x: Any) -> Any:
        def g(t: Any) -> Any:
            if is_deriving():
                signal.raise_signal(signal.SIGUSR1)
            return x * t - 0.1

        return so.brentq(g, 0, 3)

    before = signal.signal(signal.SIGUSR1, alarm)
    try:
        with pytest.raises(Stop, match="late"):
            value_and_grad(f)(1.5)
    finally:
        signal.signal(signal.SIGUSR1, before)
