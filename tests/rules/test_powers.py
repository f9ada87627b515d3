"""Powers whose exponent is zero are constant, also where the base is tiny or no number."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, hessian

BASES = [1e-310, 1.0, 0.0, -2.0, np.nan, np.inf]


@pytest.mark.parametrize("x", BASES)
def test_of_numbers(x: float) -> None:
    assert grad(lambda v: v**0)(x) == 0.0
    assert grad(lambda v, n: v**n)(x, 0) == 0.0
    assert hessian(lambda v: v**0)(x) == 0.0


@pytest.mark.parametrize("compile", [False, True])
def test_of_arrays(compile: bool) -> None:
    a, zero = np.array(BASES), np.zeros(len(BASES))
    if compile:
        pytest.importorskip("llvmlite")
    np.testing.assert_array_equal(grad(lambda a: np.sum(a**0), compile=compile)(a), zero)
    np.testing.assert_array_equal(grad(lambda a, n: np.sum(a**n), compile=compile)(a, 0), zero)
    powers = np.zeros(len(BASES), int)
    np.testing.assert_array_equal(grad(lambda a: np.sum(a**powers), compile=compile)(a), zero)


def test_complex_powers_at_exponent_zero_to_second_order():
    """The slope at p = 0 is a complex zero, so that its derivative ``1 / z`` stays complex."""
    second = hessian(lambda v: ((v[0] + 0.8j) ** v[1]).imag)(np.array([0.6, 0.0]))
    z = 0.6 + 0.8j
    mixed = (1 / z).imag
    assert_allclose(second, [[0.0, mixed], [mixed, 0.0]], atol=1e-14)  # as z is on the unit circle


def test_powers_of_elements_compile(recwarn):
    """A helper of the slope could not be compiled once: such loops ran as without `compile`."""
    pytest.importorskip("llvmlite")

    def f(x, p):
        s = 0.0
        for i in range(len(x)):
            s += x[i] ** p
        return s

    x = np.linspace(0.5, 1.5, 9)
    dx, dp = grad(f, (0, 1), compile=True)(x, 1.5)
    assert not recwarn.list
    assert_allclose(dx, 1.5 * np.sqrt(x), rtol=1e-14)
    assert_allclose(dp, np.sum(x**1.5 * np.log(x)), rtol=1e-13)


@pytest.mark.parametrize("base", [2**64, 2**70, 10**30])
def test_bases_above_64_bits(base):
    x = np.array([0.13, 0.7])
    g = grad(lambda x: np.sum(base**x))(x)
    assert_allclose(g, float(base) ** x * np.log(float(base)))
