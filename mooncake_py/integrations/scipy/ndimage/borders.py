"""Elements beyond the borders of an image, by mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage._nd_image as compiled
import scipy.ndimage._ni_support as plain
from numpy import ndarray

from mooncake_py.rules.declare import zero_derivative

__all__ = ["CONSTANT", "GRID_CONSTANT", "NAMES", "compiled", "folded", "spline_mode"]

compiled: Any = compiled
NAMES = ("nearest", "wrap", "reflect", "mirror", "constant", "grid-wrap", "grid-constant")
NEAREST, WRAP, REFLECT, MIRROR, CONSTANT, GRID_WRAP, GRID_CONSTANT = range(7)


def spline_mode(mode: int) -> int:
    """Return the mode in which coefficients of a spline go on."""
    return MIRROR if mode in (CONSTANT, WRAP) else mode


def folded(x: ndarray, n: int, mode: int) -> tuple[ndarray, ndarray]:
    """Return sign and shift that take coordinates into a line of `n` elements.

    Where there is nothing, for the constant, the sign is 0 and the shift -1.  Coordinates may stay
    beyond an end, as in SciPy: which elements count is looked up later.
    """
    x = np.asarray(x, np.float64)
    low, high = x < 0, x > n - 1
    if mode == CONSTANT:
        return np.where(low | high, 0.0, 1.0), np.where(low | high, -1.0, 0.0)
    if mode in (NEAREST, GRID_CONSTANT):
        return np.ones_like(x), np.zeros_like(x)
    if n <= 1:
        return np.where(low | high, 0.0, 1.0), np.zeros_like(x)
    if mode in (WRAP, GRID_WRAP):
        first = 0 if mode == WRAP else 1
        period = n - 1 + first
        up = np.trunc((-x - first) / period) + 1
        return np.ones_like(x), period * np.where(low, up, np.where(high, -np.trunc(x / period), 0))
    edge = 1 if mode == REFLECT else 0
    period = 2 * (n - 1 + edge)
    whole = period * np.trunc(x / period)
    rest = x - whole
    back = np.where(low, (rest >= -n) if edge else (rest > 1 - n), rest >= n) & (low | high)
    back_to = np.where(low, 0.0, period) - edge
    ahead = np.where(low, period - whole, np.where(high, -whole, 0.0))
    return np.where(back, -1.0, 1.0), np.where(back, back_to + whole, ahead)


zero_derivative(folded, because="constant between the points where a line is folded")
zero_derivative(plain._extend_mode_to_code, because="the number of a mode")
