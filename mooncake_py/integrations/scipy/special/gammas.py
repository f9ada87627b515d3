"""The gamma function and its relatives (DLMF chapter 5), and the zeta function of Hurwitz."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.rules.declare import elementwise, not_implemented

__all__: list[str] = []

# B(2k) for k = 1..8.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def trigamma(x: Any) -> Any:
    """Return the derivative of ``psi``; SciPy itself has it for real arguments only.

    5.15.5 (recurrence), 5.15.6 (reflection), 5.15.8 (asymptotic expansion).
    """
    if not np.iscomplexobj(x):
        return ss.polygamma(1, x)
    left = np.real(x) < 0
    z = np.where(left, 1 - x, x)
    total = np.zeros_like(z)
    for _ in range(15):
        total += 1 / (z * z)
        z = z + 1
    w = 1 / (z * z)
    tail = 0
    for b in reversed(BERNOULLI):
        tail = w * (b + tail)
    total += 1 / z + w / 2 + tail / z
    return np.where(left, (np.pi / np.sin(np.pi * x)) ** 2 - total, total)


def slope_of_psi(x: Any, y: Any) -> Any:
    """Return the derivative of ``psi``."""
    return trigamma(x)


def real_trigamma(x: Any, y: Any) -> Any:
    """Return the derivative of ``psi`` at one real number, by arithmetic alone."""
    if x <= 0.0 and math.floor(x) == x:
        return math.inf
    z = x
    if x < 0.0:
        z = 1.0 - x
    total = 0.0
    while z < 15.0:
        total += 1.0 / (z * z)
        z += 1.0
    w = 1.0 / (z * z)
    tail = w * (7 / 6 + w * (-3617 / 510))
    tail = w * (5 / 66 + w * (-691 / 2730 + tail))
    tail = w * (1 / 6 + w * (-1 / 30 + w * (1 / 42 + w * (-1 / 30 + tail))))
    total += 1.0 / z + w / 2.0 + tail / z
    if x < 0.0:
        s = math.pi / math.sin(math.pi * x)
        return s * s - total
    return total


slope_of_psi.of_reals = real_trigamma  # type: ignore[attr-defined]


def is_pole(x: Any) -> Any:
    """Return where the gamma function has a pole: at 0, -1, -2, ..."""
    return (np.real(x) <= 0) & (x == np.round(x))


def rgamma_slope(x: Any) -> Any:
    """Return the derivative of 1 / gamma(x), on the left that of gamma(1-x) sin(pi x) / pi (5.5.3).

    The sine is taken of the distance to an integer: at the poles of gamma it is exactly zero.
    """
    left = np.real(x) < 0.5
    n = np.round(np.real(x))
    z, t, right = np.where(left, 1 - x, 1), np.pi * (x - n), np.where(left, 1, x)
    sign = np.where(n % 2 == 0, 1, -1)
    reflected = sign * ss.gamma(z) * (np.cos(t) - ss.psi(z) * np.sin(t) / np.pi)
    return np.where(left, reflected, -ss.psi(right) * ss.rgamma(right))


def poch_slope(z: Any, m: Any, y: Any) -> Any:
    """Return the derivative of gamma(z + m) / gamma(z) in z, also where y is zero at a pole."""
    top, pole, both = z + m, is_pole(z) & ~is_pole(z + m), is_pole(z) & is_pole(z + m)
    at_pole = ss.gamma(top) * (ss.psi(top) * ss.rgamma(z) + rgamma_slope(z))
    # Where both are at poles, these cancel: psi(x) = psi(1 - x) - pi cot(pi x)  (5.5.4).
    upper, lower = np.where(both, 1 - top, top), np.where(both, 1 - z, np.where(pole, 1, z))
    return np.where(pole, at_pole, y * (ss.psi(upper) - ss.psi(lower)))


def poch_slope_in_count(z: Any, m: Any, y: Any) -> Any:
    """Return the derivative in m; zero where y is a value by itself, as at m = 0 for z = 0."""
    alone = is_pole(z) & is_pole(z + m)
    return np.where(alone, 0, y * ss.psi(np.where(alone, 1, z + m)))


def beta_slope(a: Any, b: Any, y: Any) -> Any:
    """Return the derivative of gamma(a) gamma(b) / gamma(a + b) in a, also where y is zero."""
    zero = is_pole(a + b) & ~is_pole(a) & ~is_pole(b)
    at_zero = ss.gamma(a) * ss.gamma(b) * rgamma_slope(a + b)
    return np.where(zero, at_zero, y * (ss.psi(a) - ss.psi(np.where(zero, 1, a + b))))


def binom_slopes(n: Any, k: Any, y: Any) -> tuple[Any, Any]:
    """Return the derivatives of gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1))."""
    m = n - k
    zero = y == 0  # gamma is infinite in the denominator
    top, bottom, rest = (ss.psi(np.where(zero, 1, u + 1)) for u in (n, k, m))
    factor = ss.gamma(n + 1)
    of_top = factor * ss.psi(n + 1) * ss.rgamma(k + 1) * ss.rgamma(m + 1)
    of_bottom = factor * rgamma_slope(k + 1) * ss.rgamma(m + 1)
    of_rest = factor * rgamma_slope(m + 1) * ss.rgamma(k + 1)
    return (
        np.where(zero, of_top + of_rest, y * (top - rest)),
        np.where(zero, of_bottom - of_rest, y * (rest - bottom)),
    )


elementwise(ss.gamma, lambda x, y: y * ss.psi(x))
elementwise(ss.gammaln, lambda x, y: ss.psi(x))
elementwise(ss.loggamma, lambda x, y: ss.psi(x))
elementwise(ss.rgamma, lambda x, y: rgamma_slope(x))
elementwise(ss.psi, slope_of_psi)
elementwise(
    ss.polygamma,
    not_implemented("the order of polygamma counts derivatives"),
    lambda n, x, y: ss.polygamma(n + 1, x),
)
elementwise(ss.beta, beta_slope, lambda a, b, y: beta_slope(b, a, y))
elementwise(
    ss.betaln, lambda a, b, y: ss.psi(a) - ss.psi(a + b), lambda a, b, y: ss.psi(b) - ss.psi(a + b)
)
elementwise(
    ss.poch, lambda z, m, y: poch_slope(z, m, y), lambda z, m, y: poch_slope_in_count(z, m, y)
)
elementwise(
    ss.binom, lambda n, k, y: binom_slopes(n, k, y)[0], lambda n, k, y: binom_slopes(n, k, y)[1]
)
