"""Calls that compiled functions leave, and what is said of them."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, value_and_grad
from mooncake_py.compiler.native import region_site, site
from mooncake_py.compiler.native.site import report
from mooncake_py.errors import MooncakeWarning

pytestmark = pytest.mark.plain


def test_what_is_unusual_runs_as_without(tried):
    def f(x, i):
        x[i] = 0.0
        return np.sum(np.log(x))

    with pytest.raises(IndexError, match="out of bounds"):
        value_and_grad(f, compile=True)(np.ones(2), 5)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        value, _ = value_and_grad(f, compile=True)(np.ones(2), 0)
    assert value == -math.inf
    assert tried == [False, False]


def test_arguments_are_put_back_after_a_trial_that_fails(tried):
    def f(x):
        x[0] = 5.0
        return x[1] / (x[2] - 1.0) + 1.0 / (len(x) - 3)

    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(ZeroDivisionError):
        value_and_grad(f, compile=True)(x)
    assert_allclose(x, [1.0, 2.0, 3.0])
    assert tried == [False]


def test_shared_memory_read_only_arrays_and_other_orders(tried):
    def f(x, y):
        x *= 2.0
        return np.sum(x * y)

    a = np.arange(4.0)
    b = a[:]

    def shared(a):
        return f(a, b)

    def twice(a):
        return f(a, a)

    for g in (twice, shared):
        assert_allclose(grad(g, compile=True)(a.copy()), grad(g)(a.copy()))
    frozen = a.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        grad(f, compile=True)(frozen, a)
    F = np.asfortranarray(np.arange(6.0).reshape(2, 3) + 1.0)

    def cubes(F):
        return np.sum(F**3)

    assert_allclose(grad(cubes, compile=True)(F), 3 * F**2)


def test_error_state_is_heeded(tried):
    def f(x):
        return np.sum(1.0 / x)

    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        value_and_grad(f, compile=True)(np.zeros(2))

    def seen(kind, flag):
        raise ArithmeticError(kind)

    with np.errstate(divide="call", call=seen), pytest.raises(ArithmeticError, match="divide"):
        value_and_grad(lambda x: np.sum(np.exp(-1.0 / x)), compile=True)(np.zeros(2))
    assert tried == []


def test_a_failure_to_compile_is_a_warning(tried, monkeypatch):
    def f(x):
        return np.sum(x * x)

    def fail(*args, **options):
        raise ValueError("broken")

    monkeypatch.setattr(region_site, "form_of", fail)
    g = grad(f, compile=True)
    with pytest.warns(MooncakeWarning, match=r"f runs as without compile=True.*broken"):
        assert_allclose(g(np.ones(2)), [2.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(g(np.ones(2)), [2.0, 2.0])
    monkeypatch.setattr(site, "read_function", fail)
    with pytest.warns(MooncakeWarning, match="broken"):
        assert_allclose(grad(f, compile=True)(np.ones((2, 2))), 2.0)


def test_views_of_one_block_that_share_no_element(tried):
    def f(x, y):
        x *= y
        y[1:] += x[:-1]
        return np.sum(x * y)

    block = np.arange(1.0, 9.0).reshape(2, 4)

    def of_block(block):
        return f(block[0], block[1])

    found = grad(f, (0, 1), compile=True)(*block)
    for a, b in zip(found, grad(f, (0, 1))(*block), strict=True):
        assert_allclose(a, b)
    inner = grad(lambda b: of_block(b) + [0.0][0], compile=True)(block)
    assert_allclose(inner, grad(of_block)(block))
    assert tried[0]
    assert all(tried)


def test_calls_and_arguments_that_do_not_fit_are_no_failure_to_compile(tried):
    def f(x):
        return float(x, x) if x > 3.0 else np.sum(x, x, x, x, x, x, x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError):
            grad(f, compile=True)(1.0)
    deep = (1.0,)
    for k in range(3000):
        deep = (float(k), deep)
    assert grad(lambda t: t[0] * 2.0, compile=True)(deep)[0] == 2.0
    assert all(tried)


def test_report_says_what_was_left(tried):
    def f(x):
        s = 0.0
        for i in range(3):
            s += x[i]
        return s

    with pytest.raises(IndexError):
        grad(f, compile=True)(np.ones(2))
    assert ": compiled but left in the last call: it met something unusual" in str(report(f)[0])
    grad(f, compile=True)(np.ones(3))
    assert report(f)[0].found == "compiled"
    assert tried == [False, True]
