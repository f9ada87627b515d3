"""Conditions of which the first parts decide whether the others are computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

X = np.array([0.7, -1.1, 1.9, 0.4])


def scaled(u):
    for i in range(len(u)):
        u[i] *= 2.0
    return u[0] > 0


def total(u):
    s = 0.0
    for i in range(len(u)):
        s += u[i]
    return s


def writes_after_and(x, a, k):
    if a > 5.0 and scaled(x):
        a = 3.0
    return a * np.sum(x)


def writes_after_or(x, a, k):
    while a > 0.0 or (k > 5 and scaled(x)):
        a = a - 1.0
    return a * np.sum(x)


def writes_first(x, a, k):
    if scaled(x) and a > 0.0:
        a = 3.0
    return a * np.sum(x)


def end_of_a_vector(x, a, k):
    i = 0
    while i < len(x) and x[i] > -5.0:
        a *= x[i] + 2.0
        i += 1
    return a * i


def division_by_zero(x, a, k):
    if k == 2 or 1 / (k - 2) > 0:
        a = a * x[0]
    return a * a


def loops(x, a, k):
    for j in range(len(x)):
        if j > 0 and total(x[:j]) > 0.5 and not (x[j] < 0 or total(x[j:]) > 9.0):
            a *= x[j]
    return a


def named(x, a, k):
    large = (k > 5 and total(x) > 0.0) or total(x[1:]) > 0.0
    return a * x[0] if large else x[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "compiled"),
    [
        (writes_after_and, False), (writes_after_or, False), (writes_first, True),
        (end_of_a_vector, True), (division_by_zero, True), (loops, True), (named, False),
    ],
)  # fmt: skip
def test_later_parts_are_computed_only_if_the_first_do_not_decide(f, compiled, tried):
    def derivatives(compile: bool) -> list[Any]:
        x = X.copy()
        value, g = value_and_grad(f, (0, 1), compile=compile)(x, 0.7, 2)
        found = [value, *g, x]
        found.append(jvp(lambda x: f(x, 0.7, 2), (x,), (np.cos(x),), compile=compile)[1])
        return [*found, hvp(lambda x: f(x, 0.7, 2), (x,), np.cos(x), compile=compile)]

    for a, b in zip(derivatives(True), derivatives(False), strict=True):
        assert_allclose(a, b, rtol=1e-13, atol=1e-13)
    assert (report(f)[0].found == "compiled") == compiled
    assert False not in tried


class Pair(NamedTuple):
    first: float
    second: float


def in_order(x, a, k):
    total = 0.0
    for i in range(len(x)):
        low, high = (x[i], a) if x[i] < a else (a, x[i])
        a = a + 0.1 * low * high * high
        total += low * low * high
    return total


def exchanged(x, a, k):
    u, v = x[0], a
    u, v = (v, u) if u < v else (u, v)
    u, v = (u, v) if u < v else (v, u * u)
    return u * v * v


def nested(x, a, k):
    (low, at), high = ((a / x[0], 1), 2.0) if x[0] > 0 else ((np.sqrt(a), 2), x[1])
    found = Pair(low, a * high) if a > 0.5 else Pair(second=x[2], first=high * low)
    return found.first * found.second**2 * x[at]


def of_other_lengths(x, a, k):
    return len((a, a) if a > 0 else (a,)) * x[0]


@pytest.mark.parametrize("f", [in_order, exchanged, nested])
def test_one_of_two_tuples_is_chosen_item_by_item(f, tried):
    for x, a in ((X, 0.6), (-X, 0.6), (np.sort(X), 0.45)):
        value, g = value_and_grad(f, (0, 1), compile=True)(x.copy(), a, 2)
        expected, h = value_and_grad(f, (0, 1))(x.copy(), a, 2)
        require_compiled(f, tried)
        assert_allclose(value, expected, rtol=1e-13)
        assert type(value) is type(expected)
        for p, q in zip(g, h, strict=True):
            assert_allclose(p, q, rtol=1e-12, atol=1e-13)
        e = 1e-6
        slope = (f(x + e * np.cos(x), a + e, 2) - f(x - e * np.cos(x), a - e, 2)) / (2 * e)
        assert_allclose(g[0] @ np.cos(x) + g[1], slope, rtol=1e-6)
        pushed = jvp(lambda x, a=a: f(x, a, 2), (x,), (np.cos(x),), compile=True)
        assert_allclose(pushed, jvp(lambda x, a=a: f(x, a, 2), (x,), (np.cos(x),)), rtol=1e-12)


def test_tuples_of_other_lengths_are_chosen_from(tried):
    for a in (0.7, -0.7):
        value, g = value_and_grad(of_other_lengths, compile=True)(X.copy(), a, 2)
        require_compiled(of_other_lengths, tried)
        count = 2.0 if a > 0 else 1.0
        assert value == count * X[0]
        assert_allclose(g, [count, 0.0, 0.0, 0.0])
