"""Adjoints of sums of products along axes, as products of matrices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from mooncake_py import value_and_grad
from mooncake_py.compiler.statements.matrix_sums import layout_of, matrix_sum
from mooncake_py.rules.axes import spread
from mooncake_py.rules.broadcasting import fit

RANDOM = np.random.default_rng(0)


def shapes(ndim: int) -> list[tuple[int, ...]]:
    """Return shapes some of whose axes are of length 1."""
    return [
        tuple([k + 2 if long else 1 for k, long in enumerate(axes)])
        for axes in itertools.product((False, True), repeat=ndim)
    ]


def without_leading_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    while len(shape) > 1 and shape[0] == 1:
        shape = shape[1:]
    return shape


@pytest.mark.sampled(5)
@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("keepdims", [False, True])
def test_it_is_the_sum_of_the_products(ndim: int, keepdims: bool) -> None:
    all_axes = [axes for n in range(1, ndim + 1) for axes in itertools.combinations(range(ndim), n)]
    found = 0
    for first, second, axes in itertools.product(shapes(ndim), shapes(ndim), all_axes):
        x, w = RANDOM.standard_normal(first), RANDOM.standard_normal(without_leading_ones(second))
        y = np.asarray(np.sum(x * w, axis=axes, keepdims=keepdims))
        d = RANDOM.standard_normal(y.shape)
        full = spread(d, axes, (x * w).shape)
        for a, b in ((x, w), (w, x)):
            given = (d, b, a.shape, axes, keepdims)
            expected = fit(full * b, a.shape, a.dtype)
            result = matrix_sum(*given)
            assert result.shape == a.shape
            np.testing.assert_allclose(result, expected, rtol=1e-13, atol=1e-14)
            found += layout_of(d.shape, b.shape, a.shape, axes) is not None
    assert found >= [0, 4, 64][ndim - 1]


@pytest.mark.parametrize("axis", [0, -1, (0, 1), (-2, 0)])
def test_axes_are_counted_from_both_ends(axis: Any) -> None:
    x, w = RANDOM.standard_normal((4, 3, 1)), RANDOM.standard_normal((1, 3, 5))
    d = RANDOM.standard_normal(np.sum(x * w, axis=axis).shape)
    expected = fit(spread(d, axis, (4, 3, 5)) * w, x.shape, x.dtype)
    np.testing.assert_allclose(matrix_sum(d, w, x.shape, axis), expected, rtol=1e-13)


def test_windows_times_weights() -> None:
    layout = layout_of((2, 4), (1, 3, 3, 3, 4), (2, 3, 3, 3, 1), (1, 2, 3))
    assert layout is not None
    assert (layout.rows, layout.inner, layout.columns) == (2, 4, 27)


def test_what_has_an_axis_in_common_is_no_product_of_matrices() -> None:
    assert layout_of((3,), (3, 4), (3, 4), 1) is None
    assert layout_of((3,), (3, 1), (3, 4), 1) is None
    assert layout_of((3,), (4,), (3, 4), 1) is None


def test_a_zero_cotangent_stays_zero_beside_what_is_not_finite() -> None:
    def f(x: Any, w: Any) -> Any:
        y = np.zeros((4, 5))
        y[...] = np.sum(x[:, :, None] * w[None], axis=1)
        return y[0, 0]

    x, w = RANDOM.standard_normal((4, 3)), RANDOM.standard_normal((3, 5))
    x[2, 1] = np.inf
    w[0, 2] = np.nan
    with np.errstate(all="ignore"):
        _, (dx, dw) = value_and_grad(f, (0, 1))(x, w)
    np.testing.assert_array_equal(dx, np.outer([1.0, 0, 0, 0], w[:, 0]))
    np.testing.assert_array_equal(dw, np.outer(x[0], [1.0, 0, 0, 0, 0]))
