"""The kernels compute what they say, and `mooncake_py` differentiates each of them."""

import copy
from typing import Any

import numpy as np
import pytest

from benchmarks.differences import directional_derivative, inner, leaves, random_like
from benchmarks.kernel import Kernel
from benchmarks.kernels import KERNELS
from mooncake_py import value_and_grad

BY_NAME = {kernel.name: kernel for kernel in KERNELS}
# Lengths of paths are linear between kinks, and points escape under a long step: a step too short
# to meet one costs no accuracy.
SHORT_STEPS = {"shortest_paths": 1e-7, "mandelbrot": 1e-6}


def small_arguments(kernel: Kernel) -> tuple[Any, ...]:
    return kernel.make_arguments(min(kernel.sizes[0], 20))


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(KERNELS)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_arguments_are_the_same_at_each_call(kernel: Kernel) -> None:
    first, second = small_arguments(kernel), small_arguments(kernel)
    for a, b in zip(leaves(first), leaves(second), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.sampled(3)
@pytest.mark.without_modes("values are compared bit for bit", "compiled")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_gradient_agrees_with_finite_differences(kernel: Kernel) -> None:
    arguments = small_arguments(kernel)
    before = copy.deepcopy(arguments)
    value, gradients = value_and_grad(kernel.function, argnums=kernel.argnums)(*arguments)
    for a, b in zip(leaves(arguments), leaves(before), strict=True):
        np.testing.assert_array_equal(a, b)
    assert value == kernel.function(*copy.deepcopy(arguments))
    random = np.random.default_rng(7)
    h = SHORT_STEPS.get(kernel.name, 1e-4)
    for argnum, gradient in zip(kernel.argnums, gradients, strict=True):
        direction = random_like(arguments[argnum], random)
        expected = directional_derivative(kernel.function, arguments, argnum, direction, h)
        assert inner(gradient, direction) == pytest.approx(expected, rel=1e-7, abs=2e-11)


@pytest.mark.parametrize("name", ["cholesky", "lu"])
def test_log_determinants(name: str) -> None:
    (a,) = BY_NAME[name].make_arguments(12)
    expected = np.linalg.slogdet(a)[1]
    assert BY_NAME[name].function(a.copy()) == pytest.approx(expected, rel=1e-12)


def test_gram_schmidt_leaves_orthonormal_columns() -> None:
    (a,) = BY_NAME["gram_schmidt"].make_arguments(12)
    half_log_gram = 0.5 * np.linalg.slogdet(a.T @ a)[1]
    assert BY_NAME["gram_schmidt"].function(a) == pytest.approx(half_log_gram, rel=1e-12)
    np.testing.assert_allclose(a.T @ a, np.eye(12), atol=1e-12, strict=True)


def test_thomas_solves_the_system() -> None:
    lower, diagonal, upper, right = BY_NAME["thomas"].make_arguments(9)
    matrix = np.diag(diagonal) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1)
    solution = np.linalg.solve(matrix, right)
    BY_NAME["thomas"].function(lower, diagonal, upper, right)
    np.testing.assert_allclose(right, solution, rtol=1e-12, strict=True)


def test_prefix_doubling_sums_prefixes() -> None:
    x = np.arange(1.0, 8.0)
    expected = x.copy()
    for _ in range(5):
        expected = np.cumsum(expected) / len(x) + 1.0
    assert BY_NAME["prefix_doubling"].function(x) == pytest.approx(np.sum(expected**2), rel=1e-12)


def test_symmetric_rank_k_matches_the_product() -> None:
    c, a = BY_NAME["symmetric_rank_k"].make_arguments(7)
    lower = np.tril(np.ones((7, 7), dtype=bool))
    expected = np.where(lower, 0.5 * c + 1.5 * a @ a.T, c)
    BY_NAME["symmetric_rank_k"].function(c, a)
    np.testing.assert_allclose(c, expected, rtol=1e-12, strict=True)


def test_deposits_agree() -> None:
    arguments = BY_NAME["deposit"].make_arguments(50)
    loop = BY_NAME["deposit_loop"].function(*arguments)
    assert BY_NAME["deposit"].function(*arguments) == pytest.approx(loop, rel=1e-12)


def test_shortest_paths_are_shortest() -> None:
    d = np.array([[0.5, 1.0, 9.0], [9.0, 0.5, 2.0], [1.0, 9.0, 0.5]])
    BY_NAME["shortest_paths"].function(d)
    np.testing.assert_array_equal(d, [[0.5, 1.0, 3.0], [3.0, 0.5, 2.0], [1.0, 2.0, 0.5]])
