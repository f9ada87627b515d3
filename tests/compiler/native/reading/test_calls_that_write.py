"""Calls that write what other parts of their expression read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled
from tests.compiler.native.reading.decided import agrees

pytestmark = pytest.mark.plain

X = np.array([0.7, -1.2, 0.4, 1.5, -0.3])


def scaled(x, k=2.0):
    x[0] *= k
    return x.sum()


def moved(x):
    x[1] = x[0] ** 2
    return x[1:]


def numbers(x):
    s = x[0] * scaled(x) + x[0]
    for i in range(3):
        s += scaled(x) * (i + 1) - s * scaled(x, 0.5) + x[i]
    return s


def arrays(x):
    y = (x * scaled(x)).sum() + ((x + 1) * scaled(x)).sum()
    return y + (moved(x) * x[1:] * scaled(x)).sum() * x[1]


def arguments(x):
    return math.fabs(max(x[0], scaled(x), x[0]) - scaled(x, x[0]))


def tuples_and_tests(x):
    a, b, c = x[0], scaled(x), x[0]
    t = (x[0] * 2, scaled(x), x[1:] * 1.0, moved(x))
    if x[0] > scaled(x, 3.0):
        return x[0] * a
    return a * b * c + t[0] * t[1] + t[2].sum() * t[3].sum()


def loops_with_tests(x):
    k = 0
    while x[0] + scaled(x) * 2 < 50 and k < 4:
        k += 1
    return x.sum() * k


def picked_by_index(x):
    y = x[[2, 0, 1]] * scaled(x)
    return (x * np.arange(5)).sum() + y[0]


class Total:
    def __init__(self, a):
        self.a = a
        self.n = 0
        self.all = np.zeros(3)

    def step(self, t):
        self.a = self.a * t
        self.n += 1
        self.all[self.n - 1] += self.a
        return self.a


def attributes(x):
    o = Total(x[0])
    s = o.a * o.step(x[1]) + o.a * o.n + o.step(x[2]) * o.n
    return s + o.all.sum() * o.a


COMPILED = [
    numbers, arrays, arguments, tuples_and_tests, loops_with_tests, picked_by_index, attributes,
]  # fmt: skip


@pytest.mark.parametrize("f", COMPILED)
def test_each_part_is_what_it_is_when_it_is_read(f, tried):
    agree(f)
    require_compiled(f, tried)


def an_element_that_is_read_before(x):
    x[1] += scaled(x) * x[0]
    return x.sum()


def what_may_not_run(x):
    return x[0] + (scaled(x) if x[2] > 0 else x[1] * scaled(x)) * x[0]


def what_a_mask_picks(x):
    x[x > 0] = x[x > 0] * scaled(x)
    return (x * np.arange(5)).sum()


def items_of_a_list(x):
    return sum([scaled(x) * x[0] for _ in range(3)]) + x[0]


@pytest.mark.parametrize(
    "f", [an_element_that_is_read_before, what_may_not_run, what_a_mask_picks, items_of_a_list]
)
def test_other_writes_agree(f, tried):
    agree(f)
    report(f)


def agree(f: Any) -> None:
    """Require the value, gradient, `jvp` and `hvp` of the run without compilation."""
    value, g = value_and_grad(f, compile=True)(X.copy())
    assert_allclose(value, f(X.copy()), rtol=1e-12)
    assert_allclose(g, value_and_grad(f)(X.copy())[1], rtol=1e-11)
    for derivative, args in ((jvp, ((X.copy(),), (np.cos(X),))), (hvp, ((X.copy(),), np.cos(X)))):
        found, expected = (derivative(f, *args, compile=way) for way in (True, False))
        assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


class Bumped:
    def __init__(self, t):
        self.t = t
        self.seen = [t, 2.0 * t, t]

    def bump(self, v):
        self.t = 2.0 * self.t + v
        return self.t * v

    def mark(self, v):
        self.seen[2] = self.seen[2] * v
        return self.seen[2]


def beside_a_list(x):
    o = Bumped(x[0])
    return o.t + sum([o.bump(v) for v in x if v > 0.5])


def beside_items(x):
    o = Bumped(x[1])
    return o.t * max(o.bump(v) for v in x) + o.t


def alone(x):
    o = Bumped(x[2])
    values = [o.bump(v) for v in x[:3]]
    pairs = [[o.bump(u) * v for v in values] for u in (1.0, x[0])]
    return values[0] * values[2] + o.t + pairs[0][1] * pairs[1][2]


def of_what_it_writes(x):
    o = Bumped(x[3])
    found = [o.mark(v) for v in o.seen]
    return found[0] + 2.0 * found[1] + 3.0 * found[2]


@pytest.mark.parametrize("f", [beside_a_list, beside_items, alone, of_what_it_writes])
def test_comprehensions_whose_calls_write(f):
    x = np.array([0.6, 1.3, 0.8, 1.1])
    agrees(f, x)
    agrees(f, x[::-1] * 0.7)
