"""Error functions, the normal distribution, Dawson's and Fresnel's integrals (DLMF chapter 7)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.outputs import outputs
from mooncake_py.rules.declare import elementwise

__all__: list[str] = []

ROOT_PI = math.sqrt(math.pi)
ROOT_2 = math.sqrt(2)
ROOT_2_PI = math.sqrt(2 * math.pi)
FAR = 50.0


def asymptotic(w: Any) -> Any:
    """Return 1 + 3 w + 15 w^2 + 105 w^3 + ..., for small w: the slopes far out (7.12.1)."""
    return 1 + 3 * w * (1 + 5 * w * (1 + 7 * w * (1 + 9 * w * (1 + 11 * w))))


def erfcx_slope(x: Any, y: Any) -> Any:
    """Return 2 x y - 2 / sqrt(pi), in a form that does not cancel far out (7.10.1)."""
    far = (np.abs(x) > FAR) & (np.real(x) > 0)
    w = 1 / np.where(far, 2 * x * x, 1)
    return np.where(far, -2 / ROOT_PI * w * asymptotic(-w), 2 * x * y - 2 / ROOT_PI)


def dawsn_slope(x: Any, y: Any) -> Any:
    """Return 1 - 2 x y, in a form that does not cancel far out (7.10.4)."""
    far = (np.abs(x) > FAR) & (np.abs(np.imag(x)) < np.abs(np.real(x)))
    w = 1 / np.where(far, 2 * x * x, 1)
    return np.where(far, -w * asymptotic(w), 1 - 2 * x * y)


def wofz_slope(z: Any, y: Any) -> Any:
    """Return -2 z w + 2i / sqrt(pi), in a form that does not cancel far out (7.10.2)."""
    far = (np.abs(z) > FAR) & (np.imag(z) >= 0)
    w = 1 / np.where(far, 2 * z * z, 1)
    return np.where(far, -2j / ROOT_PI * w * asymptotic(w), 2j / ROOT_PI - 2 * z * y)


elementwise(ss.erf, lambda x, y: 2 / ROOT_PI * np.exp(-x * x))
elementwise(ss.erfc, lambda x, y: -2 / ROOT_PI * np.exp(-x * x))
elementwise(ss.erfi, lambda x, y: 2 / ROOT_PI * np.exp(x * x))
elementwise(ss.erfcx, lambda x, y: erfcx_slope(x, y))
elementwise(ss.dawsn, lambda x, y: dawsn_slope(x, y))
elementwise(ss.wofz, lambda z, y: wofz_slope(z, y))
elementwise(ss.erfinv, lambda x, y: ROOT_PI / 2 * np.exp(y * y))
elementwise(ss.erfcinv, lambda x, y: -ROOT_PI / 2 * np.exp(y * y))

# 7.2.7, 7.2.8.
outputs(ss.fresnel, lambda x, ys: (np.sin(np.pi / 2 * x * x), np.cos(np.pi / 2 * x * x)))

# The normal distribution; its density over its integral is sqrt(2 / pi) / erfcx(-x / sqrt(2)).
elementwise(ss.ndtr, lambda x, y: np.exp(-x * x / 2) / ROOT_2_PI)
elementwise(ss.log_ndtr, lambda x, y: 2 / ROOT_2_PI / ss.erfcx(-x / ROOT_2))
elementwise(ss.ndtri, lambda p, y: ROOT_2_PI * np.exp(y * y / 2))
elementwise(ss.ndtri_exp, lambda p, y: ROOT_2_PI / 2 * ss.erfcx(-y / ROOT_2))
elementwise(
    ss.owens_t,
    lambda h, a, y: -np.exp(-h * h / 2) * ss.erf(a * h / ROOT_2) / (2 * ROOT_2_PI),
    lambda h, a, y: np.exp(-h * h * (1 + a * a) / 2) / (2 * np.pi * (1 + a * a)),
)


def voigt_slopes(x: Any, sigma: Any, gamma: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives of Re w(z) / (sigma sqrt(2 pi)), z = (x + i gamma) / (sigma sqrt 2).

    7.19.1 and 7.19.3, in other letters.  Without a width sigma it is that of Lorentz,
    Re i / (pi (x + i gamma)), and begins to widen as heat does: d/dsigma = sigma d^2/dx^2.
    """
    sharp = sigma == 0
    width = np.where(sharp, 1, sigma)
    z = (x + 1j * gamma) / (ROOT_2 * width)
    slope = wofz_slope(z, ss.wofz(z)) / (width * ROOT_2_PI)
    along = slope / (ROOT_2 * width)
    u = np.where(sharp, x + 1j * gamma, 1)
    lorentz, bend = -1j / (np.pi * u**2), 2j / (np.pi * u**3)
    along = np.where(sharp, lorentz, along)
    widening = np.where(sharp, sigma * bend.real, -(y + (slope * z).real) / width)
    return np.real(along), widening, -np.imag(along)


elementwise(
    ss.voigt_profile,
    lambda x, sigma, gamma, y: voigt_slopes(x, sigma, gamma, y)[0],
    lambda x, sigma, gamma, y: voigt_slopes(x, sigma, gamma, y)[1],
    lambda x, sigma, gamma, y: voigt_slopes(x, sigma, gamma, y)[2],
)
