"""Loops that make functions: as one entry, unless such a function may outlast it."""

# ruff: noqa: B023, E731

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import elementwise, grad
from tests.compiler.comparing import agrees, agrees_along

X = np.random.default_rng(2).uniform(1.0, 2.0, 9)


def root(f, z):
    for _ in range(4):
        z = z - f(z) / (2.0 * z)
    return z


def defined(x):
    s = 0.0
    for k in range(len(x)):

        def g(v, w=2.0):
            return v * v * w + k * s

        s = 0.9 * s + g(x[k])
    return s


def passed(x):
    s = 0.1
    for k in range(len(x)):
        s = 0.5 * s + root(lambda z: z * z - x[k] - 0.1 * s, 1.5)
        s = s + max((x[k], x[k - 1]), key=lambda v: (v - 1.5) ** 2)
    return s * k


def bound_later(x):
    s = 0.0
    for k in range(len(x)):

        def g(v):
            return v * t

        t = x[k] * k
        s = 0.9 * s + g(x[k])
        t = 1.0
        s = s + g(x[k])
    return s * t


def on_arrays(x):
    y = x * 1.0
    for k in range(30):
        slope = lambda a: 0.5 * np.sin(a) + 0.1 * y
        first = slope(y)
        y = y + 0.1 * (first + slope(y + 0.1 * first)) * k / 30.0
    return y.sum()


def with_a_loop(x):
    s = 0.0
    for k in range(len(x)):

        def g(n):
            v = 0.0
            for j in range(n):
                v = v + x[j] * k
            return v

        s = 0.5 * s + g(3)
    return s


def generated(x):
    s = 0.0
    for k in range(1, len(x)):
        t = x[k] * x[k - 1]
        s = 0.5 * s + sum(v * t for v in x)
    return s


def read_afterwards(x):
    s = 0.0
    for k in range(len(x)):
        g = lambda v: v * k * x[k]
        s = s + g(x[k])
    return s + g(x[0])


def put_into_a_list(x):
    s, held = 0.0, []
    for k in range(len(x)):
        t = x[k] * k
        g = lambda v: v * t
        if k == 3:
            held.append(g)
        s = s + g(x[k])
    return s + held[0](x[0])


def put_into_an_object(x):
    s, held = 0.0, type("Held", (), {})()
    for k in range(len(x)):
        held.f = lambda v: v * k * x[k]
        s = s + held.f(x[k])
    return s + held.f(x[0])


def made_before(x):
    s, g = 0.0, lambda v: v
    for k in range(len(x)):
        s = s + g(x[k])
        g = lambda v: v * k
    return s


def read_by_another(x):
    def h(v):
        return v * k

    s = k = 0
    for k in range(len(x)):
        g = lambda v: h(v) * k
        s = s + g(x[k])
    return s + h(x[0])


def that_binds(x):
    s = a = 0.0
    for k in range(len(x)):

        def g(v):
            nonlocal a
            a = 0.5 * a + v
            return v * a

        s = s + g(x[k])
    return s + a


def put_aside_by_an_earlier_run(x, flags):
    s, held = 0.0, []
    for flag in flags:
        for k in range(len(x)):
            t = x[k] * k
            g = lambda v: v * t
            if flag and k == 3:
                held.append(g)
            s = s + g(x[k])
    return s + held[0](x[0])  # `t` is that of the last run


def of_the_function(x):
    def g(v):
        return a * v

    def h(v):
        return g(v) + c

    a, s, c = 0.5, 0.0, x[1]
    for k in range(len(x)):
        a = 0.9 * a + 0.01 * x[k]
        s = 0.9 * s + h(x[k]) + root(h, 1.0)
    c = 2.0
    return s * h(x[0])


def that_writes(x):
    y = np.zeros(len(x))

    def put(i, v):
        y[i] = 0.5 * y[i - 1] + v * t

    for k in range(len(x)):
        t = x[k - 1]
        put(k, x[k])
    put(2, x[3])
    return np.sum(y * y)


def bound_twice(x):
    def g(v):
        return v * v + 1.0

    if x[0] > 0.0:
        g = np.sin
    s = 0.0
    for k in range(len(x)):
        s = 0.9 * s + g(x[k])
    return s


def with_a_rule(x):
    def g(v):
        return v * v

    elementwise(g, lambda v, y: 3.0 * v)
    s = 0.0
    for k in range(len(x)):
        s = s + g(x[k])
    return s


@pytest.mark.parametrize(
    "f",
    [
        defined, passed, bound_later, on_arrays, with_a_loop, generated, of_the_function,
        that_writes,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_functions_are_read_with_their_loop(f, taken):
    agrees(f, X)
    agrees_along(f, (X,), (np.cos(X),))
    assert any(taken)


@pytest.mark.parametrize(
    "f",
    [
        read_afterwards, put_into_a_list, put_into_an_object, made_before, read_by_another,
        that_binds, bound_twice,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_functions_that_outlast_their_loop_see_what_it_has_bound(f):
    agrees(f, X)


def test_a_function_of_an_earlier_run_sees_what_a_later_one_binds(taken):
    for flags in ((True, False), (True, False, True, False)):
        agrees(put_aside_by_an_earlier_run, X, flags)
    assert len(set(taken)) == 2


def test_a_rule_of_a_function_made_before_is_used():
    for _ in range(3):
        np.testing.assert_allclose(grad(with_a_rule)(X), 3.0 * X)
