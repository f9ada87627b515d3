"""Tangents of joined arrays, of which some are constant, lists, numbers, or of other types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py import hvp, jvp

X, DX = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, -1.0], [2.0, 0.25]])
K = np.array([[7, 8]])

FUNCTIONS: dict[str, Any] = {
    "concatenate": lambda x: np.concatenate([x, K, 2.0 * x[:1]]),
    "flattened": lambda x: np.concatenate((x, K), axis=None),
    "typed": lambda x: np.concatenate([x, K], axis=0, dtype=np.float32, casting="same_kind"),
    "ragged": lambda x: np.concatenate([x[0], x[1, :1], [x[0, 1], 5.0, 1.0 * x[1, 1]]]),
    "of-an-array": lambda x: np.concatenate(x * 1.0),
    "stack": lambda x: np.stack([x[0], K[0], -x[1]], axis=1),
    "stack-of-lists": lambda x: np.stack([[x[0, 0], 1.0], [2.0, x[1, 1]]], -1),
    "vstack": lambda x: np.vstack((x[0], K, x)),
    "hstack": lambda x: np.hstack([x[0], 3.0, x[1, 0]]),
    "dstack": lambda x: np.dstack((x, np.ones((2, 2)))),
    "column_stack": lambda x: np.column_stack([x[:, 0], [1.0, 2.0], x]),
    "complex": lambda x: np.concatenate([x, 1j * x]),
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_tangents_of_joined_arrays(f: Any) -> None:
    y, dy = jvp(f, (X,), (DX,))
    assert_array_equal(y, f(X))
    assert y.dtype == dy.dtype == f(X).dtype
    assert_array_equal(dy, f(X + DX) - f(X))  # all are affine, and these numbers are exact


def test_second_derivatives_of_joined_arrays() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.stack([x[0] * x[1], K[0] * x[0]]) ** 2)

    (product,) = hvp(f, (X,), (DX,), argnums=(0,))
    (a, b), (da, db) = X, DX
    first = 2.0 * (da * b * b + 2.0 * a * b * db + da * K[0] ** 2)
    assert_array_equal(product, [first, 2.0 * (db * a * a + 2.0 * a * b * da)])
