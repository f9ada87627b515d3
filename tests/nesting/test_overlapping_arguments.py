"""Gradients inside gradients with respect to arrays of which elements are the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_allclose

from mooncake_py import grad, vjp

W = np.arange(1.0, 7.0).reshape(3, 2)
V = np.cos(np.arange(6.0)).reshape(3, 2)


def f(p):
    return np.sum(p**3 * W) + p[0, 0] * p[1, 1] ** 2


@pytest.mark.parametrize(
    ("memory", "seen"),
    [
        (np.array([1.0, 2.0, 3.0, 4.0]), lambda a: sliding_window_view(a, 2)),
        (np.array([1.0, 2.0]), lambda a: np.broadcast_to(a, (3, 2))),
        (np.array([[1.0], [2.0], [3.0]]), lambda a: np.broadcast_to(a, (3, 2))),
        (np.array(2.0), lambda a: np.broadcast_to(a, (3, 2))),
    ],
    ids=["windows", "rows", "columns", "one"],
)
def test_cotangents_of_all_elements_of_a_cell_add_up(memory: np.ndarray, seen: Any) -> None:
    """Each element of a gradient is that of its cell, so its cotangent is one of the cell."""
    g = grad(f)
    expected = np.zeros_like(memory)
    for index in np.ndindex(memory.shape):
        step = np.zeros_like(memory)
        step[index] = 1e-6
        change = g(seen(memory + step)) - g(seen(memory - step))
        expected[index] = np.sum(V * change) / 2e-6
    assert_allclose(vjp(g, seen(memory))[1](V)[0], seen(expected), rtol=1e-6)
    assert_allclose(grad(lambda p: np.sum(V * g(p)))(seen(memory)), seen(expected), rtol=1e-6)
