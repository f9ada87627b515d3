"""Functions of one number or two whose derivatives can be worked out on plain floats.

Those of `math` raise where they have no value, and then the reference runs.  NumPy's warn instead,
and would do so again when the reference runs: here is written where they do not.  Their slopes
are those of `math`, at a tenth of the price.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from mooncake_py.compiler.derivatives.declared import partials_of
from mooncake_py.rules.math_functions import hypotenuse, log_of_sum
from mooncake_py.runtime.values import is_of_math

__all__ = [
    "DOMAINS", "NUMPY_FUNCTIONS", "OF_REALS", "PAIRS", "VALUED", "slope_of",
    "slopes_of", "valued",
]  # fmt: skip

EVERYWHERE = "-inf < {} < inf"
POSITIVE = "0 < {} < inf"
BOUNDED = "-700 < {} < 700"
MODERATE = "-1e150 < {} < 1e150"

NUMPY_FUNCTIONS: dict[Any, tuple[Any, str]] = {
    np.sin: (math.sin, EVERYWHERE),
    np.cos: (math.cos, EVERYWHERE),
    np.tan: (math.tan, EVERYWHERE),
    np.arcsin: (math.asin, "-1 < {} < 1"),
    np.arccos: (math.acos, "-1 < {} < 1"),
    np.arctan: (math.atan, MODERATE),
    np.sinh: (math.sinh, BOUNDED),
    np.cosh: (math.cosh, BOUNDED),
    np.tanh: (math.tanh, EVERYWHERE),
    np.arcsinh: (math.asinh, MODERATE),
    np.arccosh: (math.acosh, "1 < {} < 1e150"),
    np.arctanh: (math.atanh, "-1 < {} < 1"),
    np.exp: (math.exp, BOUNDED),
    np.expm1: (math.expm1, BOUNDED),
    np.log: (math.log, POSITIVE),
    np.log2: (math.log2, POSITIVE),
    np.log10: (math.log10, POSITIVE),
    np.log1p: (math.log1p, "-1 < {} < inf"),
    np.sqrt: (math.sqrt, POSITIVE),
    np.cbrt: (np.cbrt, "1e-300 < abs({}) < inf"),
    np.square: (np.square, MODERATE),
}
"""NumPy's functions with those of `math`, and where they give neither error nor warning."""

OF_REALS: dict[Any, str] = {np.absolute: EVERYWHERE, np.fabs: EVERYWHERE}
"""Functions of one real number whose slopes are those of the rule."""


def above(a: float, b: float, y: float) -> float:
    """Return the share of `a` in ``maximum(a, b)``."""
    return 1.0 if a > b else 0.5 if a == b else 0.0


def below(a: float, b: float, y: float) -> float:
    """Return the share of `a` in ``minimum(a, b)``."""
    return above(b, a, y)


def valued(value: float, s: float) -> float:
    """Return a number with the derivative of another one, which it equals up to rounding."""
    return value


VALUED: tuple[Any, ...] = None, 1.0
"""The partial derivatives of `valued`."""

BOTH_FINITE = "-inf < {0} < inf and -inf < {1} < inf"
BOTH_MODERATE = "-1e150 < {0} < 1e150 and -1e150 < {1} < 1e150"
PAIRS: dict[Any, tuple[Any, str]] = {
    np.add: (operator.add, BOTH_MODERATE),
    np.subtract: (operator.sub, BOTH_MODERATE),
    np.multiply: (operator.mul, BOTH_MODERATE),
    np.divide: (operator.truediv, f"{BOTH_MODERATE} and abs({{1}}) > 1e-150"),
    np.power: (operator.pow, "0 < {0} < 1e15 and -20 < {1} < 20"),
    np.arctan2: (math.atan2, BOTH_MODERATE),
    np.hypot: (hypotenuse, BOTH_MODERATE),
    math.hypot: (hypotenuse, BOTH_FINITE),
    np.logaddexp: (log_of_sum, BOTH_MODERATE),
    np.maximum: ((above, below), BOTH_FINITE),
    np.minimum: ((below, above), BOTH_FINITE),
}
"""The same of two numbers; those that choose have their slopes here."""

DOMAINS = {f: domain for f, (_, domain) in (NUMPY_FUNCTIONS | PAIRS).items()} | OF_REALS


def slope_of(f: Any) -> Any:
    """Return the derivative of a function of one number as a function of floats, or None."""
    slopes = slopes_of(f, 1)
    return None if slopes is None else slopes[0]


def slopes_of(f: Any, count: int) -> tuple[Any, ...] | None:
    """Return the partial derivatives of a function as functions of floats, or None."""
    table = NUMPY_FUNCTIONS if count == 1 else PAIRS
    if f in table:
        f = table[f][0]
    elif not is_of_math(f):
        return None
    return f if type(f) is tuple else partials_of(f, count)
