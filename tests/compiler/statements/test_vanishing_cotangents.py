"""A cotangent of zero stays zero in products of vectors and matrices that are not finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import grad

INF = np.inf


def test_a_number_that_vanishes_spoils_no_product_of_vectors() -> None:
    """The cotangent over a pivot that is infinite is zero, and meets elements that are not."""

    def solved(a: Any, x: Any) -> Any:
        x[0] = (x[0] - a[0, 1:] @ x[1:]) / a[0, 0]
        return x[0]

    a = np.array([[INF, 1.0, 1.0], [1.0, 1.0, 1.0]])
    with np.errstate(all="ignore"):
        da, dx = grad(solved, (0, 1))(a, np.array([1.0, 2.0, INF]))
    assert_array_equal(da[:, 1:], 0.0)
    assert_array_equal(dx, 0.0)


@pytest.mark.without_modes("a tangent that meets an infinite factor is no cotangent")
def test_numbers_one_after_the_other_are_looked_at() -> None:
    def scaled(a: Any, x: Any, s: Any) -> Any:
        x[0] = (a[0] @ x[1:]) * s[0] / s[1]
        return x[0]

    a, x, s = np.array([[1.0, INF]]), np.array([0.0, 1.0, 1.0]), np.array([INF, INF])
    with np.errstate(all="ignore"):
        da, dx = grad(scaled, (0, 1))(a, x, s)
    assert_array_equal(da, 0.0)
    assert_array_equal(dx, 0.0)


def test_an_infinite_element_of_a_vector_spoils_no_outer_product() -> None:
    def first(a: Any, b: Any) -> Any:
        c = np.empty(2)
        c[:] = a @ b
        return c[0]

    with np.errstate(all="ignore"):
        db = grad(first, 1)(np.array([1.0, INF]), np.ones((2, 2)))
    assert_array_equal(db, [[1.0, 0.0], [INF, 0.0]])


@pytest.mark.without_modes("an infinite tangent times a zero is nan")
def test_divisions_by_zeros_that_are_written_down_have_derivatives() -> None:
    def total(x: Any) -> Any:
        y = np.exp(x / 0.0) + x
        y[1:] /= 0
        return y[0]

    with np.errstate(all="ignore"):
        assert_array_equal(grad(total)(np.array([-1.0, 1.0])), [1.0, 0.0])


def test_numbers_of_numpy_may_be_divided_by_zero() -> None:
    def total(x: Any, a: float) -> Any:
        y = (x[0] / a) * x + x
        return y[1]

    with np.errstate(all="ignore"):
        dx, da = grad(total, (0, 1))(np.array([2.0, 1.0]), 0.0)
    assert_array_equal(dx, INF)
    assert da == -INF
