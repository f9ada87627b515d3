"""Rules for powers and roots, of arrays and of Python scalars.

Conventions: ``x**0`` is constant also at ``x = 0``; the derivative with respect to the exponent
is 0 where ``x = 0`` and the power is finite (its limit), and nan for a real base below zero,
where the power is defined for isolated exponents only.  Roots have infinite slope at 0.
"""

from __future__ import annotations

import cmath
import math
import operator
from typing import Any

import numpy as np

from mooncake_py.rules.declare import elementwise

__all__: list[str] = []


def power_base_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``p * x**(p - 1)`` for arrays, 0 where p = 0."""
    if np.ndim(p) == 0:
        if p == 2:
            return 2 * x
        # The operator, unlike np.power, is quick for small constant exponents of arrays.
        lower = x ** (p - 1) if isinstance(x, np.ndarray) else np.power(x, p - 1)
        return p * lower if p != 0 else 0
    return np.where(p == 0, 0, p * np.power(x, p - 1))


def power_exponent_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``y * log(x)`` for arrays; complex results take the complex logarithm."""
    return np.where((x == 0) & np.isfinite(y), 0, y * np.log(x, dtype=y.dtype))


def scalar_base_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``p * x**(p - 1)`` for Python scalars."""
    return p * x ** (p - 1) if p else 0.0


def scalar_exponent_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``y * log(x)`` for Python scalars."""
    if x == 0:
        return 0.0 if cmath.isfinite(y) else -y
    if isinstance(y, (complex, np.complexfloating)):
        return y * cmath.log(x)  # also a negative real base: (-8.0) ** 0.5 is complex in Python
    return y * math.log(x) if x > 0 else math.nan


# Powers.

elementwise(np.power, power_base_partial, power_exponent_partial)
elementwise(np.float_power, power_base_partial, power_exponent_partial)
elementwise(operator.pow, scalar_base_partial, scalar_exponent_partial)
elementwise(math.pow, scalar_base_partial, scalar_exponent_partial)
elementwise(np.square,     lambda x, y: 2 * x)
elementwise(np.reciprocal, lambda x, y: -y * y)

# Roots.

elementwise(np.sqrt,   lambda x, y: 0.5 / y)
elementwise(math.sqrt, lambda x, y: 0.5 / y)
elementwise(cmath.sqrt, lambda x, y: 0.5 / y)
elementwise(np.cbrt,   lambda x, y: 1 / (3 * y * y))
elementwise(math.cbrt, lambda x, y: 1 / (3 * y * y))
