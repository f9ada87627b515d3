"""Jacobians have the precision of outputs and inputs together, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py import jacobian


@pytest.mark.parametrize("x", [np.float32(0.3), np.array([0.3, 0.7], np.float32)], ids=type)
@pytest.mark.parametrize("f", [
    lambda x: x * x, lambda x: np.sum(x * x), lambda x: x.astype(np.float64) ** 2,
    lambda x: float(np.sum(x * x)), lambda x: x * 1j,
])  # fmt: skip
def test_the_dtype_is_the_same_in_both_modes(f: Any, x: Any) -> None:
    forward, reverse = (np.asarray(jacobian(f, mode=mode)(x)) for mode in ("forward", "reverse"))
    assert forward.dtype == reverse.dtype == np.result_type(np.asarray(f(x)), x)
