"""Compiled distribution functions, most of them Boost's, that `scipy.stats` calls.

Each is declared by its density: dF = density dx + dF/dparameters, and for the inverse functions
dx = (dp - dF/dparameters) / density.  SciPy keeps many of them private: those that a version does
not have are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.elementary import in_exponent
from mooncake_py.integrations.scipy.special.incomplete import beta_density, logarithm, times
from mooncake_py.integrations.scipy.special.parameters import (
    by_unit,
    differentiated,
    of_smaller_tail,
    positive,
)
from mooncake_py.rules.declare import elementwise, not_implemented
from mooncake_py.rules.kinds import Partial

__all__ = ["density", "found"]

Function = Callable[..., Any]

ROOT_2_PI = np.sqrt(2 * np.pi)


def found(name: str) -> Any:
    """Return a function of `scipy.special`, a private one perhaps; None if there is none."""
    return getattr(ss, name, None) or getattr(ss._ufuncs, name, None)


def density(name: str, *slopes: Partial) -> None:
    """Declare a density by its derivatives."""
    if found(name) is not None:
        elementwise(found(name), *slopes)


def distribution(pdf: Function, moved: Function, **names: str) -> None:
    """Declare the functions of a distribution by name: `cdf`, `sf`, `ppf`, `isf`.

    Parameters
    ----------
    pdf : callable
        ``pdf(x, *parameters)``.
    moved : callable
        ``moved(i, x, *parameters)``, the derivative of the distribution function in a parameter.
    **names : str
        Private functions take `x` first, public ones last.
    """
    for kind, name in names.items():
        f = found(name)
        if f is not None:
            declare(f, pdf, moved, kind, last=name[0] != "_" and name not in X_FIRST)


X_FIRST = ("chndtr", "chndtrix")


def declare(f: Any, pdf: Function, moved: Function, kind: str, last: bool) -> None:
    """Declare one function of a distribution, which takes its argument first or last."""
    sign = 1 if kind in ("cdf", "ppf") else -1
    inverse = kind in ("ppf", "isf")

    def place(args: tuple[Any, ...], y: Any) -> tuple[Any, tuple[Any, ...]]:
        x, parameters = (args[-1], args[:-1]) if last else (args[0], args[1:])
        return (y if inverse else x), parameters

    def in_argument(*args: Any) -> Any:
        x, parameters = place(args[:-1], args[-1])
        slope = pdf(x, *parameters)
        return sign / slope if inverse else sign * slope

    def in_parameter(i: int) -> Function:
        def slope(*args: Any) -> Any:
            x, parameters = place(args[:-1], args[-1])
            shift = moved(i, x, *parameters)
            return -shift / pdf(x, *parameters) if inverse else sign * shift

        return slope

    parameters = [in_parameter(i) for i in range(f.nin - 1)]
    elementwise(f, *((*parameters, in_argument) if last else (in_argument, *parameters)))


def numerical(f: Function, scales: tuple[Function, ...]) -> list[Function]:
    """Return the derivatives of a function in all its arguments, by differences."""

    def partial(i: int) -> Function:
        return lambda *args: differentiated(f, i, args[:-1], scales[i])

    return [partial(i) for i in range(len(scales))]


def normal(z: Any) -> Any:
    """Return the density of the standard normal distribution."""
    return np.exp(-z * z / 2) / ROOT_2_PI


# Beta.

density(
    "_beta_pdf",
    lambda x, a, b, y: (
        times(a - 1, beta_density(a - 2, b - 1, a, b, x))
        - times(b - 1, beta_density(a - 1, b - 2, a, b, x))
    ),
    lambda x, a, b, y: (logarithm(x, y) - ss.psi(a) + ss.psi(a + b)) * y,
    lambda x, a, b, y: (logarithm(1 - x, y) - ss.psi(b) + ss.psi(a + b)) * y,
)


def beta_pdf(x: Any, a: Any, b: Any) -> Any:
    """Return the density of the beta distribution."""
    return beta_density(a - 1, b - 1, a, b, x)


def beta_moved(i: int, x: Any, a: Any, b: Any) -> Any:
    """Return the derivative of I_x(a, b) in a or b."""
    return of_smaller_tail(ss.betainc, ss.betaincc, i, (a, b, x))


distribution(beta_pdf, beta_moved, ppf="_beta_ppf")

# F, the noncentral F, chi-square and t.


def f_pdf(x: Any, n: Any, d: Any) -> Any:
    """Return the density of the F distribution."""
    u = n * x / (n * x + d)
    return beta_density(n / 2 - 1, d / 2 + 1, n / 2, d / 2, u) * n / d


def f_moved(i: int, x: Any, n: Any, d: Any) -> Any:
    """Return the derivative of the F distribution function in its degrees of freedom."""
    return of_smaller_tail(ss.fdtr, ss.fdtrc, i, (n, d, x))


distribution(f_pdf, f_moved, cdf="fdtr", sf="fdtrc", ppf="fdtri")


def ncx2_pdf(x: Any, k: Any, nc: Any) -> Any:
    """Return the density of the noncentral chi-square distribution."""
    return found("_ncx2_pdf")(x, k, nc)


def ncx2_moved(i: int, x: Any, k: Any, nc: Any) -> Any:
    """Return the derivative of the distribution function; that in nc is - pdf(k + 2)."""
    if i == 1:
        return -ncx2_pdf(x, k + 2, nc)
    return of_smaller_tail(found("chndtr"), found("_ncx2_sf"), 1, (x, k, nc))


if found("_ncx2_pdf") is not None:
    density(
        "_ncx2_pdf",
        lambda x, k, nc, y: y * ((k / 2 - 1) / x - 0.5) + nc / x * ncx2_pdf(x, k + 2, nc) / 2,
        lambda x, k, nc, y: differentiated(ncx2_pdf, 1, (x, k, nc)),
        lambda x, k, nc, y: (ncx2_pdf(x, k + 2, nc) - y) / 2,
    )
    distribution(ncx2_pdf, ncx2_moved, cdf="chndtr", sf="_ncx2_sf", ppf="chndtrix", isf="_ncx2_isf")


def ncf_pdf(x: Any, n: Any, d: Any, nc: Any) -> Any:
    """Return the density of the noncentral F distribution."""
    return found("_ncf_pdf")(x, n, d, nc)


def ncf_cdf(x: Any, n: Any, d: Any, nc: Any) -> Any:
    """Return its distribution function, with arguments in the order of the density."""
    return ss.ncfdtr(n, d, nc, x)


def ncf_in_noncentrality(f: Function, x: Any, n: Any, d: Any, nc: Any) -> Any:
    """Return twice the derivative in nc, a mean over Poisson weights of parameter nc / 2."""
    return f(x * n / (n + 2), n + 2, d, nc) - f(x, n, d, nc)


def ncf_moved(i: int, x: Any, n: Any, d: Any, nc: Any) -> Any:
    """Return the derivative of the distribution function in its parameters."""
    if i == 2:
        return ncf_in_noncentrality(ncf_cdf, x, n, d, nc) / 2
    return of_smaller_tail(ncf_cdf, found("_ncf_sf"), i + 1, (x, n, d, nc))


def ncf_pdf_in_noncentrality(x: Any, n: Any, d: Any, nc: Any, y: Any) -> Any:
    """Return the derivative of the density in nc."""
    return (n / (n + 2) * ncf_pdf(x * n / (n + 2), n + 2, d, nc) - y) / 2


if found("_ncf_pdf") is not None:
    density(
        "_ncf_pdf",
        *numerical(ncf_pdf, (positive, positive, positive)),
        ncf_pdf_in_noncentrality,
    )
    distribution(ncf_pdf, ncf_moved, cdf="ncfdtr", sf="_ncf_sf", ppf="ncfdtri", isf="_ncf_isf")


def nct_pdf(x: Any, k: Any, nc: Any) -> Any:
    """Return the density of the noncentral t distribution."""
    return found("_nct_pdf")(x, k, nc)


def nct_cdf(x: Any, k: Any, nc: Any) -> Any:
    """Return its distribution function, with arguments in the order of the density."""
    return ss.nctdtr(k, nc, x)


def nct_moved(i: int, x: Any, k: Any, nc: Any) -> Any:
    """Return the derivative of the distribution function in its parameters."""
    scale = (positive, by_unit)[i]
    return of_smaller_tail(nct_cdf, found("_nct_sf"), i + 1, (x, k, nc), scale)


if found("_nct_pdf") is not None:
    density("_nct_pdf", *numerical(nct_pdf, (by_unit, positive, by_unit)))
    distribution(nct_pdf, nct_moved, cdf="nctdtr", sf="_nct_sf", ppf="nctdtrit", isf="_nct_isf")

# Skew normal: F = Phi(z) - 2 T(z, a), with Owen's T.


def skewnorm_pdf(x: Any, location: Any, scale: Any, a: Any) -> Any:
    """Return the density of the skew normal distribution."""
    z = (x - location) / scale
    return 2 * normal(z) * ss.ndtr(a * z) / scale


def skewnorm_moved(i: int, x: Any, location: Any, scale: Any, a: Any) -> Any:
    """Return the derivative of the distribution function in its parameters."""
    z = (x - location) / scale
    if i == 2:
        return -np.exp(-z * z * (1 + a * a) / 2) / (np.pi * (1 + a * a))
    slope = -skewnorm_pdf(x, location, scale, a)
    return slope * z if i else slope


distribution(
    skewnorm_pdf, skewnorm_moved, cdf="_skewnorm_cdf", ppf="_skewnorm_ppf", isf="_skewnorm_isf"
)

# Inverse Gaussian, F = Phi(s (x/mu - 1)) + e^(2 k/mu) Phi(-s (x/mu + 1)) with s^2 = k/x.


def invgauss_pdf(x: Any, mu: Any, k: Any) -> Any:
    """Return the density of the inverse Gaussian distribution."""
    return np.sqrt(k / x) / x * normal(np.sqrt(k / x) * (x / mu - 1))


def invgauss_moved(i: int, x: Any, mu: Any, k: Any) -> Any:
    """Return the derivative of the distribution function in its parameters."""
    s = np.sqrt(k / x)
    reflected = 2 / mu * np.exp(2 * k / mu + ss.log_ndtr(-s * (x / mu + 1)))
    if i == 0:
        return -k / mu * reflected
    return reflected - normal(s * (x / mu - 1)) * s / k


distribution(invgauss_pdf, invgauss_moved, ppf="_invgauss_ppf", isf="_invgauss_isf")

# Cauchy, cosine, Landau.


def cauchy_pdf(x: Any, location: Any, scale: Any) -> Any:
    """Return the density of the Cauchy distribution."""
    return scale / (np.pi * (scale * scale + (x - location) ** 2))


def cauchy_moved(i: int, x: Any, location: Any, scale: Any) -> Any:
    """Return the derivative of the distribution function in location and scale."""
    slope = -cauchy_pdf(x, location, scale)
    return slope * (x - location) / scale if i else slope


distribution(cauchy_pdf, cauchy_moved, ppf="_cauchy_ppf", isf="_cauchy_isf")


def cosine_pdf(x: Any) -> Any:
    """Return the density of the cosine distribution."""
    return (1 + np.cos(x)) / (2 * np.pi)


def no_parameters(i: int, x: Any) -> Any:
    """Represent derivatives in parameters that have none."""
    raise AssertionError(i, x)


distribution(cosine_pdf, no_parameters, cdf="_cosine_cdf", ppf="_cosine_invcdf")


def landau_pdf(x: Any, location: Any, scale: Any) -> Any:
    """Return the density of the Landau distribution."""
    return found("_landau_pdf")(x, location, scale)


def landau_standard(x: Any, location: Any, scale: Any) -> Any:
    """Return where the standard one has the same distribution function: scales shift it, too."""
    return (x - location) / scale - 2 / np.pi * np.log(scale)


def landau_slope(x: Any, location: Any, scale: Any) -> Any:
    """Return the derivative of the density, by differences."""
    z = landau_standard(x, location, scale)
    return differentiated(landau_pdf, 0, (z, 0.0, 1.0), by_unit) / scale**2


def landau_lag(x: Any, location: Any, scale: Any) -> Any:
    """Return by how much a larger scale moves the point, times minus the scale."""
    return (x - location) / scale + 2 / np.pi


def landau_moved(i: int, x: Any, location: Any, scale: Any) -> Any:
    """Return the derivative of the distribution function in location and scale."""
    slope = -landau_pdf(x, location, scale)
    return slope * landau_lag(x, location, scale) if i else slope


if found("_landau_pdf") is not None:
    density(
        "_landau_pdf",
        lambda x, m, c, y: landau_slope(x, m, c),
        lambda x, m, c, y: -landau_slope(x, m, c),
        lambda x, m, c, y: -y / c - landau_lag(x, m, c) * landau_slope(x, m, c),
    )
    distribution(
        landau_pdf,
        landau_moved,
        cdf="_landau_cdf",
        sf="_landau_sf",
        ppf="_landau_ppf",
        isf="_landau_isf",
    )

# Tukey's lambda, whose quantiles are boxcox(p, k) - boxcox(1 - p, k).


def tukey_slope(k: Any, p: Any) -> Any:
    """Return the derivative of the quantile function in p."""
    return p ** (k - 1) + (1 - p) ** (k - 1)


def inside(x: Any, k: Any, slope: Any) -> Any:
    """Return a slope where the distribution has a density: it ends at 1 / k for positive k."""
    return np.where(np.abs(x) * k > 1, 0, slope)


elementwise(
    ss.tklmbda,
    lambda x, k, p: inside(x, k, 1 / tukey_slope(k, p)),
    lambda x, k, p: inside(
        x, k, (in_exponent(np.log1p(-p), k) - in_exponent(np.log(p), k)) / tukey_slope(k, p)
    ),
)

elementwise(
    ss.powm1,
    lambda x, a, y: a * x ** (a - 1),
    lambda x, a, y: (y + 1) * logarithm(x, y + 1),
)
density("_log1mexp", lambda x, y: -1 / np.expm1(-x))

# Kolmogorov and Smirnov: `_smirnovp` and `_kolmogp` are the derivatives of the functions from
# above; the first one is a piecewise polynomial, of which differences converge between knots.

COUNT = not_implemented("the size of a sample is an int")


def kolmogorov_slope(x: Any) -> Any:
    """Return minus the density of Kolmogorov's distribution."""
    return found("_kolmogp")(x)


def smirnov_slope(n: Any, d: Any) -> Any:
    """Return minus the density of Smirnov's distribution."""
    return found("_smirnovp")(n, d)


if found("_kolmogp") is not None:
    density("_kolmogp", lambda x, y: differentiated(kolmogorov_slope, 0, (x,)))
    density("_smirnovp", COUNT, lambda n, d, y: differentiated(smirnov_slope, 1, (n, d)))
    density("kolmogorov", lambda x, y: kolmogorov_slope(x))
    density("_kolmogc", lambda x, y: -kolmogorov_slope(x))
    density("kolmogi", lambda p, x: 1 / kolmogorov_slope(x))
    density("_kolmogci", lambda p, x: -1 / kolmogorov_slope(x))
    density("smirnov", COUNT, lambda n, d, y: smirnov_slope(n, d))
    density("_smirnovc", COUNT, lambda n, d, y: -smirnov_slope(n, d))
    density("smirnovi", COUNT, lambda n, p, d: 1 / smirnov_slope(n, d))
    density("_smirnovci", COUNT, lambda n, p, d: -1 / smirnov_slope(n, d))
