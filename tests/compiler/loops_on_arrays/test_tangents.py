"""Loops on slices in forward mode: their tangents are regions, which have adjoints and tangents."""

from __future__ import annotations

import warnings
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jacobian, jvp
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.loops_on_arrays.test_loops import LOOPS, M, X, Y

# Maxima have tangents by themselves, and memory that is shared and written has none here.
ONE_ENTRY = [f for f in LOOPS if f.__name__ not in ("by_windows", "views")]
operations = ModuleType("operations")
operations.sum = np.sum


def unfused(run, monkeypatch):
    """Return the result of a function whose operations all run one by one."""
    with monkeypatch.context() as patch:
        patch.setattr(ReverseContext, "fuses", False)
        return run()


@pytest.mark.plain
@pytest.mark.parametrize("f", ONE_ENTRY)
def test_one_entry(f, taken, monkeypatch):
    directions = Y.copy(), M.T.copy()

    def run():
        return jvp(f, (X.copy(), M.copy()), directions)

    value, t = run()
    assert taken[0]
    reference, expected = unfused(run, monkeypatch)
    assert value == reference
    assert type(t) is type(expected)
    assert_allclose(t, expected, rtol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("f", ONE_ENTRY)
def test_hessian_product_is_the_adjoint_of_the_tangent(f, taken, monkeypatch):
    def run():
        return hvp(f, (X.copy(), M.copy()), Y, 0)

    found = run()
    assert taken[0]
    assert_allclose(found, unfused(run, monkeypatch), rtol=1e-11, atol=1e-13)


@pytest.mark.thorough
@pytest.mark.parametrize("f", [LOOPS[1], LOOPS[2], LOOPS[6]])
def test_third_order(f, monkeypatch):
    def run():
        return jvp(lambda x: hvp(f, (x, M.copy()), Y, 0), (X.copy(),), (Y[::-1].copy(),))[1]

    assert_allclose(run(), unfused(run, monkeypatch), rtol=1e-10, atol=1e-12)


def test_several_directions():
    f = LOOPS[1]
    found = jacobian(lambda x: np.array([f(x, M.copy()), x[0]]), mode="forward")(X.copy())
    assert_allclose(found[0], grad(f)(X.copy(), M.copy()), rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_zero_tangent_beside_what_is_not_finite_stays_zero(bad, monkeypatch):
    def f(x, y):
        for i in range(1, 5):
            x[i:] *= y[i:]
        return x[1] + 0.0 * x[0]

    y, t = X.copy(), np.zeros(6)
    y[4], t[1] = bad, 1.0

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return jvp(lambda x: f(x, y), (X.copy(),), (t,))[1]

    assert run() == unfused(run, monkeypatch) == y[1]


def test_constants_and_active_values_in_turn(monkeypatch):
    def f(x, m):
        data = np.arange(6.0)
        s = x[0]
        for i in range(1, 5):
            x[i:] = data[i:]
            m[i, i] = 2.0
            x[i] = np.sum(data[:i])
            x[:i] -= 0.1 * m[:i, i]
            m[i, 1:] *= s
            s = np.sum(data[i:]) if i > 9 else m[i, 1:] @ data[1:]
        return s + np.sum(x) + np.sum(m)

    def run():
        return jvp(f, (X.copy(), M.copy()), (Y.copy(), M.T.copy()))

    (value, t), (reference, expected) = run(), unfused(run, monkeypatch)
    assert value == reference
    assert_allclose(t, expected, rtol=1e-12)
    assert np.isfinite(hvp(f, (X.copy(), M.copy()), M.T.copy(), 1)).all()


def test_a_function_that_is_another_one_than_when_the_loop_was_read(monkeypatch):
    def f(x):
        s = 0.0
        for i in range(1, 5):
            s += operations.sum(x[:i])
        return s

    assert_allclose(jvp(f, (X.copy(),), (Y,)), [f(X), np.cumsum(Y)[:4].sum()])
    monkeypatch.setattr(operations, "sum", lambda a: np.dot(a, a))
    assert_allclose(jvp(f, (X.copy(),), (Y,)), [f(X), np.cumsum(2 * X * Y)[:4].sum()])


def test_partial_derivatives_that_are_comparisons(monkeypatch):
    """``x == 0`` is no choice between arrays."""

    def f(x, y):
        u = x
        for _ in range(5):
            u = 0.3 * np.heaviside(u - x, 0.7 * y) + x * u
        return np.sum(u * y)

    args = np.array([0.3, 0.5]), np.array([0.2, 0.9])

    def product():
        return hvp(f, args, args, argnums=(0, 1))

    for found, expected in zip(product(), unfused(product, monkeypatch), strict=True):
        assert_allclose(found, expected, rtol=1e-12)


def adds_constants(x, m):
    for i in range(1, 6):
        x[i:] *= x[i - 1]
        x[:i] += 0.5
        x[i - 1] += np.sum(m[0, :i]) * 0.0 + 1.0
    return np.sum(x * x)


def divides_by_pivots(x, m):
    for i in range(6):
        x[i] = (x[i] - m[i, :i] @ x[:i]) / (m[i, i] + 2.0)
    return np.sum(x * x)


def squares_of_sums(x, m):
    for i in range(1, 6):
        x[i] += np.sum(m[i, :i] * x[:i]) ** 2 * x[i - 1]
        m[i, i:] *= np.tanh(x[:i] @ x[:i]) * x[i]
    return np.sum(x * x) + np.sum(m)


def numbers_by_products(x, m):
    s = r = 1.0
    for i in range(1, 6):
        s = -(r + m[i, :i] @ x[:i]) / s
        r = r * np.exp(-(x[:i] @ x[1 : i + 1])) + (m[:, i] @ x) * (m[i] @ x) / s
        x[i] = r * r
    return r * s


SHARED = [adds_constants, divides_by_pivots, squares_of_sums, numbers_by_products]


@pytest.mark.plain
@pytest.mark.parametrize("f", SHARED)
def test_what_value_and_tangent_read_is_computed_once(f, taken, monkeypatch):
    directions = Y.copy(), 0.3 * M.T

    def along():
        return jvp(f, (X.copy(), M.copy()), directions)

    def second():
        return hvp(f, (X.copy(), M.copy()), directions, argnums=(0, 1))

    (value, t), products = along(), second()
    assert taken == [True, True]
    reference, expected = unfused(along, monkeypatch)
    assert value == reference
    assert_allclose(t, expected, rtol=1e-12)
    for found, known in zip(products, unfused(second, monkeypatch), strict=True):
        assert_allclose(found, known, rtol=1e-11, atol=1e-13)
