"""``np.add.at`` and ``np.subtract.at`` in forward mode."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jacobian, jvp

INDEX = np.array([0, 2, 2, -1, 0])
X = np.array([0.3, -1.2, 0.7, 0.5, 2.0])
V = np.array([1.0, 0.5, -2.0, 0.25, 3.0])


def deposited(x):
    a = np.zeros(4)
    np.add.at(a, INDEX, x * x)
    np.subtract.at(a, INDEX + 0, x)
    np.add.at(a, INDEX, 0.5)
    np.add.at(a, INDEX, x[0])
    return a * a


def test_tangents_are_deposited_as_values_are():
    rows = np.zeros((4, 5))
    rows[INDEX % 4, np.arange(5)] = 2.0 * X - 1.0
    rows[:, 0] += np.bincount(INDEX % 4, minlength=4)
    a = np.sqrt(np.abs(deposited(X)))
    value, t = jvp(deposited, (X,), (V,))
    assert_allclose(value, deposited(X))
    assert_allclose(np.abs(t), np.abs(2.0 * a * (rows @ V)))
    assert_allclose(jacobian(deposited, mode="forward")(X) @ V, t)


def test_second_derivatives_are_those_of_differences():
    def f(x):
        return np.sum(deposited(x))

    h = 1e-5
    found = hvp(f, (X,), V, 0)
    expected = (grad(f)(X + h * V) - grad(f)(X - h * V)) / (2.0 * h)
    assert_allclose(found, expected, rtol=1e-7)


def test_what_moves_may_be_written_into_an_argument():
    def f(a, x):
        np.add.at(a, INDEX, x)
        return a * a

    a = np.ones(4)
    value, t = jvp(f, (a, X), (np.zeros(4), V))
    sums, moved = np.ones(4), np.zeros(4)
    np.add.at(sums, INDEX, X)
    np.add.at(moved, INDEX, V)
    assert_allclose(value, sums * sums)
    assert_allclose(t, 2.0 * sums * moved)
    assert_allclose(a, 1.0)


def test_an_index_out_of_range_raises_as_in_numpy():
    def f(x):
        a = np.zeros(3)
        np.add.at(a, np.array([0, 3, 1, 1, 1]), x)
        return a

    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        jvp(f, (X,), (V,))
