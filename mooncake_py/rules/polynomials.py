"""Polynomials: rules for the parts of NumPy's Python code that cannot be derived."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import (
    Chebyshev,
    Hermite,
    HermiteE,
    Laguerre,
    Legendre,
    Polynomial,
    polyutils,
)

from mooncake_py.rules.declare import overlay, zero_derivative

__all__: list[str] = []

SERIES = (Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial)


@overlay(polyutils.mapdomain)
def mapdomain(x: Any, old: Any, new: Any) -> Any:
    """Leave a series as it is, which NumPy would put into an array of objects."""
    if not isinstance(x, (int, float, complex, np.generic, *SERIES)):
        x = np.asanyarray(x)
    offset, scale = polyutils.mapparms(old, new)
    return offset + scale * x


zero_derivative(polyutils.format_float, because="returns text or settings")
