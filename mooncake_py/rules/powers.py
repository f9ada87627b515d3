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


def slope(x: Any, p: Any) -> Any:
    """Return ``p * x**(p - 1)`` for arrays, 0 where p = 0; inf at 0 for a complex p below 1."""
    if np.ndim(p) == 0:
        if p == 2:
            return 2 * x
        if p == 0:
            return np.zeros_like(x, np.result_type(x, p))
    # The operator, unlike np.power, is quick for small constant exponents of arrays.
    product = p * (x ** (p - 1) if isinstance(x, np.ndarray) else np.power(x, p - 1))
    if np.iscomplexobj(product):
        product = np.where((x == 0) & (np.real(p) < 1), np.inf, product)
    return product if np.ndim(p) == 0 or np.all(p) else np.where(p == 0, 0, product)


def slope_base_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``p * (p - 1) * x**(p - 2)``, 0 where p = 0."""
    return np.where(p == 0, 0, p * slope(x, p - 1))


def slope_exponent_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``x**(p - 1) * (1 + p * log(x))``, 0 where x = 0 as its limit for p above 1."""
    zero = x == 0
    base = np.where(zero, 1, x)
    log_base = np.log(base + 0j if np.iscomplexobj(y) else np.abs(base))
    return np.where(zero, 0, np.power(base, p - 1) + y * log_base)


def power_exponent_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``y * log(x)`` for arrays: the real part of the logarithm if y is real."""
    if type(x) is int:
        x = float(x)  # above 64 bits NumPy would make an object of it
    log_x = np.log(x if np.iscomplexobj(y) else np.abs(x), dtype=y.dtype)
    return np.where((x == 0) & np.isfinite(y), 0, y * log_x)


def scalar_slope(x: Any, p: Any) -> Any:
    """Return ``p * x**(p - 1)`` for Python scalars, 0 where p = 0, whatever x is."""
    if not p:
        return x**p - 1  # a complex zero if a number is: a real one would have a real derivative
    if x == 0 and p.real < 1:
        return math.copysign(math.inf, p.real)
    return p * x ** (p - 1)


def scalar_slope_base_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``p * (p - 1) * x**(p - 2)`` for Python scalars, 0 where p = 0."""
    return p * scalar_slope(x, p - 1) if p else 0.0


def scalar_slope_exponent_partial(x: Any, p: Any, y: Any) -> Any:
    """Return ``x**(p - 1) * (1 + p * log(x))``, 0 where x = 0 as its limit for p above 1."""
    if x == 0:
        return 0.0
    if isinstance(y, (complex, np.complexfloating)):
        return x ** (p - 1) + y * cmath.log(x)
    return x ** (p - 1) + y * math.log(abs(x))


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

elementwise(np.power, lambda x, p, y: slope(x, p), power_exponent_partial)
elementwise(np.float_power, lambda x, p, y: slope(x, p), power_exponent_partial)
elementwise(operator.pow, lambda x, p, y: scalar_slope(x, p), scalar_exponent_partial)
elementwise(math.pow, lambda x, p, y: scalar_slope(x, p), scalar_exponent_partial)
elementwise(np.square, lambda x, y: 2 * x)
elementwise(np.reciprocal, lambda x, y: -y * y)

# The derivative in the base, with a rule of its own: it has cases for single exponents, which are
# not to be taken for constants.

elementwise(slope, slope_base_partial, slope_exponent_partial)
elementwise(scalar_slope, scalar_slope_base_partial, scalar_slope_exponent_partial)

# Roots.

elementwise(np.sqrt, sqrt_partial)
elementwise(math.sqrt, lambda x, y: 0.5 / y)
elementwise(cmath.sqrt, lambda x, y: 0.5 * reciprocal(y))
elementwise(np.cbrt, lambda x, y: 1 / (3 * y * y))
elementwise(math.cbrt, lambda x, y: 1 / (3 * y * y))
