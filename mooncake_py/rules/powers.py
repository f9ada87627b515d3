"""Rules for powers and roots, of arrays and of Python scalars.

Conventions: ``x**0`` is constant also at ``x = 0``.  The derivative with respect to the exponent
is 0 where ``x = 0`` and the power is finite (its limit); for a real base below zero, where the
power is real for isolated exponents only, it is the real part of the complex derivative.  Roots
have infinite slope at 0.
"""

from __future__ import annotations

import cmath
import math
import operator
from typing import Any

import numpy as np

from mooncake_py.rules.declare import elementwise
from mooncake_py.rules.special_functions import inverse, reciprocal

__all__: list[str] = []


def power_base_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``p * x**(p - 1)`` for arrays, 0 where p = 0."""
    if np.ndim(p) == 0:
        if p == 2:
            return 2 * x
        return scaled_power(p, x) if p != 0 else 0
    return np.where(p == 0, 0, scaled_power(p, x))


def scaled_power(p: Any, x: Any) -> Any:
    """Return ``p * x**(p - 1)``, inf at x = 0 for p below 1 also where x or p is complex."""
    # The operator, unlike np.power, is quick for small constant exponents of arrays.
    slope = p * (x ** (p - 1) if isinstance(x, np.ndarray) else np.power(x, p - 1))
    if np.iscomplexobj(slope):
        return np.where((x == 0) & (np.real(p) < 1), np.inf, slope)
    return slope


def power_exponent_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``y * log(x)`` for arrays: the real part of the logarithm if y is real."""
    log_x = np.log(x if np.iscomplexobj(y) else np.abs(x), dtype=y.dtype)
    return np.where((x == 0) & np.isfinite(y), 0, y * log_x)


def scalar_base_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``p * x**(p - 1)`` for Python scalars."""
    if not p:
        return 0.0
    if x == 0 and p.real < 1:
        return math.copysign(math.inf, p.real)
    return p * x ** (p - 1)


def scalar_exponent_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``y * log(x)`` for Python scalars: the real part of the logarithm if y is real."""
    if x == 0:
        return 0.0 if cmath.isfinite(y) else -y
    if isinstance(y, (complex, np.complexfloating)):
        return y * cmath.log(x)  # also a negative real base: (-8.0) ** 0.5 is complex in Python
    return y * math.log(abs(x))


def sqrt_partial(x: Any, y: Any) -> Any:
    """Return ``1 / (2 y)``."""
    return inverse(2 * y) if np.iscomplexobj(y) else 0.5 / y


# Powers.

elementwise(np.power, power_base_partial, power_exponent_partial)
elementwise(np.float_power, power_base_partial, power_exponent_partial)
elementwise(operator.pow, scalar_base_partial, scalar_exponent_partial)
elementwise(math.pow, scalar_base_partial, scalar_exponent_partial)
elementwise(np.square,     lambda x, y: 2 * x)
elementwise(np.reciprocal, lambda x, y: -y * y)

# Roots.

elementwise(np.sqrt, sqrt_partial)
elementwise(math.sqrt,  lambda x, y: 0.5 / y)
elementwise(cmath.sqrt, lambda x, y: 0.5 * reciprocal(y))
elementwise(np.cbrt,    lambda x, y: 1 / (3 * y * y))
elementwise(math.cbrt,  lambda x, y: 1 / (3 * y * y))
