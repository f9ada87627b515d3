"""Derivatives on the edge of what a function is defined for: right, or a choice, but not nan."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import MissingRuleError, grad, hessian, jvp

sl = pytest.importorskip("scipy.linalg")
ss = pytest.importorskip("scipy.special")


def slopes(f, *args):
    return grad(f, tuple(range(len(args))))(*args)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arithmetic_geometric_mean() -> None:
    assert slopes(ss.agm, 0.0, 0.0) == (0.5, 0.5)
    assert slopes(ss.agm, 1.0, 0.0) == (0.0, np.inf)
    assert slopes(ss.agm, 0.0, 2.0) == (np.inf, 0.0)
    assert_array_equal(hessian(lambda x: ss.agm(x[0], x[1]))(np.zeros(2)), np.zeros((2, 2)))
    a, b = np.array([0.0, 2.0, 1.5]), np.array([0.0, 2.0, 0.5])  # others are as they were
    step = 1e-6
    found = grad(lambda a, b: np.sum(ss.agm(a, b)))(a, b)
    assert_allclose(found[1:], (ss.agm(a + step, b) - ss.agm(a - step, b))[1:] / (2 * step))


def test_rising_factorials_at_poles() -> None:
    assert slopes(ss.poch, 0.0, 0.0) == (0.0, 0.0)
    step = 1e-5
    for z, m in ((-1.0, 0.0), (-1.0, -1.0), (-3.0, 2.0), (0.0, -2.0)):
        dz, dm = slopes(ss.poch, z, m)
        # As a function of z alone it is smooth, for integer m, and has no value at the pole.
        assert_allclose(dz, (ss.poch(z + step, m) - ss.poch(z - step, m)) / (2 * step), rtol=1e-6)
        assert dm == 0.0


def test_a_voigt_profile_without_a_normal_part_is_that_of_lorentz() -> None:
    def lorentz(p):
        return p[2] / (np.pi * (p[0] ** 2 + p[2] ** 2))

    def voigt(p):
        return ss.voigt_profile(p[0], p[1], p[2])

    for x, gamma in ((0.5, 1.0), (0.0, 0.3), (-2.0, 0.7)):
        p = np.array([x, 0.0, gamma])
        assert_allclose(voigt(p), lorentz(p))
        assert_allclose(grad(voigt)(p), grad(lorentz)(p), atol=1e-15)
        expected = hessian(lorentz)(p)
        expected[1, 1] = expected[0, 0]  # it widens as heat does
        assert_allclose(hessian(voigt)(p), expected, atol=1e-14)


@pytest.mark.without_modes("in forward mode what is multiplied by zero is used")
@pytest.mark.filterwarnings("ignore:Matrix is")
@pytest.mark.parametrize("a", [
    np.zeros((2, 2)), np.ones((2, 2)), np.diag([4.0, 0.0]), np.ones((3, 3), np.float32),
    np.ones((2, 2)) * (1 + 1j), np.array([[1.0, 2.0], [2.0, 4.0]]),
])  # fmt: skip
def test_the_square_root_of_a_singular_matrix_has_no_derivative(a: np.ndarray) -> None:
    def total(a):
        return np.sum(np.real(sl.sqrtm(a)))

    for take in (grad(total), hessian(total) if a.dtype.kind == "f" else grad(total)):
        with pytest.raises(MissingRuleError, match="singular to working precision"):
            take(a)
    with pytest.raises(MissingRuleError, match="singular to working precision"):
        jvp(total, (a,), (np.ones_like(a),))
    assert_array_equal(grad(lambda a: 0.0 * total(a))(a), np.zeros_like(a))


def test_the_square_root_of_a_matrix_that_is_nearly_singular() -> None:
    a = np.diag([1.0, 1e-8])
    assert_allclose(grad(lambda a: sl.sqrtm(a)[1, 1])(a)[1, 1], 0.5e4, rtol=1e-6)


def test_the_zeta_function_without_its_second_argument() -> None:
    """It has values below one too, where that of Hurwitz has none."""
    step = 1e-5
    for s in (2.0, 1.5, 0.4, -2.9):
        expected = (ss.zeta(s + step) - ss.zeta(s - step)) / (2 * step)
        assert_allclose(grad(lambda s: ss.zeta(s))(s), expected, rtol=1e-6)
