"""Functions that appear in derivatives and that neither NumPy nor `math` provides."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["bessel_i1", "digamma", "inverse", "logistic", "reciprocal", "sinc_derivative"]

# B(2k) / 2k for k = 1..7, with the Bernoulli numbers B.
_DIGAMMA_COEFFICIENTS = (
    1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12,
)


def digamma(x: float) -> float:
    """Return the derivative of ``lgamma`` for a real number; nan at the poles 0, -1, -2, ...

    References
    ----------
    DLMF 5.5.2 (recurrence), 5.5.4 (reflection), 5.11.2 (asymptotic expansion).
    """
    if x <= 0 and (x == -math.inf or x == math.floor(x)):
        return math.nan
    if x < 0.5:
        # The fraction, not x, goes into tan: pi * x would lose it for large |x|.
        return digamma(1 - x) - math.pi / math.tan(math.pi * (x - round(x)))
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1
    z = 1 / (x * x)
    tail = 0.0
    for coefficient in reversed(_DIGAMMA_COEFFICIENTS):
        tail = z * (coefficient + tail)
    return shift + math.log(x) - 0.5 / x - tail


def reciprocal(x: Any) -> Any:
    """Return ``1 / x`` of a Python number, inf for zero."""
    return 1 / x if x else math.inf


def inverse(x: Any) -> Any:
    """Return ``1 / x`` of an array, inf where x = 0: also for complex x, where NumPy gives nan."""
    return np.where(x == 0, np.inf, 1 / x) if np.iscomplexobj(x) else 1 / x


def logistic(a: Any, b: Any, exp: Callable[[Any], Any]) -> Any:
    """Return ``exp(a) / (exp(a) + exp(b))`` without overflow; 1/2 where a = b, infinite or not."""
    return np.where(a == b, 0.5, 1 / (1 + exp(b - a)))


def sinc_derivative(x: Any, y: Any) -> Any:
    """Return the derivative of ``y = np.sinc(x)``, real or complex.

    The closed form loses digits near zero; there the Taylor series takes over, of which the
    first term left out is below 1e-13 of the sum.
    """
    t = np.pi * x
    z = t * t
    near = np.abs(z) < 0.1
    series = -z / 3 * (1 - z / 10 * (1 - z / 28 * (1 - z / 54 * (1 - z / 88))))
    return np.where(near, series, np.cos(t) - y) / np.where(x == 0, 1, x)


def bessel_i1(x: Any) -> Any:
    """Return the modified Bessel function I1 of real `x`, the derivative of ``np.i0``.

    References
    ----------
    DLMF 10.25.2 (power series, all terms of one sign) for abs(x) up to 25, 10.40.1 (asymptotic
    expansion) beyond.
    """
    size = np.abs(x)
    magnitude = np.where(
        size < 25, _i1_series(np.minimum(size, 25)), _i1_asymptotic(np.maximum(size, 25))
    )
    return np.copysign(magnitude, x)


def _i1_series(x: Any) -> Any:
    q = x * x / 4
    total = np.ones_like(q)
    for k in range(40, 0, -1):
        total = 1 + q / (k * (k + 1)) * total
    return x / 2 * total


def _i1_asymptotic(x: Any) -> Any:
    total = np.ones_like(x)
    for k in range(22, 0, -1):
        total = 1 + ((2 * k - 1) ** 2 - 4) / (8 * k * x) * total
    # The exponential in two factors: their product overflows only where I1 does.
    half = np.exp(x / 2)
    return half * (half / np.sqrt(2 * np.pi * x)) * total
