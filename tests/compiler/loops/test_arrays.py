"""Which arrays a loop may work on: not one that it binds to another name, nor unaligned ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import value_and_grad
from tests.compiler.comparing import agrees
from tests.support.gradients import differences

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])


def bound_in_a_loop(x):
    a, s = np.ones((3, 4)) * x[1], x[0]
    for i in range(3):
        s += a[0, i]
        b = a
    return s * b[0, 0]


def bound_in_a_branch(x):
    v = np.linspace(-0.9, 0.8, 5) * x
    w = x
    for i in range(5):
        if v[(i + 1) % 5] > 0.0:
            w = v
    return np.sum(w * x)


@pytest.mark.parametrize("f", [bound_in_a_loop, bound_in_a_branch])
def test_an_array_bound_to_another_name(f):
    agrees(f, X)


def unaligned(values):
    """Return floats that begin one byte after the word of the machine."""
    a = np.empty(values.size, [("flag", np.int8), ("value", np.float64)])["value"]
    a[...] = values
    return a


def shifted(values):
    """Return aligned floats in a block of bytes that is not, so that the shadow is unaligned."""
    store = bytearray(values.nbytes + 16)
    first = np.frombuffer(store, np.uint8).__array_interface__["data"][0]
    block = np.frombuffer(store, np.uint8, offset=(3 - first) % 8)
    a = block[5:][: values.nbytes].view(np.float64)
    a[...] = values
    assert a.flags.aligned
    return a


@pytest.mark.parametrize("layout", [unaligned, shifted])
def test_unaligned_arrays_that_are_written(layout):
    def f(x, w, a):
        w[:] = x * a
        s = 0.0
        for i in range(1, 5):
            w[i] += a * w[i - 1]
            s += w[i] * x[i]
        for v in w:
            s += v * v
        return s + x[0]

    w = layout(X)
    value, (found, _) = value_and_grad(f, (0, 2))(X.copy(), w, 0.5)
    assert value == f(X.copy(), X.copy(), 0.5)
    assert_allclose(found, differences(f, (X, X.copy(), 0.5), 0), rtol=1e-6, atol=1e-8)
    assert_array_equal(w, X)


def test_unaligned_arguments():
    def f(x, w):
        for i in range(1, 5):
            x[i] += w[i] * x[i - 1]
        s = 0.0
        for i in range(5):
            s += x[i] * w[4 - i]
        return s

    for x, w in ((unaligned(X), X), (X.copy(), unaligned(X)), (unaligned(X), unaligned(X))):
        value, found = value_and_grad(f, (0, 1))(x, w)
        assert value == f(X.copy(), X)
        for k in range(2):
            assert_allclose(found[k], differences(f, (X, X), k), rtol=1e-6, atol=1e-8)
