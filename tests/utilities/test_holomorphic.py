"""Derivatives of complex functions, compared with differences and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    NonDifferentiableArgumentError,
    NonScalarOutputError,
    NotHolomorphicError,
    debug_mode,
    holomorphic_derivative,
    real_jacobian,
    wirtinger_derivatives,
)
from tests.support.pairs import rotating

POINT = 0.7 - 0.4j
Z = np.array([1 + 2j, 3 - 1j, -0.5 + 0.25j])

HOLOMORPHIC = [np.exp, np.log, np.sin, np.sqrt, lambda z: 3 * z**2 + 2 * z + 1, lambda z: 1 / z]
OTHERS = [
    np.abs, np.conj, np.real, np.imag, np.angle, lambda z: z * np.conj(z),
    lambda z: np.conj(z) ** 2, lambda z: z.real * z + 1j * z.imag**2,
]  # fmt: skip


def jacobian_by_differences(f: Any, z: Any) -> np.ndarray:
    h = 1e-6
    dx = (f(z + h) - f(z - h)) / (2 * h)
    dy = (f(z + 1j * h) - f(z - 1j * h)) / (2 * h)
    return np.array([[np.real(dx), np.real(dy)], [np.imag(dx), np.imag(dy)]])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "z"), rotating(HOLOMORPHIC + OTHERS, [POINT, np.array(POINT), Z]))
def test_against_differences(f: Any, z: Any) -> None:
    before = np.array(z)
    expected = jacobian_by_differences(f, z)
    np.testing.assert_allclose(real_jacobian(f)(z), expected, atol=1e-8)
    (ux, uy), (vx, vy) = expected
    dz, dzbar = wirtinger_derivatives(f)(z)
    np.testing.assert_allclose(dz, (ux + vy + 1j * (vx - uy)) / 2, atol=1e-8)
    np.testing.assert_allclose(dzbar, (ux - vy + 1j * (vx + uy)) / 2, atol=1e-8)
    np.testing.assert_array_equal(z, before)


@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize("z", [POINT, Z], ids=["number", "array"])
@pytest.mark.parametrize("f", HOLOMORPHIC)
def test_holomorphic(f: Any, z: Any) -> None:
    dz, _ = wirtinger_derivatives(f)(z)
    np.testing.assert_array_equal(holomorphic_derivative(f)(z), dz)
    with debug_mode():
        np.testing.assert_array_equal(holomorphic_derivative(f)(z), dz)


@pytest.mark.parametrize("z", [POINT, Z], ids=["number", "array"])
@pytest.mark.parametrize("f", OTHERS)
def test_not_holomorphic(f: Any, z: Any) -> None:
    with pytest.raises(NotHolomorphicError, match="has no complex derivative at z"):
        holomorphic_derivative(f)(z)


def test_manual_examples() -> None:
    assert wirtinger_derivatives(lambda x: 3 * x**2 + 2 * x + 1)(1 + 2j) == (8 + 12j, 0j)
    assert wirtinger_derivatives(lambda x: abs(x) ** 2)(1 + 2j) == (1 - 2j, 1 + 2j)
    np.testing.assert_allclose(holomorphic_derivative(np.log)(1 + 2j), 0.2 - 0.4j)


def test_number_of_several() -> None:
    def f(z: np.ndarray) -> Any:
        return np.sum(z**2) * np.conj(z[0])

    dz, dzbar = wirtinger_derivatives(f)(Z)
    np.testing.assert_allclose(dz, 2 * Z * np.conj(Z[0]))
    np.testing.assert_allclose(dzbar, [np.sum(Z**2), 0, 0], atol=1e-12)
    assert real_jacobian(f)(Z).shape == (2, 2, 3)
    np.testing.assert_allclose(holomorphic_derivative(np.prod)(Z), np.prod(Z) / Z)


def test_function_that_works_in_place() -> None:
    def f(z: np.ndarray) -> np.ndarray:
        z *= z
        z[0] = np.conj(z[0])
        return z

    before = Z.copy()
    dz, dzbar = wirtinger_derivatives(f)(Z)
    np.testing.assert_allclose(dz, [0, 2 * Z[1], 2 * Z[2]])
    np.testing.assert_allclose(dzbar, [2 * np.conj(Z[0]), 0, 0])
    np.testing.assert_array_equal(Z, before)


def test_first_element_that_fails_is_named() -> None:
    with pytest.raises(NotHolomorphicError) as caught:
        holomorphic_derivative(lambda z: np.where(np.arange(3) == 1, np.conj(z), z))(Z)
    text = str(caught.value)
    assert "at z[1] = 3-1j: df/dz* = 1+0j, not 0" in text
    assert "du/dx = 1 and dv/dy = -1" in text
    assert "test_holomorphic.py" in text


def test_real_outputs_constants_and_real_points() -> None:
    assert wirtinger_derivatives(lambda z: 3.0)(1j) == (0j, 0j)
    assert wirtinger_derivatives(lambda z: z * 2.0)(1.5) == (2, 0)
    assert holomorphic_derivative(lambda z: 5 + 0j)(1j) == 0
    np.testing.assert_array_equal(real_jacobian(np.real)(1j), [[1.0, 0.0], [0.0, 0.0]])


def test_single_precision() -> None:
    dz = holomorphic_derivative(np.exp)(Z.astype(np.complex64))
    assert dz.dtype == np.complex64
    np.testing.assert_allclose(dz, np.exp(Z), rtol=1e-5)


@pytest.mark.parametrize("of", [wirtinger_derivatives, real_jacobian, holomorphic_derivative])
@pytest.mark.parametrize("f", [np.fft.fft, np.cumsum, lambda z: z[::-1], lambda z: z - np.mean(z)])
def test_array_that_is_not_taken_element_by_element(f: Any, of: Any) -> None:
    with pytest.raises(NonScalarOutputError, match="does not act element by element"):
        of(f)(Z)


def test_other_shape() -> None:
    with pytest.raises(NonScalarOutputError, match=r"returned shape \(2,\) for shape \(3,\)"):
        wirtinger_derivatives(lambda z: z[:2])(Z)


@pytest.mark.parametrize("z", [3, np.arange(3), "z"])
def test_points_that_are_no_floats(z: Any) -> None:
    with pytest.raises(NonDifferentiableArgumentError, match="complex derivative"):
        wirtinger_derivatives(lambda z: z)(z)
