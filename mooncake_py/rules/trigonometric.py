"""Rules for the circular and hyperbolic ufuncs and their inverses.

Derivatives after DLMF (https://dlmf.nist.gov) 4.20, 4.24, 4.34 and 4.38.  On a branch cut the
derivative is that of the side on which NumPy's value lies; at a branch point it is infinite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mooncake_py.rules.declare import elementwise
from mooncake_py.rules.special_functions import inverse

__all__ = ["ratio"]


def ratio(a: Any, b: Any) -> Any:
    """Return ``a / b``, and 0 where b = 0."""
    return np.where(b == 0, 0, np.divide(a, b))


def arcsin_partial(x: Any, y: Any) -> Any:
    """Return ``1 / sqrt(1 - x**2)``.

    For real x the product is exact up to rounding near -1 and 1; for complex x the cosine knows
    the side of the branch cut.
    """
    return inverse(np.cos(y) if np.iscomplexobj(x) else np.sqrt((1 - x) * (1 + x)))


def arccos_partial(x: Any, y: Any) -> Any:
    """Return ``-1 / sqrt(1 - x**2)``; see `arcsin_partial`."""
    return -inverse(np.sin(y) if np.iscomplexobj(x) else np.sqrt((1 - x) * (1 + x)))


# Circular functions.

elementwise(np.sin, lambda x, y: np.cos(x))
elementwise(np.cos, lambda x, y: -np.sin(x))
elementwise(np.tan, lambda x, y: 1 + y * y)
elementwise(np.arcsin, arcsin_partial)
elementwise(np.arccos, arccos_partial)
elementwise(np.arctan, lambda x, y: 1 / (1 + x * x))
elementwise(
    np.arctan2,
    lambda a, b, y: ratio(b, a * a + b * b),  # 0 at the origin
    lambda a, b, y: ratio(-a, a * a + b * b),
)
elementwise(
    np.hypot,
    lambda a, b, y: ratio(a, y),  # 0 at the origin: minimum-norm subgradient
    lambda a, b, y: ratio(b, y),
)

# Hyperbolic functions.

elementwise(np.sinh, lambda x, y: np.cosh(x))
elementwise(np.cosh, lambda x, y: np.sinh(x))
elementwise(np.tanh, lambda x, y: 1 - y * y)
elementwise(np.arcsinh, lambda x, y: 1 / np.cosh(y))
elementwise(np.arccosh, lambda x, y: inverse(np.sinh(y)))
elementwise(np.arctanh, lambda x, y: 1 / ((1 - x) * (1 + x)))

# Units of angle.

elementwise(np.degrees, 180 / math.pi)
elementwise(np.rad2deg, 180 / math.pi)
elementwise(np.radians, math.pi / 180)
elementwise(np.deg2rad, math.pi / 180)
