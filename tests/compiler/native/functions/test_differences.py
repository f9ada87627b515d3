"""Differences, gradients on grids and trapezoids in compiled functions."""

from __future__ import annotations

import numpy as np
import pytest

from mooncake_py import value_and_grad
from tests.compiler.native.agreeing import agree, function, require_compiled

pytestmark = pytest.mark.plain

NAME = "trapezoid" if hasattr(np, "trapezoid") else "trapz"
COMPILED = [
    "np.sum(np.diff(x, 2) ** 2) + np.sum(np.diff(T, n=3, axis=1)[0] * A[:2])",
    "np.sum(np.diff(A, axis=0, prepend=0.0, append=y[None]) ** 2)",
    "np.sum(np.gradient(x) ** 2) + np.sum(np.gradient(A, 0.5, axis=0) * B)",
    "u, v = np.gradient(A, x[0] + 3.0, np.cumsum(np.exp(y))); np.sum(u * v * B)",
    "np.sum(np.gradient(T, np.cumsum(np.exp(x)), axis=1)[2] * A)",
    f"np.{NAME}(x * y, dx=x[0]) + np.{NAME}(x, np.cumsum(np.exp(y))) ** 2",
    f"np.sum(np.{NAME}(A, y, axis=0) * x) + np.sum(np.{NAME}(T, T, axis=-1) * B)",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", COMPILED)
def test_agree(text: str, tried: list[bool]) -> None:
    f = function(text)
    agree(f)
    require_compiled(f, tried)


def test_too_few_points(tried: list[bool]) -> None:
    f = function("np.sum(np.gradient(x[:1]))")
    args = np.ones(5), *np.ones((4, 5, 5)), 0
    for way in (False, True):
        with pytest.raises(ValueError, match="too small"):
            value_and_grad(f, compile=way)(*args)
    assert True not in tried
