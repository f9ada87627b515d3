"""Elementwise functions of NumPy on ints and bools, and tests of floats, in compiled code."""

from __future__ import annotations

from warnings import catch_warnings, resetwarnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain

COMPILED = [
    "np.maximum(I, 1)[0] @ x + np.minimum(I[:, 0], I[1]) @ y + np.maximum(I[0, 1], 2) * x[1]",
    "np.abs(I - 2)[1] @ x + np.abs(I[0, 0] - 5) * y[0] + abs(I[2] - 1) @ y",
    "np.sum(np.logical_and(x > 0, y > 0) * x) + np.sum(np.logical_or(x > 0, y[0] > 0) * y)",
    "np.sum(np.logical_not(x > 0) * y) + x[np.logical_not(y > 0)].sum()",
    "x[0] if np.logical_and(x[0] > 0, y[0] > -9) else y[0]",
    "np.isnan(x).any() * x[0] + np.isfinite(A).all() * y[1] + np.isinf(x).sum() * x[1] + x[2]",
    "x[0] * 2 if np.isfinite(x[0] * y[0]) and not np.isnan(y[0]) else y[0]",
    "(x > 0).astype(int) @ y + x[(y > 0).astype(np.int64)] @ x",
    "np.shape(A)[0] * x[0] + np.size(A) * x[1] + bool(x[0] > 0) * y[1] + bool(I[0, 0]) * y[2]",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", COMPILED)
def test_compiled(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


def cleaned(x):
    y = 1.0 / x
    y[np.isinf(y)] = 0.0
    z = np.sqrt(x - 1.0)
    z[np.isnan(z)] = 2.0
    y[~np.isfinite(y)] = 1.0
    return y @ z


def test_what_is_not_finite_is_found(tried: list[bool]) -> None:
    x = np.array([0.0, 2.0, 1.5, -1.0])
    with catch_warnings(), np.errstate(all="ignore"):
        resetwarnings()  # where one is an error somewhere the region is left
        found, expected = (value_and_grad(cleaned, compile=way)(x) for way in (True, False))
    assert_allclose(found[0], expected[0])
    assert_allclose(found[1], expected[1])
    assert tried == [True]
