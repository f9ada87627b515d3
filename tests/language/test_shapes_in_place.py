"""``a.shape = ...``: shadows and tangents keep up with it, and it is undone."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad, vjp
from tests.support.directions import check_jvp, check_second
from tests.support.gradients import Program, Programs, check

pytestmark = pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5

programs = Programs()
X = np.linspace(0.5, 1.5, 6)
W = np.arange(1.0, 7.0)


@programs(X)
def of_a_result(x):
    y = x * x
    a, b = y[2], y[1:3]
    y.shape = (2, 3)
    b[0] = y[1, 2] * a
    c = y[1]
    y.shape = (3, 2)
    d = y[:, 0]
    c[0] = d[2]
    y.shape = 6
    return np.sum(y * W) + np.sum(b * c[:2])


@programs(X)
def of_the_argument(x):
    x.shape = (2, 3)
    x[0] *= x[1]
    x.shape = (3, 2)
    x[1] = x[0] * x[2]
    return np.sum(x * W.reshape(3, 2))


@programs(X)
def of_a_view(x):
    v = x[1:5]
    v.shape = (2, 2)
    v[0] = v[1] * v[0]
    w = x[::-1]
    w.shape = (2, 3)
    w[0, 0] = x[0] * x[1]
    w.shape = (6,)
    w *= 2
    return np.sum(x * x * W) + np.sum(v @ v)


@programs(X)
def of_a_constant_that_becomes_active(x):
    y = np.zeros(6)
    z = y[::2]
    y.shape = (2, 3)
    y[0] = x[:3] * x[3:]
    y.shape = (3, 2)
    y[2] = x[0]
    return np.sum(y * y) + np.sum(z * x[:3])


@programs(X)
def of_columns(x):
    y = np.asfortranarray(x.reshape(2, 3) * 2.0)
    y.shape = (2, 3, 1)
    y[0] *= y[1]
    w = y[:, 1]
    y.shape += (1,)
    y[0, 0, 0] = w[0]
    return np.sum(y * y)


@programs(X)
def in_a_loop(x):
    for _ in range(3):
        x.shape = 3, 2
        x[0] = x[1] * x[2] * 0.1
        x.shape = -1
        x[1:3] += x[3:5]
    return np.sum(x * x)


@programs(X)
def that_does_not_fit(x):
    y = x.reshape(2, 3) * 1.0
    for shape in (4,), (2, 4):
        with contextlib.suppress(ValueError):
            y.shape = shape
    for change in delattr, lambda a, name: setattr(a, "ndim", 1):
        try:
            change(y, "shape")
        except AttributeError:
            y *= 2
    try:
        y.T.shape = 6
    except AttributeError:
        return np.sum(y * y)


@programs(X)
def inside_another_derivative(x):
    def h(a):
        a.shape = (2, 3)
        return np.sum(a[0] * a[1])

    return grad(h)(x)[0] * np.sum(jvp(h, (x,), (x * x,))[1])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_shape_in_place(program: Program) -> None:
    program.check()
    check_jvp(program.f, *program.args)
    check(lambda x: checkpoint(program.f, x), *program.args)
    y, pullback = vjp(program.f, *program.args)
    expected = value_and_grad(program.f)(*program.args)
    for _ in range(2):
        np.testing.assert_array_equal((y, *pullback(1.0)[0]), (expected[0], *expected[1]))


@pytest.mark.thorough
@pytest.mark.parametrize("program", programs[:3], ids=str)
def test_second_derivatives(program: Program) -> None:
    check_second(program.f, *program.args)


CAPTURED = np.arange(6.0)


def test_shape_of_a_captured_array_is_restored() -> None:
    def f(x: Any) -> Any:
        CAPTURED.shape = (2, 3)
        CAPTURED[0] = x[:3]
        CAPTURED.shape = (3, 2)
        return np.sum(CAPTURED * x.reshape(3, 2) ** 2)

    first = grad(f)(X)
    _, pullback = vjp(f, X)
    for _ in range(2):
        np.testing.assert_array_equal(pullback(1.0)[0], first)
    jvp(f, (X,), (X,))
    assert CAPTURED.tolist() == list(range(6))
