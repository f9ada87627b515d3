"""Incomplete gamma and beta functions, and distributions that they stand for (DLMF chapter 8).

The derivatives with respect to shape parameters have no closed form: those are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.rules.declare import elementwise, not_implemented

__all__: list[str] = []

SHAPE = not_implemented("the derivative in a shape parameter has no closed form")


def gamma_log_density(a: Any, x: Any) -> Any:
    """Return the logarithm of x^(a-1) e^-x / gamma(a)."""
    return ss.xlogy(a - 1, x) - x - ss.gammaln(a)


def beta_log_density(a: Any, b: Any, x: Any) -> Any:
    """Return the logarithm of x^(a-1) (1-x)^(b-1) / beta(a, b)."""
    return ss.xlogy(a - 1, x) + ss.xlog1py(b - 1, -x) - ss.betaln(a, b)


# 8.8.13, and the inverse functions.
elementwise(ss.gammainc,     SHAPE, lambda a, x, y: np.exp(gamma_log_density(a, x)))
elementwise(ss.gammaincc,    SHAPE, lambda a, x, y: -np.exp(gamma_log_density(a, x)))
elementwise(ss.gammaincinv,  SHAPE, lambda a, p, x: np.exp(-gamma_log_density(a, x)))
elementwise(ss.gammainccinv, SHAPE, lambda a, p, x: -np.exp(-gamma_log_density(a, x)))

# 8.17.1.
elementwise(ss.betainc, SHAPE, SHAPE, lambda a, b, x, y: np.exp(beta_log_density(a, b, x)))
elementwise(ss.betaincinv, SHAPE, SHAPE, lambda a, b, p, x: np.exp(-beta_log_density(a, b, x)))
if hasattr(ss, "betaincc"):  # from SciPy 1.11 on
    elementwise(ss.betaincc, SHAPE, SHAPE,
                lambda a, b, x, y: -np.exp(beta_log_density(a, b, x)))
    elementwise(ss.betainccinv, SHAPE, SHAPE,
                lambda a, b, p, x: -np.exp(-beta_log_density(a, b, x)))

# The distributions chi-square, Poisson and Student's t.
elementwise(ss.chdtr,  SHAPE, lambda v, x, y: np.exp(gamma_log_density(v / 2, x / 2)) / 2)
elementwise(ss.chdtrc, SHAPE, lambda v, x, y: -np.exp(gamma_log_density(v / 2, x / 2)) / 2)
elementwise(ss.pdtr,   SHAPE, lambda k, m, y: -np.exp(gamma_log_density(np.floor(k) + 1, m)))
elementwise(ss.pdtrc,  SHAPE, lambda k, m, y: np.exp(gamma_log_density(np.floor(k) + 1, m)))
elementwise(ss.stdtr,  SHAPE, lambda v, t, y: student_density(v, t))
elementwise(ss.stdtrit, SHAPE, lambda v, p, t: 1 / student_density(v, t))


def student_density(v: Any, t: Any) -> Any:
    """Return (1 + t^2 / v)^(-(v+1)/2) / (sqrt(v) beta(1/2, v/2))."""
    log = -(v + 1) / 2 * np.log1p(t * t / v) - ss.betaln(0.5, v / 2)
    return np.exp(log) / np.sqrt(v)
