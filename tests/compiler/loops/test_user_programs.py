"""Programs as users write them: gradients, second derivatives, checkpoints, inner derivatives."""

from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, grad, jvp, value_and_grad, vjp
from tests.compiler.comparing import agrees
from tests.compiler.loops.user_programs import PROGRAMS

X = np.array([0.61, 0.23, 0.87, 0.42, 0.74, 0.35])
Y = np.array([0.52, 0.94, 0.31, 0.68, 0.17, 0.83])
V = np.array([0.5, -1.0, 0.3, 0.8, -0.2, 0.6])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    agrees(f, X, Y)


@pytest.mark.sampled(3)
@pytest.mark.plain
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_loops_are_one_entry(f, taken, printed):
    # A copy of the code has no history: other arguments may have told its loops to give up.
    fresh = FunctionType(f.__code__.replace(), f.__globals__, f.__name__)
    value_and_grad(fresh, (0, 1))(X.copy(), Y.copy())
    assert any(taken) or any(printed)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_orders_and_ways(f):
    g = grad(f)(X.copy(), Y.copy())
    assert_allclose(jvp(lambda x: f(x, Y.copy()), (X.copy(),), (V,))[1], g @ V, rtol=1e-9)
    assert_allclose(grad(lambda x: checkpoint(f, x, Y.copy()))(X.copy()), g, rtol=1e-12)
    _, pullback = vjp(f, X.copy(), Y.copy())
    for factor in (1.0, -2.0):
        assert_allclose(pullback(factor)[0], factor * g, rtol=1e-12)

    def along(x, y):
        return np.sum(grad(f)(x * 1.0, y * 1.0) * V)

    h = 1e-5
    slope = [
        (grad(f)(X + h * V, Y.copy()) - grad(f)(X - h * V, Y.copy())) @ V / (2 * h),
        (grad(f)(X.copy(), Y + h * V) - grad(f)(X.copy(), Y - h * V)) @ V / (2 * h),
    ]
    found = grad(along, (0, 1))(X.copy(), Y.copy())
    assert_allclose([g @ V for g in found], slope, rtol=1e-6, atol=1e-6)

    def captures(a):
        return np.sum(grad(lambda y: f(X * a, y * a))(Y * 1.0) * V)

    slope = (captures(1.0 + h) - captures(1.0 - h)) / (2 * h)
    assert_allclose(grad(captures)(1.0), slope, rtol=1e-6, atol=1e-6)
