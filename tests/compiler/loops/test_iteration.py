"""Loops over vectors, also with `zip` and `enumerate`, and those that leave early."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import tape_of, value_and_grad
from tests.programs.ways import WAYS

X = np.array([0.5, 0.2, 0.9, 0.4, 0.7])
Y = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def squares(x, y):
    s = 0.0
    for a, b in zip(x, y):  # noqa: B905
        s += (a - b) ** 2
    return s * a * b


def horner(x, y):
    r = 0.0
    for a in x:
        r = r * y[0] * 0.3 + a
    return r


def numbered(x, y):
    for i, v in enumerate(x):
        y[i] += v * v
        x[i] = 0.0
    return np.sum(y * y) + v


def ahead_of_itself(x, y):
    s = 0.0
    for i, v in enumerate(x):
        if i < 4:
            x[i + 1] += 0.5 * v
        s += v * y[i]
    return s


def pairs(x, y):
    s = 0.0
    for a in x:
        for b in y:
            if b > 3.5:
                break
            s += a * b * s + 0.01 * a
    return s


def left_early(x, y):
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0.45:
            continue
        if y[i] > 4.5:
            break
        s += x[i] * y[i]
    return s * i


def newton(x, y):
    r = x[0]
    while abs(r * r - y[1]) > 1e-12:
        r = 0.5 * (r + y[1] / r)
    return r


def exchanged(x, y):
    for i in range(3):
        x[i], x[4 - i] = x[4 - i] * y[i], x[i]
    return np.sum(x * y)


LOOPS = [squares, horner, numbered, ahead_of_itself, pairs, left_early, newton, exchanged]


@pytest.mark.plain
@pytest.mark.parametrize("f", LOOPS)
def test_as_operation_by_operation(f):
    x, y = X.copy(), Y.copy()
    value, found = value_and_grad(f, (0, 1))(x, y)
    reference, expected = WAYS["unfused"](f, (0, 1), [X.copy(), Y.copy()])
    assert value == reference == f(X.copy(), Y.copy())
    assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert_array_equal(x, X)
    assert_array_equal(y, Y)
    assert "loop" in [e.operation for e in tape_of(f, X, Y).entries]


@pytest.mark.parametrize("other", [Y[:3], Y[1:], np.outer(Y, Y), [1.0, 2.0], np.arange(5)])
def test_what_is_no_vector_of_the_same_length(other):
    def f(x):
        s = 0.0
        for a, b in zip(x, other):  # noqa: B905
            s = s + a * a * np.sum(b)
        return s

    _, (expected,) = WAYS["unfused"](f, (0,), [X.copy()])
    assert_allclose(value_and_grad(f)(X.copy())[1], expected, rtol=1e-12)
