"""Seeded arrays for the cases."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["draw"]


def draw(*shape: int, dtype: Any = float, seed: int = 0) -> np.ndarray:
    """Return normal numbers, without ties and away from zero by 0.1."""
    rng = np.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x + 0.1 * np.sign(x.real), dtype)
