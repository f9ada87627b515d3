"""Derivatives of programs on two arrays against differences, to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from mooncake_py import grad, hvp, jvp

__all__ = ["check_to_second_order"]


def check_to_second_order(program: Any, x: Any, y: Any) -> None:
    """Compare the value, gradient, tangent and product with the Hessian of a program."""
    v, w = (np.cos(np.arange(1.0, a.size + 1)).reshape(a.shape) for a in (x, y))
    eps = 1e-6

    def at(t: float) -> Any:
        return x + t * v, y + t * w

    value, slope = jvp(program, at(0.0), (v, w))
    assert value == program(*at(0.0))
    ends = [program(*at(s * eps)) for s in (1, -1)]
    assert_allclose(slope, (ends[0] - ends[1]) / (2 * eps), rtol=1e-6)
    gradient = grad(program, (0, 1))
    found = gradient(*at(0.0))
    assert_allclose(sum(np.sum(g * d) for g, d in zip(found, (v, w), strict=True)), slope)
    products = hvp(program, at(0.0), (v, w), argnums=(0, 1))
    for k, product in enumerate(products):
        g, h = (gradient(*at(s * eps))[k] for s in (1, -1))
        assert_allclose(product, (g - h) / (2 * eps), rtol=1e-5, atol=1e-5)
