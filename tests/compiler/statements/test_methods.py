"""Sums, means, extrema and products as methods, and sums combined with arrays, in one entry."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp, linear, local_rules, rewritten, value_and_grad
from tests.support.directions import check_jvp

X = np.array([[0.3, 1.2, -0.7], [0.5, 0.9, 0.4]])
R = np.array([0.8, -0.4, 1.3])


def squares(x, r):
    return ((x - r) ** 2).mean() + (x * r).sum() / x.size


def normalized(x, r):
    y = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    return (y * y * r).sum()


def centered(x, r):
    y = x - x.mean(0)
    return (y.max(axis=1) * y.min(1)).sum() + x.dot(r).dot(x[:, 0])


def beside_arrays(x, r):
    y = x - 0.1 * x * np.mean(x * r)
    z = np.sin(y) / (y * y).sum()
    return np.sum(z * y * x.mean())


def in_place(x, r):
    u = x.copy()
    u -= u * np.sum(u * u)
    u[1:] += r * np.mean(u[1:] * r)
    u[0] = u[0] * u[0].max() + r
    return u.mean()


def in_a_loop(x, r):
    x = x.copy()
    for k in range(30):
        r = r * 0.99 + 0.01 * x[k % 2] / (r * r).sum()
        x[k % 2] += 0.1 * x[1 - k % 2].mean() * r
    return (x * r).sum()


PROGRAMS = [squares, normalized, centered, beside_arrays, in_place, in_a_loop]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_are_those_of_differences(f):
    along = np.cos(np.arange(6.0)).reshape(2, 3), np.sin(np.arange(3.0))
    h = 1e-6

    def at(step: float) -> tuple[Any, Any]:
        return X + step * along[0], R + step * along[1]

    value, gradient = value_and_grad(f, argnums=(0, 1))(X, R)
    assert value == f(X, R)
    slope = (f(*at(h)) - f(*at(-h))) / (2 * h)
    assert_allclose(sum(np.sum(g * d) for g, d in zip(gradient, along, strict=True)), slope, 1e-7)
    assert_allclose(jvp(f, (X, R), along)[1], slope, rtol=1e-7)
    ahead, behind = [grad(f, argnums=(0, 1))(*at(step)) for step in (h, -h)]
    found = hvp(f, (X, R), along, argnums=(0, 1))
    for product, a, b in zip(found, ahead, behind, strict=True):
        assert_allclose(product, (a - b) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.plain
def test_they_are_one_entry():
    grad(beside_arrays)(X, R)
    text = rewritten(beside_arrays)
    assert "C.fused(x - 0.1 * x * np.mean(x * r))" in text
    assert "C.fused(np.sin(y) / (y * y).sum())" in text
    assert "C.fused(((x - r) ** 2).mean() + (x * r).sum() / C.peek(x, 'size'))" in rewritten(
        squares
    )


@pytest.mark.plain
@pytest.mark.without_modes("counts runs of a loop that is one entry")
def test_a_loop_is_one_entry(printed):
    grad(in_a_loop)(X, R)
    assert printed == [True]


class Totals:
    def sum(self):
        return 3.0

    def mean(self, first=0, axis=1):
        return 2.0 * first + axis

    def dot(self, y):
        return y * 2


def test_methods_of_other_objects_are_called_as_they_are_written():
    def f(x):
        o = Totals()
        return (x * o.sum() + x * o.mean(3) + x * o.mean(axis=5) + o.dot(x)).sum()

    for _ in range(2):
        assert_allclose(grad(f)(R), np.full(3, 3.0 + 7.0 + 5.0 + 2.0))
        assert_allclose(jvp(f, (R,), (R,))[1], 17.0 * np.sum(R))


def of_a_number(x):
    a = math.sin(x[0])
    return np.sum(x) * (a * 2.0).sum()


def of_what_is_written_down(x):
    return (x * (2.0).mean()).sum()


def of_a_number_in_a_loop(x):
    s = math.sin(x[0])
    for _ in range(40):
        s = s + 0.1 * (x[1:] * 2.0).sum() * (s * s).sum()
    return s


@pytest.mark.parametrize("f", [of_a_number, of_what_is_written_down, of_a_number_in_a_loop])
def test_numbers_of_python_have_no_such_methods(f):
    derivatives = [
        lambda: grad(f)(R),
        lambda: jvp(f, (R,), (R,)),
        lambda: jvp(f, (R,), [(R,), (X[0],)]),
        lambda: hvp(f, (R,), R),
    ]
    for derivative in derivatives:
        for _ in range(2):
            with pytest.raises(AttributeError, match="'float' object has no attribute"):
                derivative()


def test_elements_of_arrays_have_them():
    def f(x):
        return (x * x[0].sum() + (x[1] * x[2]).mean()).sum()

    assert_allclose(grad(f)(R), [2 * R[0] + R[1] + R[2], R[0] + 3 * R[2], R[0] + 3 * R[1]])
    check_jvp(f, R)


@pytest.mark.without_modes("the tangent of the mean of nothing is nan, as it is")
def test_the_mean_of_nothing_is_nan_with_a_warning():
    def f(x):
        return (x * x).mean() + np.sum(x)

    nothing = np.zeros(0)
    with np.errstate(invalid="ignore"):
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            assert np.isnan(value_and_grad(f)(nothing)[0])
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            assert np.isnan(jvp(f, (nothing,), (nothing,))[0])


@pytest.mark.without_modes("the adjoint is none of the function, on purpose")
@pytest.mark.parametrize("function", [np.mean, np.ndarray.mean])
def test_rules_of_the_user_hold(function):
    def f(x):
        return (x * x).mean() if function is np.ndarray.mean else np.mean(x * x)

    def looped(x):
        s = 0.0
        for _ in range(30):
            s = s + f(x[1:])
        return s

    assert_allclose(grad(f)(R), 2 * R / 3)
    with local_rules():

        @linear(function, replace=True)
        def ten_times(dy, a, *rest, **named):
            return np.full(np.shape(a), 10.0 * dy)

        assert_allclose(grad(f)(R), 20 * R)
        assert_allclose(grad(looped)(R), [0.0, 600 * R[1], 600 * R[2]])
    assert_allclose(grad(f)(R), 2 * R / 3)
