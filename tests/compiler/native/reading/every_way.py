"""Derivatives of functions of a vector and a number, compiled ones against plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad
from mooncake_py.compiler.native.site import report

__all__ = ["POINT", "require_agreement", "require_whole"]

POINT = np.array([0.3, -0.4, 0.8, 0.5]), 0.7
ALONG = np.cos(POINT[0]), 0.3
STEP = 1e-6


def require_whole(f: Any, tried: list[bool]) -> None:
    """Require that a function is compiled whole, and right in all modes, at one point."""
    require_agreement(f)
    assert report(f)[0].found == "compiled", report(f)
    assert tried
    assert all(tried)


def require_agreement(f: Any) -> None:
    """Require that derivatives with `compile=True` are those without, and those of differences."""
    x, a = POINT
    value, g = value_and_grad(f, (0, 1), compile=True)(x.copy(), a)
    expected, h = value_and_grad(f, (0, 1))(x.copy(), a)
    assert type(value) is type(expected)
    assert_allclose(value, f(x.copy(), a), rtol=1e-12)
    dx, da = STEP * ALONG[0], STEP * ALONG[1]
    slope = (f(x + dx, a + da) - f(x - dx, a - da)) / (2 * STEP)
    assert_allclose(g[0] @ ALONG[0] + g[1] * ALONG[1], slope, rtol=1e-6, atol=1e-8)
    for p, q in zip(g, h, strict=True):
        assert_allclose(p, q, rtol=1e-10, atol=1e-13)
    found = jvp(f, POINT, ALONG, compile=True)
    assert_allclose(found, jvp(f, POINT, ALONG), rtol=1e-10)
    second = hvp(f, POINT, ALONG, (0, 1), compile=True)
    for p, q in zip(second, hvp(f, POINT, ALONG, (0, 1)), strict=True):
        assert_allclose(p, q, rtol=1e-9, atol=1e-12)
