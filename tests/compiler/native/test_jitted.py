"""Functions that Numba has jitted, called by functions that are compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report

numba = pytest.importorskip("numba")
pytestmark = pytest.mark.plain

X = np.array([0.3, -0.4, 0.8, 0.5])


@numba.njit
def decay(x, rate):
    return x * math.exp(-rate)


@numba.njit
def smooth(x, rate, out):
    a, b, c, d = x
    for i in range(x.size):
        out[i] = decay(x[i], rate) * (a + b * c - d) + i


def loss(x, rate):
    y = np.empty_like(x)
    smooth(x, rate, y)
    return np.sum(y * y)


def applied(f, x, rate):
    return f(x[1], rate) * x[0] + f(rate, x[2])


def test_gradient(tried):
    value, g = value_and_grad(loss, (0, 1), compile=True)(X, 0.5)
    assert tried == [True]
    expected, h = value_and_grad(loss, (0, 1))(X, 0.5)
    assert_allclose(value, expected, rtol=1e-14)
    for a, b in zip(g, h, strict=True):
        assert_allclose(a, b, rtol=1e-12)


def test_forward_mode_and_second_order(tried):
    given = (X, 0.5), (np.cos(X), 0.7)
    assert_allclose(jvp(loss, *given, compile=True), jvp(loss, *given), rtol=1e-12)
    assert tried == [True]

    def f(x):
        return loss(x, 0.5)

    along = np.cos(X)
    assert_allclose(hvp(f, (X,), along, compile=True), hvp(f, (X,), along), rtol=1e-12)


def test_as_an_argument(tried):
    for f in (decay, decay.py_func):
        found = value_and_grad(applied, (1, 2), compile=True)(f, X, 0.5)
        expected = value_and_grad(applied, (1, 2))(f, X, 0.5)
        assert_allclose(found[0], expected[0], rtol=1e-14)
        assert_allclose(found[1][0], expected[1][0], rtol=1e-12)
    assert tried == [True, True]


def test_results_are_numbers_of_python(tried):
    @numba.njit
    def parts(x):
        return x[0] * 2, x.size, x[1] > 0

    def f(x):
        a, n, positive = parts(x)
        return a * n, positive, parts(x)

    found = jvp(f, (X,), (X,), compile=True)[0]
    assert tried == [True]
    expected = jvp(f, (X,), (X,))[0]
    assert str(found) == str(expected)
    assert [type(part) for part in (*found[:2], *found[2])] == [float, bool, float, int, bool]


def test_ints_that_wrap_around_in_what_numba_compiled(tried):
    @numba.njit
    def power(n):
        k = 1
        for _ in range(n):
            k *= 3
        return k

    def f(x, n):
        return x * power(n)

    value_and_grad(f, compile=True)(2.0, 3)
    assert tried == []
    assert "wrap around" in str(report(f)[0])


def test_what_its_python_does_not_do_is_not_compiled(tried):
    @numba.njit("int64(int64)")
    def whole(n):
        return n * 2

    def f(x, n):
        return x * whole(n)

    assert value_and_grad(f, compile=True)(2.0, 3) == (12.0, 6.0)
    assert tried == []


def test_unpacking_an_array_of_another_length(tried):
    def f(x):
        a, b = x
        return a * b

    assert_allclose(value_and_grad(f, compile=True)(X[:2].copy())[1], X[1::-1])
    with pytest.raises(ValueError, match="too many values to unpack"):
        value_and_grad(f, compile=True)(X)
    assert tried == [True, False]


@numba.njit(parallel=True)
def squares(x, out):
    total = 0.0
    for i in numba.prange(1, x.size):
        out[i] = x[i] * x[i - 1]
        total += out[i]
    return total


@pytest.mark.filterwarnings("ignore::numba.NumbaPerformanceWarning")
def test_parallel_loops_run_one_pass_after_another(tried):
    def f(x):
        y = np.zeros(4)
        return squares(x, y) + np.sum(y * y)

    value, g = value_and_grad(f, compile=True)(X)
    assert tried == [True]
    expected, h = value_and_grad(f)(X)
    assert_allclose(value, expected, rtol=1e-14)
    assert_allclose(g, h, rtol=1e-12)
