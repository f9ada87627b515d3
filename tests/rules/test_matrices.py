"""What the rules of linear algebra share."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.rules.matrices import BLOCK, solve_upper


@pytest.mark.parametrize("n", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
@pytest.mark.parametrize("stack", [(), (2, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_triangles_are_solved_by_halves(n: int, stack: tuple[int, ...], dtype: type) -> None:
    random = np.random.default_rng(5)
    u = np.triu(random.standard_normal((*stack, n, n)) / max(n, 1)) + 2.0 * np.eye(n)
    b = random.standard_normal((*stack, n, 4))
    if dtype is np.complex128:
        u, b = u + 0.1j * np.triu(u, 1), b * (1.0 + 1.0j)
    u, b = u.astype(dtype), b.astype(dtype)
    x = solve_upper(u, b)
    assert x.dtype == dtype
    assert_allclose(u @ x, b, atol=1e-12 if dtype is not np.float32 else 1e-5, strict=True)
