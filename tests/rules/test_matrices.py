"""What the rules of linear algebra share."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py.rules.matrices import BLOCK, inverse_lower
from tests.support.pairs import pairwise


@pytest.mark.parametrize(
    ("dtype", "stack", "n"),
    pairwise(
        [np.float32, np.float64, np.complex128],
        [(), (2, 3)],
        [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7],
    ),
)
def test_triangles_are_inverted_by_halves(n: int, stack: tuple[int, ...], dtype: type) -> None:
    random = np.random.default_rng(5)
    low = np.tril(random.standard_normal((*stack, n, n)) / max(n, 1)) + 2.0 * np.eye(n)
    if dtype is np.complex128:
        low = low + 0.1j * np.tril(low, -1)
    low = low.astype(dtype)
    inverse = inverse_lower(low)
    assert inverse.dtype == dtype
    identity = np.broadcast_to(np.eye(n, dtype=dtype), low.shape)
    assert_allclose(low @ inverse, identity, atol=1e-12 if dtype is not np.float32 else 1e-5)
    assert np.all(np.triu(inverse, 1) == 0)
