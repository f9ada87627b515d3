"""Whether a cotangent is finite is told as by `surely_finite`."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py.compiler.statements.fitting import both_finite, finite
from mooncake_py.rules.exact_zeros import ONE_THREAD, surely_finite
from tests.support.pairs import rotating

SHAPES = ((), (0,), (5,), (3, 4), (2, 3, 2), (ONE_THREAD + 1,), (ONE_THREAD // 100 + 1, 100))


@pytest.mark.parametrize(
    ("spoilt", "shape"), rotating([None, np.inf, -np.inf, np.nan], SHAPES, times=2)
)
def test_arrays_of_each_shape(shape, spoilt):
    d = np.random.default_rng(0).normal(size=shape)
    if spoilt is not None and d.size:
        d.reshape(-1)[d.size // 2] = spoilt
    for each in (d, d.T, d[..., ::-1] if shape else d):
        assert finite(each) == surely_finite(each) == np.isfinite(d).all()


@pytest.mark.parametrize("d", [0.0, -1.5, np.float64(2.0), float("inf"), float("nan"), np.inf])
def test_numbers(d):
    assert finite(d) == surely_finite(d) == np.isfinite(d)


@pytest.mark.parametrize("spoilt", [None, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("other", [(3, 4), (12,), (2, 6), (5,)])
def test_two_arrays_at_once(spoilt, other):
    random = np.random.default_rng(0)
    a, b = np.abs(random.normal(size=(3, 4))), np.zeros(other)
    if spoilt is not None:
        a[1, 2] = spoilt
    for first, second in ((a, b), (b, a), (a.T, b), (a, b.T), (a, -a)):
        with np.errstate(all="ignore"):  # as in the reverse pass
            assert both_finite(first, second) == (spoilt is None)


def test_two_numbers_at_once():
    assert both_finite(1.0, np.ones(2))
    assert not both_finite(np.inf, np.ones(2))
    assert not both_finite(np.zeros(2), np.float64(np.nan))
