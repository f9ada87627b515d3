"""Decompositions where vectors or values are not unique: the right derivative, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import MissingRuleError, grad
from mooncake_py.rules.eigen import order_like
from tests.rules.cases.drawing import draw

Function = Callable[[np.ndarray], Any]
W = draw(3, 3, seed=7)


def rotation(n: int) -> np.ndarray:
    return np.linalg.qr(draw(n, n))[0]


def with_values(*values: float) -> np.ndarray:
    """Return a symmetric matrix with these eigenvalues."""
    q = rotation(len(values))
    return (q * values) @ q.T


def symmetric(a: np.ndarray) -> np.ndarray:
    return 0.5 * (a + a.T)


def differences(f: Function, a: np.ndarray, step: float = 1e-4) -> np.ndarray:
    """Return central differences of fourth order."""
    slopes = np.zeros(a.shape)
    for index in np.ndindex(a.shape):
        unit = np.zeros(a.shape)
        unit[index] = step
        slopes[index] = (8 * (f(a + unit) - f(a - unit)) - (f(a + 2 * unit) - f(a - 2 * unit))) / (
            12 * step
        )
    return slopes


def assert_derivative(f: Function, a: np.ndarray, rtol: float = 1e-7) -> None:
    assert_allclose(grad(f)(a), differences(f, a), rtol=rtol, atol=1e-8)


# Values alone, or vectors alone, where values coincide.


def exponentials(a: np.ndarray) -> Any:
    return np.sum(np.exp(np.linalg.eigvalsh(symmetric(a))))


def exponentials_beside_vectors(a: np.ndarray) -> Any:
    return np.sum(np.exp(np.linalg.eigh(symmetric(a)).eigenvalues))


def top_two(a: np.ndarray) -> Any:
    v = np.linalg.eigh(symmetric(a)).eigenvectors[:, 1:]
    return np.sum(W * (v @ v.T))


def truncated(a: np.ndarray) -> Any:
    """Use only the largest eigenvalue and its vector; the others coincide."""
    w, v = np.linalg.eigh(symmetric(a))
    return np.sum(W * (v[:, 2:] * np.sqrt(w[2:]) @ v[:, 2:].T))


@pytest.mark.parametrize("f", [exponentials, exponentials_beside_vectors, top_two])
@pytest.mark.parametrize("values", [(1.0, 2.0, 2.0), (-1.0, 0.5, 0.5)], ids=str)
def test_equal_eigenvalues(f: Function, values: tuple[float, ...]) -> None:
    assert_derivative(f, with_values(*values))


def test_equal_eigenvalues_of_the_identity() -> None:
    assert_allclose(grad(exponentials)(np.eye(3)), np.e * np.eye(3), rtol=1e-14)


@pytest.mark.parametrize("values", [(0.0, 0.0, 2.0), (1.0, 1.0, 3.0)], ids=str)
def test_eigenvectors_that_are_not_used_may_be_undetermined(values: tuple[float, ...]) -> None:
    assert_derivative(truncated, with_values(*values))


def square_root(a: np.ndarray) -> Any:
    w, v = np.linalg.eigh(symmetric(a))
    return ((v * np.sqrt(w)) @ v.T)[0, 1]


def test_values_and_vectors_of_equal_eigenvalues_raise() -> None:
    """The cotangents are those of a function whose derivative is zero; here it is 1/4."""
    assert_allclose(differences(square_root, np.eye(3))[0, 1], 0.25, rtol=1e-6)
    with pytest.raises(MissingRuleError, match="coincide"):
        grad(square_root)(np.eye(3))
    assert_derivative(square_root, with_values(1.0, 2.0, 4.0))


def polar_factor(a: np.ndarray) -> Any:
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(W[: a.shape[0], : a.shape[1]] * (u @ vh))


def nuclear_norm(a: np.ndarray) -> Any:
    return np.sum(np.linalg.svd(a, full_matrices=False).S)


@pytest.mark.parametrize("f", [polar_factor, nuclear_norm])
@pytest.mark.parametrize("columns", [2, 3])
def test_equal_singular_values(f: Function, columns: int) -> None:
    assert_derivative(f, 2 * rotation(3)[:, :columns])


def low_rank(a: np.ndarray) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(W * (u[:, :1] * s[:1] @ vh[:1]))


def test_singular_vectors_that_are_not_used_may_be_undetermined() -> None:
    a = rotation(3) * [3.0, 1.0, 1.0] @ rotation(3).T
    assert_derivative(low_rank, a)
    assert_allclose(
        grad(low_rank)(np.outer(W[0], W[1])), differences(low_rank, np.outer(W[0], W[1])), rtol=1e-6
    )


def rebuilt(a: np.ndarray) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(W[:, :2] * ((u * s) @ vh))


def test_singular_values_of_zero_raise_where_they_matter() -> None:
    with pytest.raises(MissingRuleError, match="are zero"):
        grad(rebuilt)(np.outer(W[0], [1.0, 2.0]))
    assert_allclose(grad(rebuilt)(W[:, 1:].copy()), W[:, :2], rtol=1e-12)


def test_values_of_opposite_sign_are_not_equal_for_hermitian_svd() -> None:
    """The singular values coincide, but the eigenvalues of `eigh`, which computes them, do not."""

    def pairs(a: np.ndarray) -> Any:
        u, _, vh = np.linalg.svd(symmetric(a), hermitian=True)
        return np.sum(W * np.outer(u[:, 2], vh[2]))

    assert_derivative(pairs, with_values(2.0, -2.0, 1.0))


# Phases and bases.


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda z: np.linalg.eigh(z).eigenvectors[0, 1].imag, "phases"),
        (lambda z: np.linalg.svd(z).Vh[1, 1].imag, "phases"),
        (lambda z: np.linalg.svd(z[:2]).Vh[2, 0].real, "space that they span"),
        (lambda z: np.linalg.qr(z[:, :1], "complete").Q[0, 1].real, "space that they span"),
    ],
    ids=["eigh", "svd", "svd-full", "qr-complete"],
)
def test_output_that_depends_on_the_choice_of_vectors_raises(f: Function, words: str) -> None:
    z = draw(3, 3, dtype=complex)
    with pytest.raises(MissingRuleError, match=words):
        grad(f)(z @ z.conj().T)


def test_qr_of_dependent_columns_raises() -> None:
    with pytest.raises(MissingRuleError, match="linearly dependent"):
        grad(lambda a: np.linalg.qr(a).R.sum())(np.outer(W[0], W[1]))


@pytest.mark.without_modes("forward mode cannot tell which outputs are used")
def test_unused_output_of_dependent_columns_has_zero_derivative() -> None:
    stack = np.stack([np.outer(W[0], W[1]), W])
    da = grad(lambda a: np.linalg.qr(a).R[1].sum())(stack)
    assert_allclose(da[0], 0)
    assert_allclose(da[1], grad(lambda a: np.linalg.qr(a).R.sum())(W))


# Eigenvalues of general matrices.


def test_sum_and_product_of_eigenvalues_are_trace_and_determinant() -> None:
    a = draw(4, 4)
    assert_allclose(grad(lambda a: np.linalg.eigvals(a).sum().real)(a), np.eye(4), atol=1e-12)
    assert_allclose(
        grad(lambda a: np.prod(np.linalg.eigvals(a)).real)(a),
        np.linalg.det(a) * np.linalg.inv(a).T,
        rtol=1e-10,
    )


def test_equal_eigenvalues_of_a_general_matrix() -> None:
    basis = draw(3, 3)
    a = basis * [1.0, 2.0, 2.0] @ np.linalg.inv(basis)
    cubes = grad(lambda a: np.sum(np.linalg.eigvals(a) ** 3).real)(a)
    assert_allclose(cubes, 3 * np.linalg.matrix_power(a, 2).T, rtol=1e-6)


def test_matrix_without_a_basis_of_eigenvectors_raises() -> None:
    jordan = np.array([[1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(MissingRuleError, match="no basis of eigenvectors"):
        grad(lambda a: np.linalg.eigvals(a)[0].real)(jordan)


def test_eigenvalues_are_matched_in_whatever_order() -> None:
    w = np.array([[1.0, 2.0, 2.0, 3.0], [4.0, 3.0, 2.0, 1.0]])
    y = np.array([[2.0, 3.0, 2.0, 1.0], [1.0, 2.0 + 1e-15, 3.0, 4.0]])
    order = order_like(w, y)
    assert_allclose(np.take_along_axis(y, order, -1), w)
    assert_allclose(np.sort(order), [[0, 1, 2, 3]] * 2)
