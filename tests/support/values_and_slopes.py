"""Values and derivatives of functions of which the differences are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py import jvp, value_and_grad

__all__ = ["check_values_and_slopes"]


def check_values_and_slopes(
    f: Callable[[Any], Any], x: np.ndarray, expected: np.ndarray, atol: float
) -> None:
    """Check that both modes give the value of the plain call, and these derivatives."""
    value, g = value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(g, expected, rtol=1e-4, atol=atol)
    value, slope = jvp(f, (x,), (np.array([1.0, 0.0]),))
    assert value == f(x)
    np.testing.assert_allclose(slope, expected[0], rtol=1e-4, atol=atol)
