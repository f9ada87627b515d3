"""Elements that a mask picks, on both sides of an assignment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report

pytestmark = pytest.mark.plain

X = np.array([0.3, -0.4, 0.8, 0.0, -1.5])
Y = np.array([-0.2, 0.7, 0.5, 0.9, -0.1])


def changed(x, y):
    positive = x > 0
    x[positive] *= 2.0
    x[~positive] = x[~positive] ** 2 - np.sin(y[~positive])
    y[positive] -= x[positive] * y[positive]
    return x @ y


def copied(x, y):
    x[x > 0] = y[x > 0]
    y[y < 0] = -y[y < 0]
    x[y > 0.5] = 3.0
    return x @ x + y.sum()


def away_from_poles(x, y):
    rest = x != 0
    x[rest] = 1 / x[rest] ** 2
    y[rest] /= x[rest]
    x[rest] **= 0.5
    return x.sum() + y.sum()


def escaping(x, y):
    c = 3 * x - 1 + 1j * y
    z = np.zeros_like(c)
    for _ in range(4):
        inside = np.abs(z) < 2.0
        z[inside] = z[inside] ** 2 + c[inside]
        z[~inside] *= 0.5
    return np.sum(np.log1p(np.abs(z) ** 2))


def shifted(x, y):
    m = y[1:] > 0
    x[1:][m] = x[:-1][m] * y[1:][m]
    return x @ y


def of_truths(x, y):
    m = x > 0
    m[m] = False
    x[m] += 1.0
    return x.sum() * (1 + m.sum())


FUNCTIONS = [changed, copied, away_from_poles, escaping, shifted, of_truths]


def derivatives(f: Any, **how: Any) -> list[Any]:
    at, along = (X.copy(), Y.copy()), (np.cos(X), np.sin(Y))
    value, g = value_and_grad(f, (0, 1), **how)(*at)
    tangent = jvp(f, at, along, **how)[1]
    second = hvp(f, at, along, argnums=(0, 1), **how)
    np.testing.assert_array_equal(at, (X, Y))
    return [value, *g, tangent, *second]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives_are_those_without(f: Any, tried: list[bool]) -> None:
    for a, b in zip(derivatives(f, compile=True), derivatives(f), strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    assert tried
    assert all(tried)


def left(x, y):
    m = x > 0
    t = x[m]
    x[m] = 1.0
    return t.sum() + x.sum()


def passed(x, y):
    def square(v):
        return v * v

    m = x > 0
    x[m] = square(x[m])
    return x.sum()


def others(x, y):
    m, n = x > 0, y > 0
    n[0] = False
    n[1:3] = m[1:3]
    if m.sum() == n.sum():
        x[m] = x[n] * 2
    return x.sum()


def beside_all(x, y):
    m = x != 7
    x[m] = x[m] + y
    return x.sum()


def reduced(x, y):
    m = x > 0
    x[m] = x[m] / x[m].sum()
    return x @ y


def compared(x, y):
    m = x > 0
    x[m] = x[m] > 0.5
    return x @ y


@pytest.mark.parametrize("f", [left, passed, others, beside_all, reduced, compared])
def test_what_is_not_compiled(f: Any, tried: list[bool]) -> None:
    value, g = value_and_grad(f, (0, 1), compile=True)(X, Y)
    expected, h = value_and_grad(f, (0, 1))(X, Y)
    assert_allclose(value, expected)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b)
    assert len(tried) == (f is passed)  # what it calls
    assert "mask" in report(f)[0] or "array of ints" in report(f)[0] or "sum" in report(f)[0]
