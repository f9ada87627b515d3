"""Callbacks of solvers that read active data which they did not capture: globals, attributes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy import integrate, optimize

from mooncake_py import checkpoint, implicit, jvp, value_and_grad

RATE: Any = 0.0
KEPT: list[Any] = [0.0]
ARRAY = np.zeros(2)
OBJECT = SimpleNamespace(part=SimpleNamespace(rate=0.0))


class Model:
    rate: Any = 0.0


def of_global() -> Any:
    return RATE


def of_list() -> Any:
    return KEPT[0]


def of_array() -> Any:
    return ARRAY[1]


def of_class() -> Any:
    return Model.rate


def of_object() -> Any:
    return OBJECT.part.rate


def set_all(a: Any) -> None:
    global RATE
    RATE = KEPT[0] = ARRAY[1] = Model.rate = OBJECT.part.rate = a


READS = of_global, of_list, of_array, of_class, of_object
SOLVERS: dict[str, Callable[[Any], Any]] = {
    "odeint": lambda r: integrate.odeint(
        lambda y, t: -r() * y, 1.0, [0, 1.0], rtol=1e-10, atol=1e-10
    )[-1, 0],
    "LSODA": lambda r: integrate.solve_ivp(
        lambda t, y: -r() * y, (0, 1), [1.0], method="LSODA", rtol=1e-10, atol=1e-10
    ).y[0, -1],
    "RK45": lambda r: integrate.solve_ivp(
        lambda t, y: -r() * y, (0, 1), [1.0], rtol=1e-10, atol=1e-10
    ).y[0, -1],
    "quad": lambda r: integrate.quad(lambda x: np.exp(-r() * x), 0, 1)[0],
    "quad_vec": lambda r: integrate.quad_vec(lambda x: np.array([r() * x]), 0, 1)[0][0],
    "dblquad": lambda r: integrate.dblquad(lambda x, y: r() ** 2 * x, 0, 1, 0, 1)[0],
    "brentq": lambda r: optimize.brentq(lambda x: x**3 - r(), 0, 9, xtol=1e-14),
    "fsolve": lambda r: optimize.fsolve(lambda x: x**3 - r(), [1.0], xtol=1e-14)[0],
    "least_squares": lambda r: optimize.least_squares(
        lambda x: x - r() ** 2, [1.0], xtol=1e-15, ftol=1e-15, gtol=1e-15
    ).x[0],
    "minimize_scalar": lambda r: optimize.minimize_scalar(lambda x: (x - r()) ** 2).x,
    "curve_fit": lambda r: optimize.curve_fit(
        lambda t, b: b * t + r() * t, np.arange(3.0), np.arange(3.0), p0=[1.0]
    )[0][0],
    "implicit": lambda r: implicit(lambda: float(r()) ** 0.5, lambda x: x * x - r())(),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_read_is_followed(name: str) -> None:
    for read in READS:

        def f(a: Any, read: Any = read) -> Any:
            set_all(a)
            return SOLVERS[name](read) * 2.0

        plain = f(1.7)
        slope = (f(1.7 + 1e-4) - f(1.7 - 1e-4)) / 2e-4
        set_all(0.0)
        y, dy = value_and_grad(f)(1.7)
        assert y == plain
        assert dy == pytest.approx(slope, rel=1e-5)
        assert jvp(f, (1.7,), (1.0,))[1] == pytest.approx(slope, rel=1e-5)
        assert RATE == KEPT[0] == ARRAY[1] == Model.rate == OBJECT.part.rate == 0.0


@pytest.mark.parametrize("name", SOLVERS)
def test_iterators_of_callbacks_without_active_data_move_as_in_the_plain_call(name: str) -> None:
    def of(calls: Any) -> Callable[[Any], Any]:
        def f(a: Any) -> Any:
            steps = calls()

            def read() -> float:
                next(steps)
                return 1.7

            return SOLVERS[name](read) * a + next(steps)

        return f

    for calls in (itertools.count, lambda: (k for k in range(10_000))):
        f = of(calls)
        assert value_and_grad(f)(3.0)[0] == f(3.0)


def test_within_a_checkpoint() -> None:
    def f(a: Any) -> Any:
        set_all(a)
        return checkpoint(lambda: SOLVERS["odeint"](of_global) + SOLVERS["quad"](of_class))

    slope = (f(1.7 + 1e-4) - f(1.7 - 1e-4)) / 2e-4
    assert value_and_grad(f)(1.7)[1] == pytest.approx(slope, rel=1e-5)
    set_all(0.0)
