"""One statement in a function that is called again and again, with operands of other kinds."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad
from tests.support.gradients import Program, Programs

programs = Programs()
W = np.array([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.1]])
V = np.array([0.4, -1.1])
B = np.array([0.3, -0.2, 0.7])


def affine(w, x, b):
    return w @ x + b


def bilinear(w, x, b):
    return b * np.dot(w, x) - (w @ x) / b


def stored(w, x, b):
    y = np.zeros(3)
    y[:] = w @ x * b
    y += w @ x - b
    return y


def summed(w, x, b):
    return np.sum(w @ x * b)


@programs(W, V, B)
def a_bias_of_one_after_a_full_one(w, x, b):
    return np.sum(np.sin(affine(w, x, b)) + affine(w, x, b[1:2]) * b)


@programs(W, V, B)
def a_bias_of_one_before_a_full_one(w, x, b):
    return np.sum(affine(w, x, b[1:2]) * b + np.sin(affine(w, x, b)))


@programs(W, V, B)
def factors_of_one_after_full_ones(w, x, b):
    y = bilinear(w, x, b) + bilinear(w, x, b[:1]) + bilinear(w, x, b)
    return np.sum(np.tanh(y) * b)


@programs(W, V, B)
def stores(w, x, b):
    y = stored(w, x, b) + stored(w, x, b[2:]) + stored(w, x, b)
    return np.sum(np.tanh(y) * b)


@programs(W, V, B)
def sums(w, x, b):
    return np.tanh(summed(w, x, b)) + summed(w, x, b[:1]) * summed(w, x, b)


def sum_of_a_row(m):
    return np.sum(m[0] + 3.0) * np.sum(m[1] * m[0])


@programs(np.array([[0.5, -0.25], [0.125, 1.5]]), np.array([0.25, -0.5, 0.75]))
def a_sum_of_one_element_after_that_of_a_row(w, b):
    return sum_of_a_row(w) + sum_of_a_row(b) * sum_of_a_row(w)


def sum_of_all(m):
    return np.sum(m * m + m)


@programs(W, B)
def a_sum_of_an_array_without_axes(w, b):
    total = sum_of_all(w)
    for v in (b, np.array(b[1]), b[:0], b[2], np.reshape(b[0] * 2.0, ())):
        total += sum_of_all(v) * total
    return total


@programs(B, np.array([0.3]))
def a_net(first, last):
    h = np.ones(3)
    for w, b in ((np.eye(3) / 2, first), (np.eye(3) / 3, first), (np.eye(3), last)):
        h = np.tanh(affine(w, h, b))
    return np.sum(h * np.arange(1.0, 4.0))


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


def test_an_infinite_number_that_is_written_down_leaves_zero_cotangents_zero():
    def times(x):
        y = x * 1e999 + x
        return y[0]

    def over(x):
        y = (x - 1e999 * x) / 2.0 + x
        return y[1]

    def twice(x):  # finite numbers, whose product is not
        y = x * 1e308 * 1e308 + x * 2.0 * 3.0
        return y[0]

    def in_place(x):
        y = x * 1.0
        y[1:] = 1e999 * x[1:] + x[:-1]
        y *= 1e999
        return y[0]

    def in_a_sum(x):
        y = x * 1.0
        y[0] = np.sum(x * 1e999 - x)
        return y[1] * 2.0

    x = np.array([1.0, 2.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(grad(times)(x), [np.inf, 0.0])
        np.testing.assert_array_equal(grad(over)(x), [0.0, -np.inf])
        np.testing.assert_array_equal(grad(twice)(x), [np.inf, 0.0])
        np.testing.assert_array_equal(grad(in_place)(x), [np.inf, 0.0])
        np.testing.assert_array_equal(grad(in_a_sum)(x), [0.0, 2.0])
