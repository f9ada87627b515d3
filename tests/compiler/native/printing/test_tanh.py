"""The hyperbolic tangent of compiled functions: as accurate as that of the C library."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.printing.called import compilable, numba

pytestmark = [pytest.mark.slow, pytest.mark.plain]


@pytest.fixture(scope="module")
def compiled() -> Any:
    """What applies it to an array."""
    pytest.importorskip("numba")
    tanh = compilable(math.tanh)

    def apply(x: Any, y: Any) -> None:
        for i in range(x.size):
            y[i] = tanh(x[i])

    return numba().njit(apply)


def test_accuracy(compiled: Any) -> None:
    rng = np.random.default_rng(0)
    scales = (1e-300, 1e-9, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0)
    x = np.concatenate(
        [rng.standard_normal(20_000) * scale for scale in scales]
        + [np.linspace(0.62, 0.63, 20_000)]
    )
    y = np.empty_like(x)
    compiled(x, y)
    exact = np.tanh(x.astype(np.longdouble))
    assert np.max(np.abs(y - exact) / np.spacing(np.abs(exact).astype(float))) < 2


def test_special_numbers(compiled: Any) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e308, -1e308, 22.0, -22.0])
    y = np.empty_like(x)
    compiled(x, y)
    assert np.array_equal(y, np.tanh(x), equal_nan=True)
    assert np.array_equal(np.signbit(y), np.signbit(x))


def test_float32(compiled: Any) -> None:
    x = np.linspace(-10.0, 10.0, 1000, dtype=np.float32)
    y = np.empty_like(x)
    compiled(x, y)
    assert np.max(np.abs(y - np.tanh(x))) <= 2**-24
