"""Elementwise rules of functions that return a tuple."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py import (
    elementwise,
    grad,
    hessian,
    jvp,
    not_implemented,
    value_and_grad,
    wirtinger,
)
from mooncake_py.errors import MissingRuleError
from mooncake_py.testing import test_rule


def polar(x, y):
    return np.hypot(x, y), np.arctan2(y, x)


elementwise(
    polar,
    (lambda x, y, out: x / out[0], lambda x, y, out: -y / out[0] ** 2),
    (lambda x, y, out: y / out[0], lambda x, y, out: x / out[0] ** 2),
    dtypes=(np.float64, np.float32),
)


def root_and_steps(x, n):
    return math.sqrt(x), math.floor(x) + n


elementwise(root_and_steps, (lambda x, n, y: 0.5 / y[0], None), (None, 1))


def power_and_order(x, n):
    return x**n, n * x


elementwise(
    power_and_order,
    (lambda x, n, y: n * x ** (n - 1), lambda x, n, y: n),
    (not_implemented("the logarithm"), lambda x, n, y: x),
)


def square_and_intensity(z):
    return z * z, (z * np.conj(z)).real


elementwise(
    square_and_intensity,
    (lambda z, y: 2 * z, lambda z, y: wirtinger(np.conj(z), z)),
)


def test_broadcasts_and_takes_numbers() -> None:
    x, y = np.array([[0.5], [-1.0]]), np.array([0.3, 2.0, -0.7])
    test_rule(polar, x, y, special_points=False)
    test_rule(polar, 0.5, -0.25, special_points=False)
    test_rule(polar, 0.5, y, special_points=False)


def test_complex_partials_are_conjugated() -> None:
    test_rule(square_and_intensity, np.array([1.0 + 2.0j, -0.5j]))


def test_none_and_numbers() -> None:
    assert grad(lambda x: sum(root_and_steps(x, 2.0)))(4.0) == 0.25
    assert grad(lambda n: sum(root_and_steps(4.0, n)))(2.0) == 1.0


def test_infinite_slope_times_zero_is_zero() -> None:
    assert grad(lambda x: root_and_steps(x, 2.0)[1] + x)(0.0) == 1.0
    assert math.isinf(grad(lambda x: root_and_steps(x, 2.0)[0])(0.0))


@pytest.mark.without_modes("forward mode cannot tell which outputs are used")
def test_missing_partial_raises_only_if_its_output_is_used() -> None:
    value, gradient = value_and_grad(lambda n: power_and_order(3.0, n)[1])(2.0)
    assert (value, gradient) == (6.0, 3.0)
    with pytest.raises(MissingRuleError, match="power_and_order with respect to argument 1"):
        grad(lambda n: power_and_order(3.0, n)[0])(2.0)


def test_forward_mode_goes_by_the_same_partials() -> None:
    (r, theta), (dr, dtheta) = jvp(polar, (3.0, 4.0), (1.0, 2.0))
    assert (r, theta) == polar(3.0, 4.0)
    assert dr == pytest.approx((3.0 + 8.0) / 5.0)
    assert dtheta == pytest.approx((-4.0 + 6.0) / 25.0)
    assert jvp(root_and_steps, (4.0, 1.0), (1.0, 3.0))[1] == (0.25, 3.0)
    with pytest.raises(MissingRuleError, match="power_and_order with respect to argument 1"):
        jvp(power_and_order, (3.0, 2.0), (0.0, 1.0))


def test_second_derivatives() -> None:
    def angle(v):
        return polar(v[0], v[1])[1]

    x, y = 0.5, 2.0
    r4 = (x * x + y * y) ** 2
    expected = np.array([[2 * x * y, y * y - x * x], [y * y - x * x, -2 * x * y]]) / r4
    np.testing.assert_allclose(hessian(angle)(np.array([x, y])), expected)
