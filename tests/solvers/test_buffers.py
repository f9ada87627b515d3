"""Callbacks of solvers that return memory of their own, which the next call writes again."""

import numpy as np
import pytest

from mooncake_py import (
    checkpoint,
    grad,
    hessian,
    hessian_diagonal,
    hvp,
    jvp,
    prepare,
    value_and_hvp,
)

optimize = pytest.importorskip("scipy.optimize")

SHARED = np.zeros(1)


def root(residual, args=(), xtol=1e-14):
    return optimize.fsolve(residual, [1.0], args=args, xtol=xtol)[0]


def captured(x):
    buffer = np.zeros(1)

    def residual(z):
        buffer[0] = z[0] ** 2 - x
        return buffer

    return root(residual)


def of_a_module(x):
    def residual(z):
        SHARED[0] = z[0] ** 2 - x
        return SHARED

    return root(residual)


def passed(x):
    def residual(z, buffer):
        buffer[0] = z[0] ** 2 - x
        return buffer

    return root(residual, args=(np.zeros(1),))


def by_default(x):
    def residual(z, buffer=np.zeros(1)):  # noqa: B008, it is what is tried
        buffer[0] = z[0] ** 2 - x
        return buffer

    return root(residual)


def viewed(x):
    buffer = np.zeros(3)

    def residual(z):
        buffer[1] = z[0] ** 2 - x
        return buffer[1:2]

    return root(residual)


def rows_in_turn(x):
    table, calls = np.zeros((3, 1)), [0]

    def residual(z):
        calls[0] += 1
        table[calls[0] % 3] = z**2 - x
        return table[calls[0] % 3]

    return root(residual, xtol=1e-9)


class Equation:
    def __init__(self, x):
        self.x, self.r = x, np.zeros(1)

    def residual(self, z):
        np.multiply(z, z, out=self.r)
        self.r -= self.x
        return self.r


def of_an_object(x):
    return root(Equation(x).residual)


def found_by_name(x):
    equation = Equation(x)

    def residual(z):
        return getattr(equation, "residual")(z)  # noqa: B009 - by a name that no walk follows

    return root(residual)


def bracketed(x):
    buffer = np.zeros(())

    def residual(z):
        buffer[...] = z**2 - x
        return buffer

    return optimize.brentq(residual, 0.1, 2.0, xtol=1e-15)


def checkpointed(x):
    return checkpoint(captured, x) * 1.0


def by_slopes(x):
    slope = np.zeros(1)

    def value(z):
        return z[0] ** 3 / 3 - x * z[0]

    def derivative(z):
        slope[0] = z[0] ** 2 - x
        return slope

    return optimize.minimize(value, [1.0], jac=derivative, tol=1e-12).x[0]


ROOTS = [captured, of_a_module, passed, by_default, viewed, rows_in_turn, of_an_object,
         found_by_name, bracketed, checkpointed, by_slopes]  # fmt: skip


@pytest.mark.parametrize("f", ROOTS, ids=lambda f: f.__name__)
def test_second_derivatives_through_what_each_call_writes_again(f):
    x = 0.49
    second = -0.25 * x**-1.5
    assert hvp(f, (x,), 1.0) == pytest.approx(second, rel=1e-6)
    assert value_and_hvp(f, (x,), 1.0) == pytest.approx((0.7, 0.5 / 0.7, second), rel=1e-6)


def test_every_second_derivative_through_a_buffer():
    x = 0.49
    second = -0.25 * x**-1.5
    assert [
        hessian(captured)(x),
        hessian_diagonal(captured)(x),
        grad(grad(captured))(x),
        jvp(grad(captured), (x,), (1.0,))[1],
        grad(lambda x: jvp(captured, (x,), (1.0,))[1])(x),
        prepare(hvp, captured, (x,), 1.0)((x,), 1.0),
    ] == pytest.approx([second] * 6, rel=1e-6)


def test_third_derivative_through_a_buffer():
    x = 0.49
    third = grad(lambda x: hvp(captured, (x,), 1.0))(x)
    assert third == pytest.approx(0.375 * x**-2.5, rel=1e-6)
