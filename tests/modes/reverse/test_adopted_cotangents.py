"""A cotangent is handed on to the last operand: nothing that others see may share its memory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import vjp


def total(x, y):
    return x + y


def difference(x, y):
    return y - x


def twice(x, y):
    z = x + x
    return z + y


def kept_by_both(x, y):
    z = x + y
    return (z + y) + z


def of_a_view(x, y):
    z = x[1:] + y[:-1]
    w = np.zeros(len(x))
    w[1:] = z
    return w + 1.0


PROGRAMS = {
    total: (1.0, 1.0),
    difference: (-1.0, 1.0),
    twice: (2.0, 1.0),
    kept_by_both: (2.0, 3.0),
    of_a_view: (np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0])),
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_share_no_memory(f):
    x, y = np.arange(3.0), np.ones(3)
    cotangent = np.array([2.0, 2.0, 2.0])
    output, pullback = vjp(f, x, y)
    for _ in range(2):
        dx, dy = pullback(cotangent)
        assert_array_equal(dx, 2.0 * PROGRAMS[f][0] * np.ones(3))
        assert_array_equal(dy, 2.0 * PROGRAMS[f][1] * np.ones(3))
        assert_array_equal(cotangent, [2.0, 2.0, 2.0])
        arrays = [x, y, output, cotangent, dx, dy]
        for i, a in enumerate(arrays):
            assert a.flags.writeable
            assert not any(np.shares_memory(a, b) for b in arrays[:i])


def test_one_cotangent_for_two_outputs():
    output, pullback = vjp(lambda x: (lambda y: (y, y))(x + 1.0), np.ones(2))
    g = np.array([1.0, 2.0])
    (dx,) = pullback((g, g))
    assert_array_equal(dx, [2.0, 4.0])
    assert_array_equal(g, [1.0, 2.0])
    assert len(output) == 2
