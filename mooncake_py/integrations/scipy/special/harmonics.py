"""Spherical harmonics: raising and lowering the order gives the derivative in the polar angle.

DLMF 14.30; the operators L+ and L- of angular momentum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.rules.declare import elementwise, overlay, refused

__all__: list[str] = []

plain: Any = getattr(ss, "sph_harm_y", None)  # since SciPy 1.15


def harmonic(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """Return Y_n^m."""
    return plain(n, m, theta, phi)


def polar_slope(n: Any, m: Any, theta: Any, phi: Any, y: Any) -> Any:
    """Return (a Y_n^(m+1) e^(-i phi) - b Y_n^(m-1) e^(i phi)) / 2, from 0 to pi.

    Beyond, SciPy takes the angle between with the same cosine, and so the other sign.
    """
    n, m = np.asarray(n), np.asarray(m)
    up = np.sqrt(np.maximum((n - m) * (n + m + 1), 0)) * harmonic(n, m + 1, theta, phi)
    down = np.sqrt(np.maximum((n + m) * (n - m + 1), 0)) * harmonic(n, m - 1, theta, phi)
    turn = np.exp(1j * phi)
    return np.where(np.sin(theta) < 0, -0.5, 0.5) * (up / turn - down * turn)


def with_derivatives(n: Any, m: Any, theta: Any, phi: Any, diff_n: int) -> Any:
    """Return the value and the derivatives that SciPy gives with it."""
    return plain(n, m, theta, phi, diff_n=diff_n)


elementwise(harmonic, None, None, polar_slope, lambda n, m, theta, phi, y: 1j * m * y)
refused(
    with_derivatives,
    why="the derivatives that diff_n asks for have no rule",
    fix="differentiate sph_harm_y(n, m, theta, phi) with grad, jvp or hessian",
)

if plain is not None:

    @overlay(plain)
    def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, *, diff_n: int = 0) -> Any:
        if diff_n:
            return with_derivatives(n, m, theta, phi, diff_n)
        return harmonic(n, m, theta, phi)
