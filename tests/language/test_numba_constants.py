"""Jitted functions that run compiled: what goes in is constant, and writes are undone."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import (
    grad,
    jvp,
    value_and_grad,
)
from mooncake_py.errors import SharedArgumentsError
from tests.support.gradients import check

numba = pytest.importorskip("numba")
from numba import njit  # noqa: E402

X = np.array([1.0, -2.0, 3.0])
TABLE = np.array([2.0, 3.0, 5.0])


# Constant arguments: compiled.


@njit
def fill(b, value):
    for i in range(len(b)):
        b[i] = value


@njit
def tail(b):
    return b[1:]


@njit
def overlapping(n):
    a = np.zeros(n)
    return a, a[1:]


@njit
def entry(i):
    return TABLE[i]


@pytest.mark.without_modes("there the call is compiled into what calls it", "compiled")
def test_constant_calls_run_compiled():
    calls = len(entry.signatures)
    f = value_and_grad(lambda x: entry(2) * x[0])
    assert f(X)[0] == 5.0
    assert len(entry.signatures) > calls or calls == 1


@njit
def doubled_entry(i):
    return 2 * TABLE[i]


def test_debug_mode_lets_functions_be_compiled():
    np.testing.assert_array_equal(grad(lambda x: doubled_entry(2) * x, debug=True)(2.0), 10.0)


def test_captured_arrays_are_constants():
    def capturing(a):
        def f(x):
            s = 0.0
            for i in range(3):
                s += x[i] * a[i]
            x[0] = 7.0
            return s * a[0]

        return f

    a = X.copy()
    plain, jitted = capturing(a), njit(capturing(a))
    for f in (plain, jitted):
        np.testing.assert_array_equal(grad(f)(X), X)
        with pytest.raises(SharedArgumentsError):
            grad(f)(a)


def test_writes_of_compiled_code_are_undone():
    def loss(x):
        b = np.ones(3)
        y = x * b
        fill(b, 5.0)
        return np.sum(y * b)

    check(loss, X)
    np.testing.assert_array_equal(jvp(loss, (X,), (X,))[1], 10.0)
    np.testing.assert_array_equal(grad(loss, debug=True)(X), [5, 5, 5])


def test_writes_into_active_memory():
    def loss(x):
        b = np.zeros(3)
        b[1] = x[0]
        kept = b * b
        fill(b, 2.0)
        return np.sum(kept) + np.sum(b)

    check(loss, X)


def test_arguments_that_are_written():
    b = np.ones(3)
    assert grad(lambda x, b: (fill(b, x), np.sum(b))[1])(2.0, b) == 3.0
    assert grad(lambda x, b: (fill(b, 4.0), b[0] * x)[1])(2.0, b) == 4.0
    np.testing.assert_array_equal(b, 1.0)


@pytest.mark.thorough
def test_views_from_compiled_code():
    def of_argument(x):
        b = np.zeros(4)
        v = tail(b)
        v[0] = x[0]
        return 2 * b[1] + v[1]

    def of_one_another(x):
        a, b = overlapping(4)
        b[0] = x[0]
        return 3 * a[1]

    np.testing.assert_array_equal(grad(of_argument)(X), [2, 0, 0])
    np.testing.assert_array_equal(grad(of_one_another)(X), [3, 0, 0])


@njit
def looked_up(table, i):
    return table[i]


@njit
def set_to(table, i, value):
    table[i] = value
    return value


def test_large_arrays_are_not_copied():
    table = np.arange(20_000.0)

    def loss(x):
        s = 0.0
        for i in range(3):
            s += looked_up(table, i + 1) * x[i]
        return s

    np.testing.assert_array_equal(grad(loss)(X), [1, 2, 3])
    assert not any(type_.mutable for (type_, _) in looked_up.signatures)


@pytest.mark.thorough
def test_large_arrays_that_are_written():
    def loss(x):
        table = np.ones(20_000)
        y = x[0] * table[:3]
        set_to(table, 1, 5.0)
        return np.sum(y * table[:3])

    np.testing.assert_array_equal(grad(loss)(X), [7, 0, 0])
