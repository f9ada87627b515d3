"""Compiled functions of `scipy.stats` itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy import special as ss
from scipy.stats import _continuous_distns

from mooncake_py.integrations.scipy.special.parameters import by_unit, differentiated
from mooncake_py.rules.declare import elementwise, not_implemented
from mooncake_py.rules.plain_values import derived_as

__all__ = ["log_i0e"]

_stats: Any = import_module("scipy.stats._stats")


def von_mises_pdf(k: Any, x: Any) -> Any:
    """Return the density of the von Mises distribution."""
    return np.exp(k * (np.cos(x) - 1) - log_i0e(k)) / (2 * np.pi)


def log_i0e(k: Any) -> Any:
    """Return the logarithm of i0e, for k >= 0: at zero, where that has a kink, it goes down."""
    return np.log(ss.i0e(k))


elementwise(log_i0e, lambda k, y: ss.i1e(k) / ss.i0e(k) - 1)


def von_mises_logpdf(self: Any, x: Any, k: Any) -> Any:
    """Return the logarithm of the density of the von Mises distribution."""
    return k * ss.cosm1(x) - np.log(2 * np.pi) - log_i0e(k)


def von_mises_pdf_of(self: Any, x: Any, k: Any) -> Any:
    """Return that density."""
    return np.exp(von_mises_logpdf(self, x, k))


def von_mises_in_concentration(k: Any, x: Any) -> Any:
    """Return the derivative of the distribution function; at k = 0 that of its Fourier series."""
    uniform = np.equal(k, 0)
    waves = np.sin(x) * (0.5 - 3 * k * k / 16) + np.sin(2 * x) * k / 8 + np.sin(3 * x) * k * k / 48
    slope = differentiated(_stats.von_mises_cdf, 0, (np.where(uniform, 1, k), x))
    return np.where(uniform, waves / np.pi, slope)


# Generalized hyperbolic distribution: with w = a^2 - b^2 and r^2 = 1 + x^2, the logarithm of the
# density is p/2 log w - (p - 1/2) log(a/r) + b x - log K_p(sqrt w) + log K_{p-1/2}(a r) + const.


def log_bessel(p: Any, x: Any) -> Any:
    """Return the logarithm of the modified Bessel function K, times e^x."""
    return np.log(ss.kve(p, x))


def bessel_slope(p: Any, x: Any) -> Any:
    """Return the derivative of log K in its argument (DLMF 10.29.1)."""
    return -(ss.kve(p - 1, x) + ss.kve(p + 1, x)) / (2 * ss.kve(p, x))


def in_x(x: Any, p: Any, a: Any, b: Any) -> Any:
    """Return the derivative of the logarithm in x."""
    r = np.hypot(1, x)
    return b + (p - 0.5) * x / (r * r) + a * x / r * bessel_slope(p - 0.5, a * r)


def in_p(x: Any, p: Any, a: Any, b: Any) -> Any:
    """Return its derivative in p."""
    r, w = np.hypot(1, x), a * a - b * b
    inner = differentiated(log_bessel, 0, (p, np.sqrt(w)), by_unit)
    outer = differentiated(log_bessel, 0, (p - 0.5, a * r), by_unit)
    return np.log(w) / 2 - np.log(a / r) - inner + outer


def in_a(x: Any, p: Any, a: Any, b: Any) -> Any:
    """Return its derivative in a."""
    r, root = np.hypot(1, x), np.sqrt(a * a - b * b)
    inner = a / root * (p / root - bessel_slope(p, root))
    return inner - (p - 0.5) / a + r * bessel_slope(p - 0.5, a * r)


def in_b(x: Any, p: Any, a: Any, b: Any) -> Any:
    """Return its derivative in b."""
    root = np.sqrt(a * a - b * b)
    return x - b / root * (p / root - bessel_slope(p, root))


if hasattr(_stats, "von_mises_cdf"):
    elementwise(
        _stats.von_mises_cdf,
        lambda k, x, y: von_mises_in_concentration(k, x),
        lambda k, x, y: von_mises_pdf(k, x),
    )
if hasattr(_continuous_distns, "vonmises_gen"):
    derived_as(_continuous_distns.vonmises_gen._logpdf)(von_mises_logpdf)
    derived_as(_continuous_distns.vonmises_gen._pdf)(von_mises_pdf_of)
if hasattr(_stats, "genhyperbolic_pdf"):
    elementwise(
        _stats.genhyperbolic_logpdf,
        lambda x, p, a, b, y: in_x(x, p, a, b),
        lambda x, p, a, b, y: in_p(x, p, a, b),
        lambda x, p, a, b, y: in_a(x, p, a, b),
        lambda x, p, a, b, y: in_b(x, p, a, b),
    )
    elementwise(
        _stats.genhyperbolic_pdf,
        lambda x, p, a, b, y: y * in_x(x, p, a, b),
        lambda x, p, a, b, y: y * in_p(x, p, a, b),
        lambda x, p, a, b, y: y * in_a(x, p, a, b),
        lambda x, p, a, b, y: y * in_b(x, p, a, b),
    )
OF_HYPERBOLIC: Any = vars(getattr(_continuous_distns, "genhyperbolic_gen", object))
integral: Any = OF_HYPERBOLIC.get("_integrate_pdf")
if integral is not None:
    integral = getattr(integral, "pyfunc", integral)
    integral = getattr(integral, "__wrapped__", integral)
    elementwise(integral, *[not_implemented("it integrates by compiled callbacks")] * 5)


# Generalized inverse Gaussian: (p - 1) log x - b (x + 1/x) / 2 - log(2 K_p(b)).
if hasattr(_stats, "geninvgauss_logpdf"):
    elementwise(
        _stats.geninvgauss_logpdf,
        lambda x, p, b, y: (p - 1) / x - b * (1 - 1 / (x * x)) / 2,
        lambda x, p, b, y: np.log(x) - differentiated(log_bessel, 0, (p, b), by_unit),
        lambda x, p, b, y: -(x + 1 / x) / 2 - bessel_slope(p, b),
    )
