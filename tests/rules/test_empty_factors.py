"""Factorizations of matrices without rows or columns, whose derivative is empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad

sl = pytest.importorskip("scipy.linalg")


@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize("permute", [True, False])
def test_lu(rows: int, permute: bool) -> None:
    def f(x: Any) -> Any:
        a = x.reshape(2, 2)
        a = a[:, :0] if rows else a[:0]
        return sum(np.sum(part) for part in sl.lu(a, permute)) + x[0]

    x = np.array([1.5, -2.0, 0.5, 1.0])
    value, g = value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_array_equal(g, [1.0, 0.0, 0.0, 0.0])
    assert jvp(f, (x,), (x,))[1] == 1.5
