"""Elements that a mask picks, on both sides of an assignment."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled

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


def kept_in_names(x, y):
    m = x > -0.5
    t, u = x[m], y[m]
    t[1:] *= u[:-1]
    x[m] = t[::-1]
    y[~m] += x[~m] * len(t)
    return np.sum(t**2) + np.sum(x[x > 9.0]) + (y[y != 7] @ y) / x[m].size


def of_rows(x, y):
    A = np.outer(x, y) + 1.0
    m = x > 0
    A[m] *= 2.0
    A[m, 1] = 3.0
    A[:, m] = A[:, m] ** 2
    A[m, 2:] += x[m][:, None]
    A[~m] = y
    B = A[m][:, ~m]
    return np.sum(A * x) + np.sum(B**2) + A[0, m].sum() + A[m, [0, 1]] @ x[:2]


def of_matrices(x, y):
    A = np.outer(x, y)
    m = A > 0
    s = np.sum(A[m] ** 2)
    A[m] -= np.sin(A[m]) * np.cumsum(A[m])
    A[m[::-1]] = A[m][0]
    A[~m] += A[~m].mean()
    return s + np.sum(A * y)


def of_places(x, y):
    (i,) = np.nonzero(x > 0)
    j = np.where(y > 0)[0]
    r, c = np.outer(x, y).nonzero()
    x[i] += y[j[:1]]
    for k in np.flatnonzero(y < 0):
        y[k] *= 2.0 * x[k]
    return x[i] @ x[i] + y[j].sum() * len(i) + x[r] @ y[c]


def in_loops(x, y):
    s = 0.0
    for k in range(4):
        m = x > 0.2 * k
        t = np.cos(x[m]) * y[m]
        s += t.sum() * k
        x[m] = t * x[k]
        while np.any(y > 0.5):
            big = y[y > 0.5]
            y[y > 0.5] = big / (1 + big.sum())
    return s + x @ y


def of_complex(x, y):
    z = x + 1j * y
    m = x > 0
    t = z[m]
    z[m] = t * t[::-1]
    z[~m] += 1j * y[~m]
    return np.sum(np.abs(z) ** 2) + t[0].imag


FUNCTIONS = [
    changed, copied, away_from_poles, escaping, shifted, of_truths, left, passed, others,
    beside_all, reduced, kept_in_names, of_rows, of_matrices, of_places, in_loops, of_complex,
]  # fmt: skip


def derivatives(f: Any, **how: Any) -> list[Any]:
    at, along = (X.copy(), Y.copy()), (np.cos(X), np.sin(Y))
    value, g = value_and_grad(f, (0, 1), **how)(*at)
    tangent = jvp(f, at, along, **how)[1]
    second = hvp(f, at, along, argnums=(0, 1), **how)
    np.testing.assert_array_equal(at, (X, Y))
    return [value, *g, tangent, *second]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives_are_those_without(f: Any, tried: list[bool]) -> None:
    for a, b in zip(derivatives(f, compile=True), derivatives(f), strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-13)
    require_compiled(f, tried)


@pytest.mark.parametrize("f", [left, reduced, of_places, kept_in_names])
def test_float32(f: Any, tried: list[bool]) -> None:
    at = X.astype(np.float32), Y.astype(np.float32)
    (value, g), (expected, h) = (value_and_grad(f, (0, 1), compile=c)(*at) for c in (True, False))
    assert type(value) is type(expected)
    for a, b in zip((value, *g), (expected, *h), strict=True):
        assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    assert tried == [True]


def compared(x, y):
    m = x > 0
    x[m] = x[m] > 0.5
    return x @ y


def test_what_is_not_compiled(tried: list[bool]) -> None:
    value, g = value_and_grad(compared, compile=True)(X, Y)
    expected, h = value_and_grad(compared)(X, Y)
    assert value == expected
    assert_allclose(g, h)
    assert tried == []
    assert "kind of a number" in str(report(compared)[0])


def too_many(x, y):
    x[x > 0] = y[:4]
    return x.sum()


def too_long(x, y):
    return x[y[1:] > 0].sum()


def beside_others(x, y):
    return (x[x > 0] * y).sum()


@pytest.mark.parametrize(
    ("f", "error"), [(too_many, ValueError), (too_long, IndexError), (beside_others, ValueError)]
)
def test_exceptions_are_those_of_the_plain_call(f: Any, error: Any, tried: list[bool]) -> None:
    with pytest.raises(error) as plain:
        f(X.copy(), Y.copy())
    at = X.copy()
    with pytest.raises(error, match=re.escape(str(plain.value)[:30])):
        value_and_grad(f, compile=True)(at, Y)
    np.testing.assert_array_equal(at, X)
    assert tried == [False]
