"""Whether a cotangent is finite is told as by `surely_finite`."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.compiler.statements.fitting import finite
from mooncake_py.rules.exact_zeros import ONE_THREAD, surely_finite

SHAPES = ((), (0,), (5,), (3, 4), (2, 3, 2), (ONE_THREAD + 1,), (ONE_THREAD // 100 + 1, 100))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("spoilt", [None, np.inf, -np.inf, np.nan])
def test_arrays_of_each_shape(shape, spoilt):
    d = np.random.default_rng(0).normal(size=shape)
    if spoilt is not None and d.size:
        d.reshape(-1)[d.size // 2] = spoilt
    for each in (d, d.T, d[..., ::-1] if shape else d):
        assert finite(each) == surely_finite(each) == np.isfinite(d).all()


@pytest.mark.parametrize("d", [0.0, -1.5, np.float64(2.0), float("inf"), float("nan"), np.inf])
def test_numbers(d):
    assert finite(d) == surely_finite(d) == np.isfinite(d)
