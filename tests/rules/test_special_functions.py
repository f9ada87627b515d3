"""The functions behind derivatives, against closed forms, differences and other formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.rules.special_functions import (
    bessel_i,
    difference,
    digamma,
    logistic,
    reciprocal,
    sinc_derivative,
)

EULER = 0.57721566490153286


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (1.0, -EULER),
        (0.5, -EULER - 2 * math.log(2)),
        (2.0, 1 - EULER),
        (0.25, -math.pi / 2 - 3 * math.log(2) - EULER),
        (10.0, sum(1 / k for k in range(1, 10)) - EULER),
        (-0.5, -EULER - 2 * math.log(2) + 2),
        (1e10, math.log(1e10) - 0.5e-10),
        (1e-10, -1e10 - EULER),
    ],
)
def test_digamma_closed_forms(x: float, expected: float) -> None:
    assert_allclose(digamma(x), expected, rtol=1e-14)


@pytest.mark.parametrize("x", [0.3, 1.4, 7.7, -0.3, -3.6, -100.25])
def test_digamma_recurrence(x: float) -> None:
    assert_allclose(digamma(x + 1) - digamma(x), 1 / x, rtol=1e-11)


@pytest.mark.parametrize("x", [0.0, -1.0, -7.0, -math.inf, math.nan])
def test_digamma_poles_are_nan(x: float) -> None:
    assert math.isnan(digamma(x))


def test_bessel_i1_matches_its_integral() -> None:
    x = np.array([-100.0, -25.0, -3.0, -1e-3, 1e-8, 0.5, 10.0, 24.99, 25.01, 40.0, 300.0, 700.0])
    # I1(x) = 1/pi int_0^pi exp(x cos t) cos t dt; the rectangle rule converges geometrically.
    t = (np.arange(400) + 0.5) * np.pi / 400
    expected = np.sinh(np.multiply.outer(x, np.cos(t))) @ np.cos(t) / 400
    assert_allclose(bessel_i(1, x), expected, rtol=5e-13)


def test_bessel_i1_keeps_float32_and_zero() -> None:
    assert bessel_i(1, np.array([1.0, 30.0], np.float32)).dtype == np.float32
    assert bessel_i(1, 0.0) == 0
    assert np.isfinite(bessel_i(1, 713.0))


@pytest.mark.parametrize("scale", [1.0, 1j, 1 + 1j])
def test_sinc_derivative_on_both_sides_of_the_switch(scale: complex) -> None:
    x = scale * np.array([1e-12, 1e-6, 1e-3, 0.05, 0.0999, 0.1, 0.1007, 0.2, 0.7, 1.0])
    # sinc'(x) = int_0^1 -pi t sin(pi x t) dt, by Gauss-Legendre quadrature.
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t = (nodes + 1) / 2
    integrand = -np.pi * t * np.sin(np.pi * np.multiply.outer(x, t))
    actual = sinc_derivative(x, np.sinc(x))
    assert_allclose(actual, integrand @ weights / 2, rtol=1e-12)
    assert sinc_derivative(0.0, 1.0) == 0


def test_logistic_of_far_apart_and_equal_arguments() -> None:
    a = np.array([-np.inf, np.inf, 1e4, -1e4, 0.5])
    b = np.array([-np.inf, np.inf, -1e4, 1e4, -0.5])
    with np.errstate(all="ignore"):
        share = logistic(difference(a, b))
    assert_allclose(share, [0.5, 0.5, 1, 0, 1 / (1 + math.exp(-1))])


def test_reciprocal_of_zero_is_infinite() -> None:
    assert reciprocal(0.0) == math.inf
    assert reciprocal(4.0) == 0.25
