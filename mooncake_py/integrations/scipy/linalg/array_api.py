"""Functions that SciPy takes from its copy of the array API instead of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules.declare import overlay

try:
    import scipy._lib.array_api_compat.numpy.linalg as compat
except ImportError:  # private: another version of SciPy may do without
    compat = None

__all__: list[str] = []


def solve(x1: Any, x2: Any, /) -> Any:
    """Solve for one vector, or for matrices."""
    if np.ndim(x2) == 1:
        return np.linalg.solve(x1, x2[:, None])[..., 0]
    return np.linalg.solve(x1, x2)


if compat is not None:
    overlay(compat.solve)(solve)
