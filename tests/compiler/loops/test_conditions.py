"""Functions of NumPy in the tests of loops, and lengths of arrays among their numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp
from tests.compiler.comparing import agrees

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4, 0.3])
V = np.cos(np.arange(6.0))


def clipped(x):
    s = 0.0
    for i in range(6):
        if np.sqrt(x[i] * x[i]) < 1.0:
            s += x[i] * s + np.sin(x[i])
        elif np.abs(s) > 0.5 and i > 2:
            s -= 0.5 * x[i]
        s *= 1.5 if np.exp(s) > 2.0 else 0.75
    return s


def conjugate_gradients(b):
    n = b.size
    a = np.diag(np.arange(1.0, n + 1)) + 0.1
    x, r, p = np.zeros(n), b.copy(), b.copy()
    rs = r @ r
    for _ in range(30):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        rn = r @ r
        if np.sqrt(rn) < 1e-3:
            break
        p = r + rn / rs * p
        rs = rn
    return np.sum(x * x)


def by_shapes(x):
    m = np.outer(x, x)
    for i in range(x.shape[0] - 1):
        for j in range(m.shape[1]):
            m[i, j] += m[i + 1, j] * x[i] / m.shape[0] + len(x) * x[j]
    return np.sum(m)


def soft_warping(x):
    n = len(x)
    d = np.full((n + 1, n + 1), 1e3)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            nearest = np.logaddexp(np.logaddexp(-d[i - 1, j], -d[i, j - 1]), -d[i - 1, j - 1])
            d[i, j] = (x[i - 1] - 0.2 * j) ** 2 - nearest
    return d[n, n]


@pytest.mark.plain
@pytest.mark.parametrize("f", [clipped, conjugate_gradients, by_shapes, soft_warping])
def test_taken(f, taken):
    agrees(f, X)
    assert taken[:1] == [f is not conjugate_gradients]  # which is on arrays
    along = jvp(f, (X,), (V,))[1]
    assert_allclose(along, grad(f)(X) @ V, rtol=1e-12)
    step = 1e-6
    difference = (grad(f)(X + step * V) - grad(f)(X - step * V)) / (2 * step)
    assert_allclose(hvp(f, (X,), V), difference, rtol=1e-5, atol=1e-7)


@pytest.mark.plain
def test_a_test_that_warns_does_so_once(taken):
    def f(x):
        s = 0.0
        for i in range(6):
            if not np.sqrt(x[i]) > 0.9:
                s += x[i] * x[i]
        return s

    def warned(call):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
        return [(str(w.message), w.lineno) for w in found]

    assert warned(lambda: grad(f)(X)) == warned(lambda: f(X))
    assert taken == [False]


@pytest.mark.parametrize("far", [0.0, 3.0, 40.0, 800.0, -800.0])
def test_slopes_of_logaddexp(far):
    def f(x):
        s = x[0]
        for i in range(1, 6):
            s = np.logaddexp(s, x[i] * x[0])
        return s

    x = X + 2.0
    x[3] += far
    assert_allclose(grad(f)(x) @ V, jvp(f, (x,), (V,))[1], rtol=1e-12)
    terms = np.concatenate(([x[0]], x[0] * x[1:]))
    share = np.exp(terms - np.logaddexp.reduce(terms))
    expected = np.concatenate(([share[0] + share[1:] @ x[1:]], share[1:] * x[0]))
    assert_allclose(grad(f)(x), expected, rtol=1e-11, atol=1e-300)
