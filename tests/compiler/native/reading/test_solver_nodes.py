"""Solvers of SciPy within compiled functions, which call functions and objects of the program's."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import value_and_grad
from mooncake_py.compiler.native.site import report
from mooncake_py.compiler.sites.pace import met
from tests.compiler.native.reading.every_way import POINT, require_whole

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")
pytestmark = pytest.mark.plain

RATES = {"A": 0.5, "B": 1.5}


class Decay:
    def __init__(self, rate, floor):
        self.rate = rate
        self.floor = floor
        self.calls = 0

    def __call__(self, t, y):
        self.calls += 1
        dydt = np.empty(len(y))
        dydt[0] = -self.rate * y[0] * RATES["B"] + self.floor
        dydt[1:] = self.rate * y[:-1] - y[1:]
        return dydt

    def survival(self, t):
        return math.exp(-self.rate * t) + self.floor


def roots_in_a_loop(x, a):
    total = 0.0
    for k in range(3):

        def excess(y, shift=x[1]):
            return math.exp(y) * a + x[0] * y - 1.0 + shift * (k + 1)  # noqa: B023

        y = optimize.brentq(excess, -4.0, 4.0, xtol=1e-13)
        total += y * y * x[2]
    return total


def areas(x, a):
    decay = Decay(x[0] + 1.0, a)
    area, _ = integrate.quad(decay.survival, 0.0, 1.0 + x[2])
    other = integrate.quad(lambda t, scale: math.sin(scale * t) * x[3], 0.0, 1.0, args=(a,))
    return area * other[0] + decay.rate


def equations(x, a):
    decay = Decay(a, x[2])
    event: Any = lambda t, y: y[0] - y[1]  # noqa: E731
    event.direction = -1
    found = integrate.solve_ivp(
        decay, (0.0, 2.0), x + 1.0, t_eval=np.linspace(0.5, 2.0, 4), events=event, rtol=1e-9
    )
    if not found.success:
        raise RuntimeError
    crossed = found.t_events[0]
    late = crossed[0] if len(crossed) else 1.0
    return np.sum(found.y[:, -1] ** 2) + 0.1 * late + found.t[0]


def slope(y, t, rates, scale):
    return np.array([-rates[0] * y[0], rates[0] * y[0] - rates[1] * scale * y[1]])


def by_lsoda(x, a):
    y = integrate.odeint(
        slope, np.array([1.0, x[0]]), np.linspace(0.0, 1.0, 5), args=([a, 0.3], x[2]), rtol=1e-10,
        atol=1e-10,
    )  # fmt: skip
    return np.sum(y[-1] * np.array([1.0, 2.0])) * a


def bound(x, k, y):
    return y + k * np.tanh(y) - x[:2]


def systems(x, a):
    y = optimize.fsolve(partial(bound, x, a), np.zeros(2), xtol=1e-13)
    z = optimize.root(lambda z: z**3 + z - x[2:], np.zeros(2), tol=1e-13)
    return y @ z.x


@pytest.mark.parametrize("f", [roots_in_a_loop, areas, systems])
def test_whole_and_right_in_all_modes(f: Callable[..., Any], tried: list[bool]) -> None:
    require_whole(f, tried)


@pytest.mark.parametrize("f", [equations, by_lsoda])
def test_differential_equations(f: Callable[..., Any], tried: list[bool]) -> None:
    x, a = POINT
    for k in (1.0, 1.1):
        value, g = value_and_grad(f, (0, 1), compile=True)(k * x, a)
        expected, h = value_and_grad(f, (0, 1))(k * x, a)
        assert_allclose(value, expected, rtol=1e-9)
        for p, q in zip(g, h, strict=True):
            assert_allclose(p, q, rtol=1e-6, atol=1e-9)
    assert report(f)[0].found == "compiled", report(f)
    assert tried
    assert all(tried)


LOG: list[float] = []


def logged(x, a):
    def f(y):
        LOG.append(float(y) if isinstance(y, float) else 0.0)
        return y**3 + a * y - x[0]

    return optimize.brentq(f, -3.0, 3.0) * x[1]


def written(x, a):
    steps = [0.0]

    def f(t):
        steps[0] += 1.0
        return math.exp(a * t)

    return integrate.quad(f, 0.0, 1.0)[0] * x[0] + 0.0 * steps[0]


def counted(x, a):
    decay = Decay(a, x[0])
    y = integrate.solve_ivp(decay, (0.0, 1.0), x).y
    return np.sum(y[:, -1]) * (1.0 if decay.calls > 5 else 2.0)


def scaled_in_place(x, a):
    buffer = x * 2.0

    def f(y):
        buffer[0] = a
        return y - buffer[0]

    return optimize.brentq(f, -3.0, 3.0) * np.sum(buffer)


@pytest.mark.parametrize("f", [logged, written, counted, scaled_in_place])
def test_functions_that_do_more_than_compute_are_not_compiled(f: Callable[..., Any]) -> None:
    x, a = POINT
    found = value_and_grad(f, (0, 1), compile=True)(x.copy(), a)
    expected = value_and_grad(f, (0, 1))(x.copy(), a)
    assert_allclose(found[0], f(x.copy(), a), rtol=1e-12)
    for p, q in zip(found[1], expected[1], strict=True):
        assert_allclose(p, q, rtol=1e-9)
    assert report(f)[0].found == "not compiled"
    assert "solver calls" in report(f)[0].why


def test_exceptions_of_the_function_pass_with_the_arguments_restored(tried: list[bool]) -> None:
    def f(x, a):
        x *= 2.0

        def g(y):
            if a > 1.0:
                raise KeyError("of the program")
            return y - x[0]

        return optimize.brentq(g, -3.0, 3.0)

    x = POINT[0].copy()
    assert value_and_grad(f, compile=True)(x, 0.5)[0] == pytest.approx(0.6)
    assert all(tried)
    with pytest.raises(KeyError, match="of the program"):
        value_and_grad(f, compile=True)(x, 1.5)
    assert_array_equal(x, POINT[0])
    with pytest.raises(ValueError, match="different signs"):
        value_and_grad(f, compile=True)(x * 100.0, 0.5)


def test_a_global_that_the_function_reads_may_change() -> None:
    def f(x, a):
        return integrate.quad(Decay(a, x[0]).survival, 0.0, RATES["A"])[0] + np.sum(
            integrate.solve_ivp(Decay(a, 0.0), (0.0, 1.0), x, rtol=1e-8).y[:, -1]
        )

    x, a = POINT
    for rate in (1.5, 2.5):
        RATES["B"] = rate
        found, expected = (value_and_grad(f, compile=way)(x, a) for way in (True, False))
        assert_allclose(found[0], expected[0], rtol=1e-12)
        assert_allclose(found[1], expected[1], rtol=1e-8)
    RATES["B"] = 1.5


def test_the_time_that_python_takes_is_told_from_that_of_compiled_code() -> None:
    """Also that of calls within calls, which counts once."""

    def inner(t):
        return integrate.quad(lambda s: s * t, 0.0, 1.0)[0]

    def f(x):
        return integrate.quad(lambda t: inner(t) * x, 0.0, 1.0)[0]

    def areas_of(x):
        return sum([f(x) for _ in range(3)])

    derivative = value_and_grad(areas_of, compile=True)
    derivative(0.5)
    before, begin = met.outside, time.perf_counter()
    assert derivative(0.5) == pytest.approx((0.375, 0.75))
    whole = time.perf_counter() - begin
    assert 0.0 < met.outside - before < whole
