"""The kernels that loop over slices compute what they say, by closed forms and other ways."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.kernels import KERNELS
from mooncake_py import grad

BY_NAME = {kernel.name: kernel for kernel in KERNELS}


def value_of(name: str, *arguments: Any) -> Any:
    return BY_NAME[name].function(*arguments)


def arguments_of(name: str, size: int) -> tuple[Any, ...]:
    return BY_NAME[name].make_arguments(size)


def test_prediction_gives_the_determinant_of_a_toeplitz_matrix() -> None:
    (r,) = arguments_of("prediction", 9)
    i = np.arange(9)
    matrix = r[np.abs(i[:, None] - i)]
    assert value_of("prediction", r) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-11)
    # The derivative of log det is the inverse; r[k] stands on two diagonals.
    inverse = np.linalg.inv(matrix)
    expected = [np.trace(inverse, k) * (1.0 if k == 0 else 2.0) for k in range(9)]
    np.testing.assert_allclose(grad(BY_NAME["prediction"].function)(r), expected, rtol=1e-9)


def test_gaussian_likelihood_has_its_closed_form() -> None:
    covariance, x = arguments_of("gaussian_likelihood", 7)
    inverse = np.linalg.inv(covariance)
    expected = -0.5 * x @ inverse @ x - 0.5 * np.linalg.slogdet(covariance)[1]
    function = BY_NAME["gaussian_likelihood"].function
    np.testing.assert_allclose(grad(function, 1)(covariance, x), -inverse @ x, rtol=1e-10)
    assert function(covariance, x) == pytest.approx(expected, rel=1e-12)


def test_in_place_factor_keeps_the_upper_triangle() -> None:
    (a,) = arguments_of("in_place_factor", 6)
    before = a.copy()
    value_of("in_place_factor", a)
    np.testing.assert_allclose(np.tril(a) @ np.tril(a).T, before, rtol=1e-12, strict=True)
    np.testing.assert_array_equal(np.triu(a, 1), np.triu(before, 1))


def test_self_energies_sum_over_links() -> None:
    sigma, blocks, gradients, neighbours = arguments_of("self_energies", 3)
    expected = sigma.copy()
    for shift in (1, 2):
        there = blocks[: len(blocks) - shift][:, neighbours]
        expected[shift:] += (
            np.einsum("slaij,esljk,slakm->esim", gradients, there, gradients[:, :, ::-1]) / shift
        )
    value_of("self_energies", sigma, blocks, gradients, neighbours)
    np.testing.assert_allclose(sigma, expected, rtol=1e-10, atol=1e-12, strict=True)


def test_covariance_and_correlation_match_numpy() -> None:
    (table,) = arguments_of("covariance", 6)
    expected = np.sum(np.cov(table.T) ** 2), np.sum(np.corrcoef(table.T) ** 2)
    assert value_of("covariance", table.copy()) == pytest.approx(expected[0], rel=1e-12)
    assert value_of("correlation", table.copy()) == pytest.approx(expected[1], rel=1e-12)


def test_sparse_rows_multiply_like_a_dense_matrix() -> None:
    data, columns, starts, x = arguments_of("sparse_rows", 12)
    dense = np.zeros((12, 12))
    dense[np.repeat(np.arange(12), np.diff(starts)), columns] = data
    function = BY_NAME["sparse_rows"].function
    twice = dense @ dense
    assert function(data, columns, starts, x) == pytest.approx(np.sum((twice @ x) ** 2), rel=1e-12)
    gradient = grad(function, 3)(data, columns, starts, x)
    np.testing.assert_allclose(gradient, 2.0 * twice.T @ twice @ x, rtol=1e-10, atol=1e-12)


def test_convolution_matches_sliding_windows() -> None:
    images, weights, bias = arguments_of("convolution", 7)
    windows = sliding_window_view(images, (3, 3), axis=(1, 2))
    out = np.einsum("nijcab,abcf->nijf", windows, weights) + bias
    expected = np.sum(np.maximum(out, 0.0))
    assert value_of("convolution", images, weights, bias) == pytest.approx(expected, rel=1e-12)


def test_max_pooling_takes_the_largest_of_each_eighth() -> None:
    (images,) = arguments_of("max_pooling", 16)
    largest = images.reshape(4, 2, 8, 2, 8, 8).max(axis=(2, 4))
    assert value_of("max_pooling", images) == pytest.approx(np.sum(largest**2), rel=1e-12)
    gradient = grad(BY_NAME["max_pooling"].function)(images)
    assert np.count_nonzero(gradient) == largest.size
    np.testing.assert_allclose(np.sort(gradient[gradient != 0]), np.sort(2.0 * largest.ravel()))


def test_triangular_product_and_solve() -> None:
    a, b = arguments_of("triangular_product", 8)
    expected = 1.5 * (np.tril(a, -1) + np.eye(8)).T @ b
    value_of("triangular_product", a, b)
    np.testing.assert_allclose(b, expected, rtol=1e-11, atol=1e-13, strict=True)
    a, x = arguments_of("triangular_solve", 8)
    expected = np.linalg.solve(np.tril(a), x)
    value_of("triangular_solve", a, x)
    np.testing.assert_allclose(x, expected, rtol=1e-11, strict=True)


def test_symmetric_product_reads_one_triangle() -> None:
    a, b, c = arguments_of("symmetric_product", 8)
    expected = 1.2 * c + 1.5 * (np.tril(a) + np.tril(a, -1).T) @ b
    value_of("symmetric_product", a, b, c)
    np.testing.assert_allclose(c, expected, rtol=1e-11, atol=1e-13, strict=True)


def test_lu_by_dots_gives_the_determinant() -> None:
    (a,) = arguments_of("lu_by_dots", 8)
    expected = np.linalg.slogdet(a)[1]
    gradient = grad(BY_NAME["lu_by_dots"].function)(a)
    np.testing.assert_allclose(gradient, np.linalg.inv(a).T, rtol=1e-10, atol=1e-14)
    assert value_of("lu_by_dots", a) == pytest.approx(expected, rel=1e-12)


def test_masked_bodies_keep_their_momentum() -> None:
    positions, velocities, masses, steps = arguments_of("masked_bodies", 9)
    momentum = masses @ velocities
    value_of("masked_bodies", positions, velocities, masses, steps)
    np.testing.assert_allclose(masses @ velocities, momentum, rtol=1e-10, atol=1e-12)


def test_mandelbrot_by_points() -> None:
    re, im, steps = arguments_of("mandelbrot", 11)
    total = 0.0
    for x in re:
        for y in im:
            z = 0j
            for _ in range(steps):
                if abs(z) < 2.0:
                    z = z * z + complex(x, y)
            total += math.log1p(abs(z) ** 2)
    assert value_of("mandelbrot", re, im, steps) == pytest.approx(total, rel=1e-11)
