"""Statements on arrays of other dtypes, with memory that is shared, and views that overlap."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import value_and_grad
from mooncake_py.modes.reverse.context import ReverseContext
from tests.compiler.statements.test_array_statements import gradient
from tests.support.gradients import differences

X = np.array([0.7, -1.2, 0.8, 1.9, -0.4])
W = np.array([1.1, 0.6, -0.7, 0.4, 1.5])
M = np.array([[2.1, 0.3, -0.4], [0.5, 1.9, 0.2], [-0.6, 0.7, 2.4]])


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.longdouble])
def test_other_dtypes_go_the_general_way(dtype):
    def f(x):
        for k in range(1, 4):
            x[k:] = x[k - 1 : -1] * x[k:] + 0.5
            x[:k] -= 0.1 * x[k]
        return np.sum(np.abs(x) ** 2)

    x = X.astype(dtype)
    _, fused = gradient(f, (x,), 0)
    _, general = gradient(f, (x,), 0, fuses=False)
    assert fused.dtype == dtype
    assert_array_equal(fused, general)


def test_the_same_line_serves_elements_slices_lists_and_other_dtypes():
    def step(x, i, w):
        x[i] = x[i] * w[i] + w[i]

    def loss(x, w):
        total = 0.0
        for i in (1, slice(2, None), np.array([0, 1]), 3, slice(0, 2), Ellipsis, -1):
            step(x, i, w)
        half = x.astype(np.float32)
        step(half, slice(1, 3), half)
        row = [x[0], x[1]]
        step(row, 1, w)
        total += row[1]
        return np.sum(x * x) + np.sum(half) + total

    value, found = gradient(loss, (X, W), (0, 1))
    reference, general = gradient(loss, (X, W), (0, 1), fuses=False)
    assert value == reference
    for a, b in zip(found, general, strict=True):
        assert_allclose(a, b, rtol=1e-12)


def test_parts_of_an_argument_that_share_memory():
    def f(parts):
        x, y = parts
        x[1:] = y[:-1] * x[1:] + y[1:]
        y[:2] -= x[1:3] * y[2:4]
        return np.sum(x * y * y)

    base = np.linspace(0.5, 2.0, 6)
    for pair in ((slice(0, 5), slice(1, 6)), (slice(0, 5), slice(0, 5)), (slice(4, None, -1),) * 2):
        x = base.copy()
        value, found = value_and_grad(f)((x[pair[0]], x[pair[1]]))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ReverseContext, "fuses", False)
            reference, general = value_and_grad(f)((x[pair[0]], x[pair[1]]))
        assert value == reference
        assert_array_equal(x, base)
        for a, b in zip(found, general, strict=True):
            assert_allclose(a, b, rtol=1e-13)


def test_views_that_overlap_themselves_go_the_general_way():
    def f(x, w):
        windows = np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)
        y = windows[1:] * w[:3, None] + windows[:-1]
        wide = np.broadcast_to(x[1:3], (4, 2))
        z = wide[1:] * w[:3, None] - wide[:-1]
        return np.sum(y * y) + np.sum(z * z)

    _, found = gradient(f, (X, W), (0, 1))
    for k in range(2):
        assert_allclose(found[k], differences(f, (X, W), k), rtol=1e-6, atol=1e-8)


def test_cotangents_of_one_element_are_not_added_to_themselves():
    def f(x):
        x = x * 1.0
        return np.sum((x + x[0] + x[:, 0]) * 2.0)

    assert_array_equal(value_and_grad(f)(np.ones((1, 1)))[1], [[6.0]])
