"""Functions within functions, comprehensions, lists of numbers and objects made within."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain

X = np.array([0.3, -0.4, 0.8, 0.5])


def function_within(x, a):
    b = a * 2.0

    def g(t, power=2):
        return b * t**power + x[0]

    y = g(x[1]) + g(x[2], power=3)
    b = 5.0 * a  # which g sees
    return y + g(x[3])


def function_that_is_passed(x, a):
    def slope(u, t):
        return a * u - t * x

    def step(f, u, t, h):
        k = f(u, t)
        return u + h * f(u + 0.5 * h * k, t + 0.5 * h)

    u = x * 1.0
    for i in range(3):
        u = step(slope, u, 0.1 * i, 0.1)
    return np.sum(u * u)


def lambdas(x, a):
    square = lambda t: t * t  # noqa: E731
    both = lambda f, t: f(f(t)) + a  # noqa: E731
    return both(square, x[0]) + both(lambda t: t * x[1], x[2])


def function_that_writes(x, a):
    u = x * 1.0

    def put(k, v):
        u[k] = v * u[k]

    put(0, a)
    put(1, u[0])
    return np.sum(u)


def lists_by_loops(x, a):
    n = len(x)
    c = [a * x[i] for i in range(n)]
    d = [v * v for v in x]
    s = sum(d[i] * c[i] for i in range(n)) + max(c) * len(d) + d[-1]
    k = [i * i for i in range(n)]
    i = 2.0 * a
    return s + np.sum(np.array(c) * x) + k[3] * i + sum(v for v in c)


def lists_of_known_length(x, a):
    state = (x[0], x[1], a)
    for _ in range(3):
        k = [v * 0.5 for v in state]
        state = tuple([u + 0.1 * w * a for u, w in zip(state, k)])  # noqa: B905
    total = 0.0
    for weight, row in zip((1.0, 2.0), [x, x * a]):  # noqa: B905
        y = row * weight
        total += np.sum(y * y)
    for k, v in enumerate(state):
        total += k * v
    return total


def lists_that_are_written(x, a):
    n = len(x)
    p = [0.0] * n
    q = [1.0] * n
    count = [0] * 3
    p[0] = x[0] / a
    for i in range(1, n):
        p[i] = a * float(p[i - 1]) - x[i]
        q[i] *= a
        count[i % 3] += i
    total = 0.0
    for v in p:
        total += v * v
    return total + q[2] * q[-1] + count[1]


class Spring:
    stiffness = 2.0

    def __init__(self, x, damping, steps=3):
        self.x = x
        self.v = 0.0
        self.damping = damping
        self.size = steps
        self.count = 0

    def step(self, dt):
        force = -self.stiffness * self.x - self.damping * self.v
        self.v += dt * force
        self.x += dt * self.v
        self.count += 1

    def run(self, dt):
        path = np.zeros(self.size)
        for i in range(self.size):
            self.step(dt)
            path[i] = self.x
        return np.sum(path) * self.count


def objects_made_within(x, a):
    total = Spring(x[0], a).run(0.1)
    for i in range(len(x)):
        s = Spring(x[i], 0.2, 4)
        y = s.run(0.05)
        total += y * s.damping
    return total


def names_that_are_deleted(x, a):
    y = x * a
    z = y + 1.0
    del y
    for v in z:
        a = a + v
    else:
        a = a * 2.0
    return a


def added_at_places(x, a):
    y = np.zeros(3)
    np.add.at(y, np.array([0, 2, 0, 1]), x * x)
    np.add.at(y, np.array([1, 1]), a)
    return np.sum(y**2)


FUNCTIONS = [
    function_within, function_that_is_passed, lambdas, function_that_writes, lists_by_loops,
    lists_of_known_length, lists_that_are_written, objects_made_within, names_that_are_deleted,
    added_at_places,
]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_mode(f: Any, tried: list[bool]) -> None:
    along = np.cos(X), 0.3
    value, g = value_and_grad(f, (0, 1), compile=True)(X.copy(), 0.7)
    expected, h = value_and_grad(f, (0, 1))(X.copy(), 0.7)
    assert report(f)[0].found == "compiled", report(f)
    assert type(value) is type(expected)
    assert_allclose(value, expected, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    found = jvp(f, (X, 0.7), along, compile=True)
    assert_allclose(found, jvp(f, (X, 0.7), along), rtol=1e-10)
    second = hvp(f, (X, 0.7), along, (0, 1), compile=True)
    for a, b in zip(second, hvp(f, (X, 0.7), along, (0, 1)), strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert all(tried)


@pytest.mark.slow
@pytest.mark.parametrize("f", FUNCTIONS[::3], ids=lambda f: f.__name__)
def test_compiled_by_llvm(f: Any) -> None:
    found = grad(f, (0, 1), compile=True)(X.copy(), 0.7)
    for a, b in zip(found, grad(f, (0, 1))(X.copy(), 0.7), strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    assert report(f)[0].found == "compiled", report(f)


def counting(x, a):
    n = 0

    def count():
        nonlocal n
        n += 1
        return a

    return count() * n * x[0]


def given_back(x, a):
    y = [a * v for v in x]
    return y[0] * y[1], y


def grown(x, a):
    y = [a, a]
    z = y
    z[0] = x[0]
    return y[0] * a


def made_twice(x, a):
    one, two = Spring(x[0], a), Spring(x[1], a)
    for _ in range(2):
        one, two = two, one
        one.x = one.x * 2.0
    return one.x * two.x * two.x


def later_element(x, a):
    fs = (lambda t: t * a, lambda t: t * x[0])
    a = 2.0 * a
    return fs[0](x[1]) * fs[1](x[2])


@pytest.mark.parametrize(
    "f", [counting, grown, made_twice, later_element], ids=lambda f: f.__name__
)
def test_what_is_unusual_is_right(f: Any, tried: list[bool]) -> None:
    found = value_and_grad(f, (0, 1), compile=True)(X.copy(), 0.7)
    expected = value_and_grad(f, (0, 1))(X.copy(), 0.7)
    assert_allclose(found[0], expected[0], rtol=1e-12)
    for a, b in zip(found[1], expected[1], strict=True):
        assert_allclose(a, b, rtol=1e-10)


def test_lists_are_given_back_as_lists(tried: list[bool]) -> None:
    def f(x, a):
        return x[0] * a, [a, x[1], (2.0,)]

    for of in (f, given_back):
        found = value_and_grad(of, has_aux=True, compile=True)(X.copy(), 0.7)
        expected = value_and_grad(of, has_aux=True)(X.copy(), 0.7)
        assert type(found[0][1]) is list
        assert repr(found[0][1]) == repr(expected[0][1])


def test_errors_are_those_of_the_program(tried: list[bool]) -> None:
    def index(x):
        y = [v * 2.0 for v in x]
        return y[7]

    def zero(x):
        y = [0.0] * 2
        return float(x[0]) / y[1]

    for f, error in ((index, IndexError), (zero, ZeroDivisionError)):
        with pytest.raises(error):
            grad(f, compile=True)(copy.copy(X))
    assert tried == [False, False]


def rotated(state, h):
    x, y = state
    state = (x - h * y, y + h * x)
    return state, x


def tuples_that_change(x, a):
    state = (x[0], x[1])
    pair = (x * 1.0, (a, 2.0))
    for _ in range(3):
        state, old = rotated(state, 0.1)
        state = (state[1], state[0])
        pair = (pair[0] * 0.5 + x, (pair[1][1], pair[1][0] * a))
        if old > 0.2:
            state = (state[0] * a, old)
    while state[0] < 3.0:
        state = (state[0] + 1.0, state[1])
    return state[0] * state[1] + pair[0] @ x + pair[1][0]


@pytest.mark.parametrize("a", [0.7, -1.5])
def test_tuples_that_change(a: float, tried: list[bool]) -> None:
    f = tuples_that_change
    value, g = value_and_grad(f, (0, 1), compile=True)(X.copy(), a)
    expected, h = value_and_grad(f, (0, 1))(X.copy(), a)
    assert report(f)[0].found == "compiled", report(f)
    assert_allclose(value, expected, rtol=1e-12)
    for p, q in zip(g, h, strict=True):
        assert_allclose(p, q, rtol=1e-10, atol=1e-13)


def test_zip_of_tuples_that_must_be_of_one_length(tried: list[bool]) -> None:
    def f(x, more):
        total = 0.0
        pairs = (2.0, 3.0, 1.0) if more else (2.0, 3.0)
        for weight, v in zip(pairs, (x[0], x[1]), strict=True):
            total += weight * v
        return total

    assert_allclose(grad(f, compile=True)(X, False), [2.0, 3.0, 0.0, 0.0])
    assert tried == [True]
    with pytest.raises(ValueError, match="zip"):
        grad(f, compile=True)(X, True)
