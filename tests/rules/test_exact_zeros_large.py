"""Whether the numbers of small and of large arrays are finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.rules.exact_zeros import ONE_THREAD, surely_finite
from tests.support.pairs import pairwise


@pytest.mark.parametrize(
    ("order", "shape", "dtype"),
    pairwise(["C", "F"], [(), (3,), (2, 3), (ONE_THREAD + 1,), (3, ONE_THREAD)], [float, complex]),
)
def test_one_number_that_is_not_finite_is_found(shape: Any, order: Any, dtype: Any) -> None:
    a = np.ones(shape, dtype, order=order)
    assert surely_finite(a)
    with np.errstate(all="ignore"):
        for found in (np.inf, -np.inf, np.nan):
            a.flat[-1] = found
            assert not surely_finite(a)
        a.flat[0], a.flat[-1] = -np.inf, np.inf
        assert not surely_finite(a)


@pytest.mark.parametrize("size", [10, ONE_THREAD + 1])
def test_zero_times_infinity_is_zero(size: int) -> None:
    x = np.ones(size)
    x[-1] = 0.0
    with np.errstate(all="ignore"):
        g = grad(lambda x: np.sum(np.sqrt(x)[:-1]))(x)
    np.testing.assert_array_equal(g, 0.5 * x)
