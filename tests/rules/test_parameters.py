"""Derivatives in parameters that are differences: as good as the function is, or not a number."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, wirtinger

ss: Any = pytest.importorskip("scipy.special")
integrate: Any = pytest.importorskip("scipy.integrate")
parameters: Any = pytest.importorskip("mooncake_py.integrations.scipy.special.parameters")


def in_shape(a: float, x: float) -> float:
    """Integrate the derivative of the density of the lower tail, in the logarithm."""

    def slope(v: float) -> float:
        log = np.log(x) - v
        return np.exp(a * log - np.exp(log) - ss.gammaln(a)) * (log - ss.psi(a))

    width = 1 / min(a, np.sqrt(a))
    ends = width * np.array([0, 0.5, 1, 2, 4, 8, 16, 40])
    parts = itertools.pairwise(ends)
    return sum(integrate.quad(slope, *ab, epsabs=0, epsrel=1e-12)[0] for ab in parts)


@pytest.mark.parametrize("a", [0.01, 0.5, 3.0, 100.0, 1e4])
@pytest.mark.parametrize("p", [1e-6, 0.01, 0.3, 0.45])
def test_gammainc_in_its_parameter_is_accurate_in_the_tail(a: float, p: float) -> None:
    x = float(ss.gammaincinv(a, p))
    if x > 0:
        np.testing.assert_allclose(grad(ss.gammainc)(a, x), in_shape(a, x), rtol=1e-10)


def test_the_smaller_tail_is_taken() -> None:
    a, x = 3.0, float(ss.gammainccinv(3.0, 1e-12))
    h = 1e-4
    expected = (ss.gammaincc(a + h, x) - ss.gammaincc(a - h, x)) / (2 * h)
    np.testing.assert_allclose(-grad(ss.gammainc)(a, x), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
def test_differences_are_taken_in_double_precision(dtype: Any) -> None:
    a, x = np.array([2, 3], dtype), np.array([1.5, 2.5])
    slope = parameters.differentiated(ss.gammainc, 0, (a, x.astype(np.float32)))
    exact = [grad(ss.gammainc)(float(s), t) for s, t in zip(a, x, strict=True)]
    np.testing.assert_allclose(slope, exact, rtol=1e-10)


def test_where_differences_do_not_agree_the_derivative_is_not_a_number() -> None:
    def kinked(a: Any) -> Any:
        return np.abs(a - 1.0) + a

    slopes = parameters.differentiated(kinked, 0, (np.array([0.5, 1.0 + 1e-6, 2.0]),))
    np.testing.assert_allclose(slopes, [0.0, np.nan, 2.0], atol=1e-12)


def test_wirtinger_derivatives_do_not_become_elements_of_arrays() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        np.ones(0) * wirtinger(0.5, 0.5)
