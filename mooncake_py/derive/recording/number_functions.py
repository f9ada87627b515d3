"""Functions of one number whose derivative can be worked out on plain floats.

Those of `math` raise where they have no value, and then the reference runs.  NumPy's warn instead,
and would do so again when the reference runs: here is written where they do not.  Their slopes
are those of `math`, at a tenth of the price.
"""

from __future__ import annotations

import math
from inspect import CO_VARARGS
from types import FunctionType
from typing import Any

import numpy as np

from mooncake_py.derive.recording.values import is_of_math
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import ElementwiseRule

__all__ = ["NUMPY_FUNCTIONS", "partial_for_one", "partial_of", "slope_of"]

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
}
"""NumPy's functions with those of `math`, and where they give neither error nor warning."""


def partial_of(f: Any) -> Any:
    """Return the partial derivative of an elementwise function of one argument, or None."""
    rule = registry.find(f)
    return partial_for_one(rule) if isinstance(rule, ElementwiseRule) else None


def partial_for_one(rule: ElementwiseRule) -> Any:
    """Return the partial derivative of a rule where there is one argument, or None."""
    partial = rule.partials[0]
    if type(partial) is not FunctionType:
        return None
    serves = len(rule.partials) == 1 or partial.__code__.co_flags & CO_VARARGS
    return partial if serves else None


def slope_of(f: Any) -> Any:
    """Return the partial derivative of a function as a function of floats, or None."""
    if f in NUMPY_FUNCTIONS:
        return partial_of(NUMPY_FUNCTIONS[f][0])
    return partial_of(f) if is_of_math(f) else None
