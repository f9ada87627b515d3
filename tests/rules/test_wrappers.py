"""Wrappers of BLAS and LAPACK return, and leave in their arguments, what they do by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad, value_and_grad
from tests.support.gradients import check

lapack = pytest.importorskip("scipy.linalg.lapack")
blas = pytest.importorskip("scipy.linalg.blas")

X = np.array([1.0, -0.5, 2.0])
A = np.array([[4.0, 1.0, 0.5], [0.3, 3.0, -0.8], [0.2, 0.6, 5.0]])
LAYOUTS = {
    "vector": np.ones(3),
    "column": np.ones((3, 1)),
    "Fortran": np.asfortranarray(np.ones((3, 2))),
    "C": np.ones((3, 2)),
    "float32": np.ones(3, np.float32),
    "ints": np.ones(3, int),
}


@pytest.mark.parametrize("overwrite", [0, 1])
@pytest.mark.parametrize("constant", LAYOUTS.values(), ids=LAYOUTS)
def test_what_is_left_in_the_right_side_and_the_matrix(constant, overwrite):
    def f(x):
        a, b = np.asfortranarray(A * x), constant.copy(order="K")
        lu, _, solution, _ = lapack.dgesv(a, b, overwrite_a=overwrite, overwrite_b=overwrite)
        solution = solution * x[0]
        return np.sum(b * 2.0) + np.sum(a) * x[1] + np.sum(solution**2) + np.sum(lu)

    check(f, X)


def test_a_constant_that_is_overwritten_between_two_uses():
    def f(x):
        b = np.asfortranarray(np.ones((3, 1)))
        y = x * b[:, 0]
        lapack.dgesv(np.asfortranarray(A), b, overwrite_b=1)
        return np.sum(y * b[:, 0] * x)

    check(f, X)


@pytest.mark.parametrize("overwrite", [0, 1])
def test_products(overwrite):
    def f(x):
        a = np.asfortranarray(A * x)
        c, y = np.asfortranarray(A.copy()), np.ones(3)
        product = blas.dgemm(1.5, a, a, 0.5, c, trans_a=1, overwrite_c=overwrite)
        vector = blas.dgemv(2.0, a, x, 0.7, y, overwrite_y=overwrite)
        return np.sum(product * c) + np.sum(vector * y) + blas.ddot(vector, y) * blas.dnrm2(x)

    check(f, X)


def test_results_have_the_type_of_the_wrapper():
    low = X.astype(np.float32)

    def f(x):
        product = blas.dgemm(1.0, np.outer(low, low), np.outer(x, x))
        assert product.dtype == np.float64
        assert blas.zgemm(1.0, np.outer(x, x), np.outer(x, x)).dtype == np.complex128
        assert type(blas.zdotu(x, x)) is complex
        return np.sum(product) + blas.ddot(low, x)

    value, _ = value_and_grad(f)(X)
    assert value == f(X)


@pytest.mark.without_modes("forward modes need tangents of the factors, read or not")
def test_a_singular_matrix_leaves_the_right_side():
    def f(x):
        _, _, solution, info = lapack.dgesv(np.outer(x, x), x)
        assert info > 0
        return np.sum(solution)

    np.testing.assert_array_equal(grad(f)(np.array([1.0, 2.0])), [1.0, 1.0])


def test_a_band_matrix_that_is_overwritten():
    def f(x):
        ab = np.zeros((4, 3), order="F")
        ab[1:] = A
        b = x.copy()
        solution = lapack.dgbsv(1, 1, ab, b, overwrite_ab=1, overwrite_b=1)[2]
        return np.sum(b**2) + np.sum(solution)

    value, gradient = value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    step = 1e-6 * np.ones(3)
    assert gradient.sum() == pytest.approx((f(X + step) - f(X - step)) / 2e-6, rel=1e-8)
