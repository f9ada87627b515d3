"""Decompositions of SciPy are refused where they have no derivative, and right elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, grad

sl: Any = pytest.importorskip("scipy.linalg")

TURNING = np.array([[0.5, 2.0, 0.1], [-1.5, 0.3, 0.2], [0.1, 0.4, 3.0]])  # a pair of eigenvalues
EQUAL = np.diag([2.0, 2.0, 5.0])
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "real Schur form of a pair": (lambda a: sl.schur(a)[0].sum(), TURNING, "output='complex'"),
    "sorted Schur form": (lambda a: sl.schur(a, sort="lhp")[0].sum(), EQUAL, "sorted"),
    "Schur form of equal values": (lambda a: sl.schur(a)[1][0, 1] * 2, EQUAL, "coincide"),
    "phases of a Schur form": (
        lambda a: sl.schur(a, output="complex")[1][0, 0].real, TURNING, "phases",
    ),
    "left eigenvectors": (lambda a: sl.eig(a, left=True)[0].real.sum(), TURNING, "left"),
    "homogeneous eigenvalues": (
        lambda a: sl.eig(a, homogeneous_eigvals=True)[0].real.sum(), TURNING, "homogeneous",
    ),
    "defective": (
        lambda a: sl.eig(a)[0].real.sum(), np.array([[1.0, 1.0], [0.0, 1.0]]), "eigenvectors",
    ),
    "sign on the axis": (
        lambda a: sl.signm(a)[0, 0].real, np.array([[0.0, 2.0], [-2.0, 0.0]]), "sign of a matrix",
    ),
    "root on the cut": (
        lambda a: sl.fractional_matrix_power(a, 0.5)[0, 0].real, np.diag([-1.0, 2.0]),
        "branch cut",
    ),
    "LDL of a symmetric complex matrix": (
        lambda a: sl.ldl((a + a.T) * (1 + 1j), hermitian=False)[1].real.sum(), TURNING,
        "not Hermitian",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_is_refused(name: str) -> None:
    f, a, why = REFUSED[name]
    with pytest.raises(MissingRuleError, match=why):
        grad(f)(a)


def test_exponents_are_refused() -> None:
    with pytest.raises(MissingRuleError, match="exponent"):
        grad(lambda t: sl.fractional_matrix_power(TURNING, t)[0, 0].real)(0.3)


def test_values_of_a_complex_schur_form_are_those_of_eigenvalues() -> None:
    def by_schur(a: Any) -> Any:
        return np.sum(np.abs(np.diagonal(sl.schur(a, output="complex")[0])) ** 3)

    def by_eigvals(a: Any) -> Any:
        return np.sum(np.abs(sl.eigvals(a)) ** 3)

    np.testing.assert_allclose(grad(by_schur)(TURNING), grad(by_eigvals)(TURNING), rtol=1e-9)


@pytest.mark.without_modes("forward mode solves with the zero pivot")
def test_zero_pivots_are_reported() -> None:
    def solved(a: Any) -> Any:
        _, _, x, info = sl.lapack.dgesv(a, np.ones((2, 1)))
        return np.sum(a) if info == 2 else np.sum(x)

    np.testing.assert_array_equal(grad(solved)(np.ones((2, 2))), np.ones((2, 2)))


@pytest.mark.parametrize("n", [0.0, np.float32(0.0), np.array([0.0, 1.0, 2.0, 0.0])])
@pytest.mark.parametrize("name", ["chebyt", "chebyu", "sh_chebyt", "legendre", "sh_legendre"])
def test_polynomials_of_float_degree_zero_have_slope_zero(name: str, n: Any) -> None:
    f = getattr(pytest.importorskip("scipy.special"), f"eval_{name}")
    x = np.array([-1.6, -1.0, 0.5, 2.4])
    slope = (f(n, x + 1e-6) - f(n, x - 1e-6)) / 2e-6
    expected = np.where(np.equal(n, 0), 0.0, slope)
    np.testing.assert_allclose(grad(lambda x: np.sum(f(n, x)))(x), expected, 1e-6, 1e-7)
