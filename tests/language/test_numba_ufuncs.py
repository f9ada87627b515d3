"""Functions made by ``numba.vectorize`` and ``numba.guvectorize``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py import from_vjp, grad, jvp
from mooncake_py.errors import MissingRuleError
from tests.support.gradients import check

numba = pytest.importorskip("numba")
from numba import guvectorize, vectorize  # noqa: E402

X = np.array([[1.0, -2.0, 3.0], [0.5, 0.2, -0.3]])


@vectorize
def clipped_product(a, b):
    return a * b if a > 0 else 0.1 * a


@vectorize(["f8(f8)"])
def logistic(x):
    return 1 / (1 + math.exp(-x))


@vectorize(["f8(f8, f8)"])
def quotient(a, b):
    return a * b**-1


@vectorize
def combined(a, b, c):
    return a * b + c


@guvectorize(["(f8[:], f8, f8[:])"], "(n),()->(n)")
def moving_sum(x, weight, out):
    s = 0.0
    for i in range(len(x)):
        s = weight * s + x[i]
        out[i] = s


@guvectorize(["(f8[:], f8[:])"], "(n)->()")
def norm2(x, out):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    out[0] = s


@guvectorize("(n),()->(n)")
def scaled(x, factor, out):
    for i in range(len(x)):
        out[i] = factor * x[i]


def test_elementwise():
    check(lambda x, b: np.sum(clipped_product(x, b) ** 2), X, np.array([1.0, 2.0, 3.0]))
    check(lambda x: np.sum(logistic(x)), X)
    check(lambda x: np.sum(combined(x, 2.0, x[0])), X)
    tangent = jvp(logistic, (X,), (np.ones_like(X),))[1]
    np.testing.assert_allclose(tangent, logistic(X) * (1 - logistic(X)), rtol=1e-12)


def test_numbers():
    assert grad(logistic)(0.0) == 0.25
    check(lambda x: clipped_product(x, np.array(2.0)) * 1.0, 3.0)


def test_ints_are_converted_as_they_were_compiled():
    check(lambda x: np.sum(clipped_product(x, np.arange(3))), X)
    check(lambda x: np.sum(x * logistic(np.arange(3))), X)
    check(lambda x: np.sum(quotient(x, np.array([1, 2, 3]))), X)


def test_outputs():
    def into_argument(x):
        out = np.zeros_like(x)
        logistic(x, out)
        logistic(out, out=out)
        return np.sum(out)

    check(into_argument, X)


def test_generalized():
    check(lambda x, w: np.sum(moving_sum(x, w) ** 2), X, 0.5)
    check(lambda x, w: np.sum(moving_sum(x[0], w) ** 2), X, np.array([0.5, 0.1]))
    check(lambda x: np.sum(norm2(x)), X)
    check(lambda x: norm2(x[0]) * 1.0, X)


def test_generalized_into_an_output():
    def loss(x, factor):
        out = np.empty_like(x)
        scaled(x, factor, out)
        return np.sum(out * x)

    check(loss, X, 2.0)


def test_constants():
    check(lambda x: np.sum(x * logistic(np.ones(3)) * norm2(np.ones(2))), X)


def test_rules_come_first():
    made = vectorize(["f8(f8)"])(lambda x: x)

    @from_vjp(made)
    def rule(x):
        return made(x), lambda dy: (5 * dy,)

    assert grad(made)(1.0) == 5.0


def test_options():
    with pytest.raises(MissingRuleError, match="only `out` is known"):
        grad(lambda x: np.sum(logistic(x, where=x > 0)))(X)
    with pytest.raises(MissingRuleError, match="reduce"):
        grad(lambda x: clipped_product.reduce(x)[0])(X)


def test_debug_mode():
    whole = np.array([1, 2, 3], np.int32)  # for which nothing is compiled yet
    gradient = grad(lambda x: np.sum(clipped_product(x[0], whole)), debug=True)(X)
    np.testing.assert_allclose(gradient[0], [1.0, 0.1, 3.0])
