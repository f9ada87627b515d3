"""Results of SciPy: tuples with attributes."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import grad
from tests.support.gradients import check

_make_tuple_bunch = pytest.importorskip("scipy._lib._bunch")._make_tuple_bunch

X = np.array([0.3, -1.2, 0.7])
Summary = _make_tuple_bunch("Summary", ["mean", "least"], ["extra"])
summary = Summary(1.0, 2.0, extra=5.0)


def results_of_scipy(x):
    s = Summary(x.mean(), x.min(), extra=x[1])
    mean, least = s
    s.extra = s.extra * 2
    s.note = mean
    try:
        s.mean = 3.0
    except AttributeError as error:
        s.note = mean * len(str(error))
    return mean * s.least + s.extra * least * s.note


def test_attributes_of_results_of_scipy_are_put_back():
    def f(x):
        old = summary.extra
        summary.extra = x[0]
        return old * summary.extra * summary.mean

    np.testing.assert_array_equal(grad(f)(X), [5.0, 0.0, 0.0])
    assert summary.extra == 5.0


def test_items_and_attributes_of_results():
    check(results_of_scipy, X)
