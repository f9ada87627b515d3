"""Functions that appear in derivatives and that neither NumPy nor `math` provides.

If a formula needs a separate case at a point, the function has its own rule, so that derivatives of
every order are right there: the derivative of ``where(x == 0, 1, sin(x) / x)`` takes the constant
for a constant.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mooncake_py.rules.declare import elementwise

__all__ = [
    "bessel_i", "difference", "digamma", "inverse", "logistic", "reciprocal", "sinc_derivative",
]  # fmt: skip

# B(2k) / 2k for k = 1..7, with the Bernoulli numbers B.
_DIGAMMA_COEFFICIENTS = (
    1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12,
)  # fmt: skip


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


def difference(a: Any, b: Any) -> Any:
    """Return ``a - b``; 0 where both are the same infinity."""
    return np.where(a == b, 0, a - b)


def logistic(t: Any) -> Any:
    """Return ``1 / (1 + exp(-t))``; its derivatives do not overflow either."""
    return 1 / (1 + np.exp(-t))


elementwise(difference, 1, -1)
elementwise(logistic, lambda t, y: y * logistic(-t))


def sinc_derivative(x: Any, y: Any) -> Any:
    """Return the derivative of ``y = np.sinc(x)``, real or complex.

    The closed form loses digits near zero; there the Taylor series takes over, of which the
    first term left out is below 1e-13 of the sum.  Neither divides by zero.
    """
    t = np.pi * x
    z = t * t
    near = np.abs(z) < 0.1
    series = -np.pi * t / 3 * (1 - z / 10 * (1 - z / 28 * (1 - z / 54 * (1 - z / 88))))
    return np.where(near, series, (np.cos(t) - y) / np.where(near, 1, x))


def bessel_i(n: int, x: Any) -> Any:
    """Return the modified Bessel function I_n of real `x`; I_1 is the derivative of ``np.i0``.

    References
    ----------
    DLMF 10.25.2 (power series, all terms of one sign) for abs(x) up to 25, 10.40.1 (asymptotic
    expansion) beyond; 10.29.1 for the derivative.
    """
    size = np.abs(x)
    magnitude = np.where(
        size < 25, _i_series(n, np.minimum(size, 25)), _i_asymptotic(n, np.maximum(size, 25))
    )
    return np.copysign(magnitude, x) if n % 2 else magnitude


elementwise(bessel_i, None, lambda n, x, y: (bessel_i(abs(n - 1), x) + bessel_i(n + 1, x)) / 2)


def _i_series(n: int, x: Any) -> Any:
    q = x * x / 4
    total = np.ones_like(q)
    for k in range(40, 0, -1):
        total = 1 + q / (k * (k + n)) * total
    return (x / 2) ** n / math.factorial(n) * total


def _i_asymptotic(n: int, x: Any) -> Any:
    total = np.ones_like(x)
    for k in range(22, 0, -1):
        total = 1 + ((2 * k - 1) ** 2 - 4 * n * n) / (8 * k * x) * total
    # The exponential in two factors: their product overflows only where I_n does.
    half = np.exp(x / 2)
    return half * (half / np.sqrt(2 * np.pi * x)) * total
