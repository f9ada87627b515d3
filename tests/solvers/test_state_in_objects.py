"""State of callbacks in objects and containers within others; buffers; callbacks in callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, optimize

from mooncake_py import checkpoint, jvp, value_and_grad, vjp
from tests.support.pairs import rotating

ROOTS: dict[str, Callable[[Any], Any]] = {
    "brentq": lambda r: optimize.brentq(r, 0.1, 10),
    "newton": lambda r: optimize.newton(r, 1.5),
    "fsolve": lambda r: optimize.fsolve(lambda x: [r(x[0])], [1.5])[0],
    "least_squares": lambda r: optimize.least_squares(lambda x: [r(x[0])], [1.5]).x[0],
    "odeint": lambda r: integrate.odeint(lambda y, t: r(t), 0.0, [0.0, 1.0])[-1, 0],
    "quad": lambda r: integrate.quad(r, 0, 1)[0],
}


class Counter:
    def __init__(self) -> None:
        self.calls, self.log = 0, []


class Slotted:
    __slots__ = ("calls", "log")

    def __init__(self) -> None:
        self.calls, self.log = 0, []


def by_object(solve, make):
    def f(a):
        m = make()

        def residual(x):
            m.calls += 1
            m.log.append(a)
            return x * x - a

        solve(residual)
        return (len(m.log) + m.calls) * a + sum(m.log)

    return f


def by_dict(solve):
    def f(a):
        held = {"n": 0, "log": [], "at": {}}

        def residual(x):
            held["n"] += 1
            held["log"].append(a)
            held["at"][held["n"]] = a
            return x * x - a

        solve(residual)
        return held["n"] * a + sum(held["log"]) + sum(held["at"].values())

    return f


def by_list(solve):
    def f(a):
        held = [0, []]

        def residual(x):
            held[1].append(a)
            held[0] += 1
            return x * x - a

        solve(residual)
        return held[0] * a + sum(held[1])

    return f


WAYS: dict[str, Callable[[Any], Any]] = {
    "object": lambda solve: by_object(solve, Counter),
    "slots": lambda solve: by_object(solve, Slotted),
    "dict": by_dict,
    "list": by_list,
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("way", "name"), rotating(WAYS, ROOTS, times=2))
def test_all_that_was_logged_is_found(way: str, name: str) -> None:
    f = WAYS[way](ROOTS[name])
    value = f(2.5)
    slope = value / 2.5  # each term is a number of calls times a
    assert_allclose(value_and_grad(f)(2.5), (value, slope), rtol=1e-12)
    assert_allclose(jvp(f, (2.5,), (1.0,)), (value, slope), rtol=1e-12)
    y, pullback = vjp(f, 2.5)
    assert_allclose((y, *pullback(1.0)), (value, slope), rtol=1e-12)
    assert_allclose(value_and_grad(lambda a: checkpoint(f, a))(2.5), (value, slope), rtol=1e-12)


def test_events_are_counted_as_in_the_plain_call() -> None:
    def f(a):
        n = [0]

        def event(t, y):
            n[0] += 1
            return y[0] - 0.5

        integrate.solve_ivp(lambda t, y: -a * y, (0, 2), [1.0], events=event)
        return n[0] * a

    value = f(1.2)
    assert value_and_grad(f)(1.2) == (value, value / 1.2)
    assert jvp(f, (1.2,), (1.0,)) == (value, value / 1.2)


def test_options_of_a_fit_reach_it_where_the_model_keeps_a_log() -> None:
    t = np.array([0.0, 1.0, 2.0])

    def f(d):
        log: list[int] = []

        def model(t, a, b):
            log.append(1)
            return a * np.exp(b * t)

        p, _ = optimize.curve_fit(model, t, d, p0=[1.0, 0.5], xtol=1e-12, maxfev=500)
        return p[0] + 0.0 * len(log)

    d = np.array([1.0, 2.0, 4.1])
    value, g = value_and_grad(f)(d)
    assert value == f(d)
    h = 1e-4 * np.eye(3)
    assert_allclose(g, [(f(d + e) - f(d - e)) / 2e-4 for e in h], rtol=1e-4)


@pytest.mark.parametrize("method", ["odeint", "LSODA", "RK45"])
def test_right_hand_sides_may_return_their_own_buffer(method: str) -> None:
    def f(a):
        buffer = np.zeros(2)

        def slope(t, y):
            buffer[0], buffer[1] = y[1], -a * y[0]
            return buffer

        tight: Any = {"rtol": 1e-10, "atol": 1e-10}
        if method == "odeint":
            return integrate.odeint(slope, [1.0, 0.0], [0, 0.5, 1.0], tfirst=True, **tight)[-1, 0]
        return integrate.solve_ivp(slope, (0, 1.0), [1.0, 0.0], method=method, **tight).y[0, -1]

    a = 2.0
    value, g = value_and_grad(f)(a)
    assert value == f(a)
    assert_allclose(g, -np.sin(np.sqrt(a)) / (2 * np.sqrt(a)), rtol=1e-6)


class Model:
    pass


def swapped_buffers(a):
    u, v = np.zeros(1), np.zeros(1)

    def g(x):
        nonlocal u, v
        u, v = v, u
        u[0] += a
        return x * x - a

    optimize.brentq(g, 0.0, 9.0)
    return u[0] + 100 * v[0]


def row_of_a_table(a):
    A = np.zeros((2, 3))
    row = A[0]
    n = 0

    def g(x):
        nonlocal row, n
        row = A[n % 2]
        n += 1
        row[n % 3] += a
        return x * x - a

    optimize.brentq(g, 0.0, 9.0)
    return row.sum()


def swapped_lists(a):
    u, v = [], []

    def g(x):
        nonlocal u, v
        u, v = v, u
        u.append(1.0)
        return x * x - a

    optimize.brentq(g, 0.0, 9.0)
    return len(u) + 100.0 * len(v)


def tuple_in_a_list(a):
    L = [(0, [])]

    def g(x):
        n, log = L[0]
        log.append(a)
        L[0] = (n + 1, log)
        return x * x - a

    optimize.brentq(g, 0.0, 9.0)
    return L[0][0] * a + sum(L[0][1])


def attributes_of_the_callback(a):
    def g(x):
        g.n += 1
        g.log.append(a)
        return x * x - a

    g.n = 0
    g.log = []
    optimize.brentq(g, 0.0, 9.0)
    return g.n * a + len(g.log)


def two_callbacks(a):
    m = Model()
    m.n = 0
    m.hist = []

    def fun(x):
        m.n += 1
        return (x[0] - a) ** 2

    def cb(x):
        m.hist.append(x.copy())

    optimize.minimize(fun, [0.0], callback=cb)
    return m.n * a + 100 * len(m.hist)


def right_hand_side_that_counts(a):
    m = Model()
    m.n = 0
    m.log = []

    def g(t, y):
        m.n += 1
        m.log.append(1.0)
        return -a * y

    integrate.solve_ivp(g, (0, 1), [1.0], method="LSODA")
    return m.n * a + len(m.log)


def swapped_attributes(a):
    m = Model()
    m.a = np.zeros(2)
    m.b = np.zeros(2)

    def g(x):
        m.a, m.b = m.b, m.a
        m.a[0] = a
        m.b[1] += a
        return x * x - a

    optimize.brentq(g, 0.0, 9.0)
    return m.a.sum() + 10 * m.b.sum()


@pytest.mark.parametrize("f", [
    swapped_buffers, row_of_a_table, swapped_lists, tuple_in_a_list, attributes_of_the_callback,
    two_callbacks, right_hand_side_that_counts, swapped_attributes,
], ids=lambda f: f.__name__)  # fmt: skip
def test_names_of_what_is_written_stay_names_of_it(f: Any) -> None:
    value, g = value_and_grad(f)(2.37)
    assert value == f(2.37)
    assert_allclose(g, (f(2.37 + 1e-7) - f(2.37 - 1e-7)) / 2e-7, rtol=1e-5, atol=1e-5)
