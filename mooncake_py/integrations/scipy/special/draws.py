"""Slopes of random draws in shape parameters, by the derivatives of distribution functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.distributions import (
    found,
    ncf_moved,
    ncf_pdf,
    ncx2_moved,
    ncx2_pdf,
)
from mooncake_py.integrations.scipy.special.incomplete import (
    beta_log_density,
    beta_shape,
    gamma_log_density,
    gamma_shape,
    student_density,
    student_shape,
)
from mooncake_py.rules.shaped_draws import SLOPES

__all__: list[str] = []


def gamma_slope(i: int, y: Any, a: Any) -> Any:
    """Return the slope of a gamma draw in its shape; zero where the draw has underflowed."""
    inside = y > 0
    y = np.where(inside, y, 1.0)
    return np.where(inside, -gamma_shape(a, y) * np.exp(-gamma_log_density(a, y)), 0.0)


def beta_slope(i: int, y: Any, a: Any, b: Any) -> Any:
    """Return the slope of a beta draw; zero where it was rounded to an end of the interval."""
    inside = (y > 0) & (y < 1)
    y = np.where(inside, y, 0.5)
    slope = -beta_shape(i, a, b, y) * np.exp(-beta_log_density(a, b, y))
    return np.where(inside, slope, 0.0)


def f_slope(i: int, y: Any, n: Any, d: Any) -> Any:
    """Return the slope of y = (d/n) w / (1 - w), with a beta draw w of parameters n/2 and d/2."""
    total = d + n * y
    w = n * y / total
    moved = beta_slope(i, w, n / 2, d / 2) / 2 * total**2 / (n * d)
    return moved - y / n if i == 0 else moved + y / d


def student_slope(i: int, y: Any, v: Any) -> Any:
    """Return the slope of a draw of Student's t distribution in its degrees of freedom."""
    return -student_shape(v, y) / student_density(v, y)


def wald_slope(i: int, y: Any, mean: Any, scale: Any) -> Any:
    """Return the slope of a draw of the inverse Gaussian distribution.

    F = Phi(a) + exp(2 s/m) Phi(b) with a, b = sqrt(s/y) (y/m - 1), -sqrt(s/y) (y/m + 1), and the
    densities of a and b agree up to the factor exp(2 s/m).  So what is left is the ratio of
    Phi(b) and its density, which `erfcx` gives.
    """
    b = -np.sqrt(scale / y) * (y / mean + 1)
    ratio = np.sqrt(np.pi / 2) * ss.erfcx(-b / np.sqrt(2.0))
    moved = 2 / mean * np.sqrt(y**3 / scale) * ratio
    return moved * scale / mean if i == 0 else y / scale - moved


SLOPES.update(
    gamma=gamma_slope, beta=beta_slope, f=f_slope, standard_t=student_slope, wald=wald_slope
)

if found("_ncx2_pdf") is not None:

    def noncentral_chisquare_slope(i: int, y: Any, df: Any, nonc: Any) -> Any:
        return -ncx2_moved(i, y, df, nonc) / ncx2_pdf(y, df, nonc)

    SLOPES["noncentral_chisquare"] = noncentral_chisquare_slope

if found("_ncf_pdf") is not None:

    def noncentral_f_slope(i: int, y: Any, n: Any, d: Any, nonc: Any) -> Any:
        return -ncf_moved(i, y, n, d, nonc) / ncf_pdf(y, n, d, nonc)

    SLOPES["noncentral_f"] = noncentral_f_slope
