"""Distributions at values of a shape parameter for which SciPy takes the formula of the limit.

Such a formula does not have the parameter, and its derivative would be zero.  Here are formulas
that hold in the limit, too, or have the derivative there.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from scipy import special as ss
from scipy.stats import _continuous_distns as distns

from mooncake_py.integrations.scipy.special.incomplete import times
from mooncake_py.rules.declare import elementwise, not_implemented, overlay
from mooncake_py.rules.plain_values import derived_as

__all__ = ["along", "log_power", "once"]

Function = Callable[..., Any]


def log_power(k: Any, x: Any) -> Any:
    """Return -log(1 - k x) / k, which is x where k = 0."""
    zero = np.equal(k, 0)
    return np.where(zero, x, -np.log1p(-k * x) / np.where(zero, 1, k))


def log_power_slope(k: Any, x: Any, y: Any) -> Any:
    """Return the derivative in k, near zero as x^2 F(2, 2; 3; k x) / 2 (DLMF 15.4.1)."""
    t = k * x
    near = np.abs(t) < 0.5
    series = x * x * ss.hyp2f1(2.0, 2.0, 3.0, np.where(near, t, 0)) / 2
    return np.where(near, series, (x / (1 - t) - y) / np.where(near, 1, k))


elementwise(log_power, log_power_slope, lambda k, x, y: 1 / (1 - k * x))


def along(y: Any, slope: Any, theta: Any) -> Any:
    """Return y, which has a derivative in theta, too."""
    return y + 0 * slope * theta


def once(slope: Any, theta: Any) -> Any:
    """Return a slope that is known at one value of theta only."""
    return slope + 0 * theta


elementwise(once, 1.0, not_implemented("second derivatives in a parameter at a limit"))
elementwise(along, 1.0, 0.0, lambda y, slope, theta, _: once(slope, theta))


def instead_of(owner: str, name: str) -> Callable[[Function], Function]:
    """Declare a method of a distribution; private, so that a version may not have it."""
    method = getattr(getattr(distns, owner, None), name, None)
    return (lambda f: f) if method is None else derived_as(method)


# Generalized Pareto and extreme values: exponential and Gumbel at c = 0.


@instead_of("genpareto_gen", "_logpdf")
def genpareto_logpdf(self: Any, x: Any, c: Any) -> Any:
    """Return -(c + 1) log(1 + c x) / c."""
    return -times(c + 1, log_power(-c, x))


@instead_of("genpareto_gen", "_logsf")
def genpareto_logsf(self: Any, x: Any, c: Any) -> Any:
    """Return -log(1 + c x) / c."""
    return -log_power(-c, x)


@instead_of("genextreme_gen", "_loglogcdf")
def genextreme_loglogcdf(self: Any, x: Any, c: Any) -> Any:
    """Return log(1 - c x) / c."""
    return -log_power(c, x)


@instead_of("genextreme_gen", "_logpdf")
def genextreme_logpdf(self: Any, x: Any, c: Any) -> Any:
    """Return -e^u + (1 - c) u, u = log(1 - c x) / c."""
    edge = np.equal(c * x, 1) | np.isinf(x)
    u = -log_power(c, np.where(edge, 0, x))
    y = np.where(edge, -np.inf, -np.exp(u) + (1 - c) * u)
    return np.where(np.equal(c, 1) & np.equal(x, 1), 0, y)


@instead_of("genextreme_gen", "_ppf")
def genextreme_ppf(self: Any, q: Any, c: Any) -> Any:
    """Return (1 - (-log q)^c) / c."""
    return -ss.boxcox(-np.log(q), c)


@instead_of("genextreme_gen", "_isf")
def genextreme_isf(self: Any, q: Any, c: Any) -> Any:
    """Return (1 - (-log(1 - q))^c) / c."""
    return -ss.boxcox(-np.log1p(-q), c)


# Kappa: u = -log(1 - k x) / k, and -log F = -log(1 - h e^-u) / h.


@instead_of("kappa4_gen", "_logpdf")
def kappa4_logpdf(self: Any, x: Any, h: Any, k: Any) -> Any:
    """Return log F + h (-log F) - (1 - k) u."""
    u = log_power(k, x)
    return -times(1 - k, u) - times(1 - h, log_power(h, np.exp(-u)))


@instead_of("kappa4_gen", "_logcdf")
def kappa4_logcdf(self: Any, x: Any, h: Any, k: Any) -> Any:
    """Return log F."""
    return -log_power(h, np.exp(-log_power(k, x)))


@instead_of("kappa4_gen", "_ppf")
def kappa4_ppf(self: Any, q: Any, h: Any, k: Any) -> Any:
    """Return where log F = log q."""
    return -ss.boxcox(-ss.boxcox(q, h), k)


# The skew normal distribution: normal at a = 0, where its own formula holds.


@instead_of("skewnorm_gen", "_pdf")
def skewnorm_pdf(self: Any, x: Any, a: Any) -> Any:
    """Return 2 phi(x) Phi(a x)."""
    return 2 * np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * ss.ndtr(a * x)


@instead_of("skewnorm_gen", "_logpdf")
def skewnorm_logpdf(self: Any, x: Any, a: Any) -> Any:
    """Return the logarithm of 2 phi(x) Phi(a x)."""
    return np.log(2) - np.log(2 * np.pi) / 2 - x * x / 2 + ss.log_ndtr(a * x)


# Where the formula of the limit is left in place, its value is given a derivative.


def moving(owner: str, name: str, is_limit: Callable[[Any], Any], slope: Function) -> None:
    """Give a method a derivative in the last shape parameter at a limit: ``slope(y, x, *shapes)``.

    Second derivatives in that parameter are refused there.
    """
    method = getattr(getattr(distns, owner, None), name, None)
    if method is None:
        return
    plain = FunctionType(method.__code__, method.__globals__, name, None, method.__closure__)

    @overlay(method)
    def moves(self: Any, x: Any, *shapes: Any) -> Any:
        y = np.array(plain(self, x, *shapes))
        x, *broadcast = np.broadcast_arrays(x, *shapes)
        limit = is_limit(broadcast[-1])
        if np.any(limit):
            at = y[limit]
            moved = slope(at, x[limit], *[shape[limit] for shape in broadcast])
            y[limit] = along(at, moved, broadcast[-1][limit])
        return y


def is_zero(nc: Any) -> Any:
    """Return whether SciPy takes the central distribution."""
    return np.equal(nc, 0)


def is_normal(skew: Any) -> Any:
    """Return whether SciPy takes the normal distribution for Pearson's type III."""
    return np.abs(skew) < 0.000016


def gauss(x: Any) -> Any:
    """Return the density of the normal distribution."""
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def chi2_pdf(x: Any, df: Any) -> Any:
    """Return the density of the chi-square distribution with two degrees of freedom more."""
    return np.exp(ss.xlogy(df / 2, x / 2) - x / 2 - ss.gammaln(df / 2 + 1)) / 2


# Noncentral chi-square: dF/dnc = -pdf(df + 2), and pdf(df + 2) = pdf(df) x / df at nc = 0.
moving("ncx2_gen", "_logpdf", is_zero, lambda y, x, df, nc: (x / df - 1) / 2)
moving("ncx2_gen", "_pdf", is_zero, lambda y, x, df, nc: y * (x / df - 1) / 2)
moving("ncx2_gen", "_cdf", is_zero, lambda y, x, df, nc: -chi2_pdf(x, df))
moving("ncx2_gen", "_sf", is_zero, lambda y, x, df, nc: chi2_pdf(x, df))
moving("ncx2_gen", "_ppf", is_zero, lambda y, q, df, nc: y / df)
moving("ncx2_gen", "_isf", is_zero, lambda y, q, df, nc: y / df)

# Pearson's type III: Edgeworth's first term.
moving("pearson3_gen", "_logpdf", is_normal, lambda y, x, skew: (x**3 - 3 * x) / 6)
moving("pearson3_gen", "_cdf", is_normal, lambda y, x, skew: -gauss(x) * (x * x - 1) / 6)
moving("pearson3_gen", "_sf", is_normal, lambda y, x, skew: gauss(x) * (x * x - 1) / 6)
moving("pearson3_gen", "_ppf", is_normal, lambda y, q, skew: (y * y - 1) / 6)
