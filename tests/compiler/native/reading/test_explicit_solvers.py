"""`solve_ivp` by explicit methods, the steps of which are compiled with the functions they call."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.reading import explicit_solvers
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.every_way import POINT

integrate = pytest.importorskip("scipy.integrate")
pytestmark = pytest.mark.plain


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """List which calls of `solve_ivp` are read: whether their steps were, without a stop."""
    found: list[bool] = []
    original = explicit_solvers.read

    def noted(*args: Any) -> Any:
        found.append(False)
        parts = original(*args)
        found[-1] = True
        return parts

    monkeypatch.setattr(explicit_solvers, "read", noted)
    return found


class Spring:
    def __init__(self, stiffness, friction):
        self.stiffness = stiffness
        self.friction = friction
        self.calls = 0

    def __call__(self, t, y):
        self.calls += 1
        push = 0.0
        for k in range(3):
            if k * t > 1.0:
                push += math.sin(k * t - 1.0)
        return np.array([y[1], -self.stiffness * y[0] - self.friction * y[1] + 0.1 * push])


def crossings(x, a):
    spring = Spring(x[2] + 4.0, a * 0.1)
    event: Any = lambda t, y, level: y[0] - level  # noqa: E731
    event.direction = -1
    later = partial(event, level=0.1 * x[3])
    found: Any = lambda t, y: later(t, y)  # noqa: E731
    found.direction = -1
    times = np.linspace(0.5, 4.0, 9)
    solution = integrate.solve_ivp(
        spring, (0.0, 4.0), x[:2] + 1.0, t_eval=times, events=[found], rtol=1e-9, atol=1e-9
    )
    (zeros,) = solution.t_events
    total = 0.0
    for zero in zeros:
        total += zero * zero
    return np.sum(solution.y[0] ** 2) + total * solution.t[1]


def backwards(x, a):
    def f(t, y, rates):
        return [rates[0] * y[1] * math.cos(t), -rates[1] * y[0], y[0] * y[1]]

    span = (1.0 + 0.1 * a, -0.5)
    found = integrate.solve_ivp(f, span, x[:3], "RK23", args=(x[2:] + a,), rtol=1e-7, atol=1e-9)
    return np.sum(found.y[:, -1] * found.y[:, 1]) + found.t[2]


def loosely(x, a):
    y = integrate.solve_ivp(lambda t, y: -a * y**2 + x[0] * t, [0.0, 3.0], x + 1.0, max_step=0.7).y
    return y[:, -1] @ x


def in_single_precision(x, a):
    """Two solutions in one function, one of slopes in float32 and one by the other method."""

    def f(t, y):
        return np.array([-a * y[0], x[0] * y[1]]).astype(np.float32)

    first = integrate.solve_ivp(f, (0.0, 1.0), x[:2], rtol=1e-4).y[:, -1]
    times = np.array([0.5, 1.0])
    g: Any = lambda t, y: a * y  # noqa: E731
    return first @ integrate.solve_ivp(g, (0.0, 1.0), x[2:], "RK23", times, rtol=1e-7).y[:, 0]


@pytest.mark.parametrize("f", [crossings, backwards, loosely, in_single_precision])
def test_steps_are_compiled_and_right_in_all_modes(
    f: Callable[..., Any], tried: list[bool], read: list[bool]
) -> None:
    x, a = POINT
    along = np.cos(x), 0.3
    value, g = value_and_grad(f, (0, 1), compile=True)(x, a)
    expected, h = value_and_grad(f, (0, 1))(x, a)
    assert_allclose(value, expected, rtol=1e-12)
    for p, q in zip(g, h, strict=True):
        assert_allclose(p, q, rtol=1e-9, atol=1e-12)
    found = jvp(f, (x, a), along, compile=True)
    assert_allclose(found, jvp(f, (x, a), along), rtol=1e-9)
    assert report(f)[0].found == "compiled", report(f)
    assert tried
    assert all(tried)
    second = hvp(f, (x, a), along, (0, 1), compile=True)
    for p, q in zip(second, hvp(f, (x, a), along, (0, 1)), strict=True):
        assert_allclose(p, q, rtol=1e-7, atol=1e-9)
    assert read
    assert read[-1]


PULSES: list[float] = []


def printing(x, a):
    def f(t, y):
        PULSES.append(0.0)
        return -a * y

    return np.sum(integrate.solve_ivp(f, (0.0, 1.0), x, rtol=1e-8).y[:, -1])


def ended(x, a):
    low: Any = lambda t, y: y[0] - 0.1  # noqa: E731
    low.terminal = True
    found = integrate.solve_ivp(lambda t, y: -a * y, (0.0, 9.0), x, events=low, rtol=1e-8)
    return np.sum(found.y[:, -1] ** 2) + found.t[-1]


def of_two(x, a):
    events = [lambda t, y: y[0] - 0.2, lambda t, y: y[2] - 0.5]
    found = integrate.solve_ivp(lambda t, y: -a * y, (0.0, 3.0), x, events=events, rtol=1e-8)
    return found.t_events[0][0] * found.t_events[1][0] + np.sum(found.y[:, -1])


class Counted:
    def __init__(self, rate):
        self.rate = rate
        self.calls = 0

    def __call__(self, t, y):
        self.calls += 1
        return -self.rate * y

    def often(self, t, y):
        return y[0] - (0.1 if self.calls > 20 else 0.15)


def seen_by_the_event(x, a):
    counted = Counted(a)
    found = integrate.solve_ivp(
        counted, (0.0, 3.0), x, events=lambda t, y: counted.often(t, y), rtol=1e-8
    )
    return found.t_events[0][0] + np.sum(found.y[:, -1])


def by_another(x, a):
    return np.sum(
        integrate.solve_ivp(lambda t, y: -a * y, (0.0, 1.0), x, "BDF", rtol=1e-6).y[:, -1]
    )


@pytest.mark.parametrize("f", [printing, ended, of_two, seen_by_the_event, by_another])
def test_what_is_not_served_is_called(f: Callable[..., Any], read: list[bool]) -> None:
    x, a = POINT
    value, g = value_and_grad(f, (0, 1), compile=True)(x, a)
    expected, h = value_and_grad(f, (0, 1))(x, a)
    assert not read
    assert_allclose(value, expected, rtol=1e-12)
    for p, q in zip(g, h, strict=True):
        assert_allclose(p, q, rtol=1e-9)


def decays(x, a, times, steps, rtol):
    def f(t, y):
        if t > a:
            raise ArithmeticError(f"at {steps}")
        return -y * (1 / (steps - 5))

    return np.sum(integrate.solve_ivp(f, (0.0, 1.0), x, t_eval=times, rtol=1e-8).y)


def test_what_the_solver_refuses_and_functions_raise(tried: list[bool], read: list[bool]) -> None:
    x = POINT[0].copy()
    d = value_and_grad(decays, compile=True)
    times = np.array([0.1, 0.9])
    value, g = d(x, 2.0, times, 4, 1e-8)
    expected, h = value_and_grad(decays)(x, 2.0, times, 4, 1e-8)
    assert read
    assert read[-1]
    assert_allclose(value, expected, rtol=1e-12)
    assert_allclose(g, h, rtol=1e-10)
    for t, steps, a, error, match in (
        (times[::-1].copy(), 4, 2.0, ValueError, "not properly sorted"),
        (times + 0.5, 4, 2.0, ValueError, "not within"),
        (times, 4, 0.5, ArithmeticError, "at 4"),
        (times, 5, 2.0, ZeroDivisionError, "zero"),
    ):
        with pytest.raises(error, match=match):
            d(x, a, t, steps, 1e-8)
        assert_array_equal(x, POINT[0])
    with pytest.raises(ValueError, match="must be finite"):
        d(x * np.inf, 2.0, times, 4, 1e-8)
    assert_allclose(d(x, 2.0, times, 4, 1e-8)[1], h, rtol=1e-10)


def test_a_warning_of_the_solver_comes_once(read: list[bool]) -> None:
    def f(x):
        y = integrate.solve_ivp(lambda t, y: -y * x[0], (0.0, 1.0), x, rtol=1e-15, atol=1e-9).y
        return y[0, -1]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value_and_grad(f, compile=True)(POINT[0])
    assert not read
    assert ["rtol" in str(w.message) for w in caught] == [True]


def test_another_class_and_other_rates_in_a_second_call(read: list[bool]) -> None:
    def f(rhs, x):
        return np.sum(integrate.solve_ivp(rhs, (0.0, 1.0), x[:2], rtol=1e-8).y[:, -1] ** 2)

    class Stiffer(Spring):
        def __call__(self, t, y):
            return super().__call__(t, y) * np.array([1.0, 2.0])

    x = POINT[0]
    d, e = value_and_grad(f, 1, compile=True), value_and_grad(f, 1)
    for make in (lambda: Spring(2.0, 0.1), lambda: Spring(3.0, 0.2), lambda: Stiffer(2.0, 0.3)):
        (value, g), (expected, h) = d(make(), x), e(make(), x)
        assert_allclose(value, expected, rtol=1e-12)
        assert_allclose(g, h, rtol=1e-10)
    assert report(f)
