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


# The densities have rules of their own: at the ends of the domain the derivative of the logarithm
# is infinite where that of the density is not.


def gamma_density(p: Any, a: Any, x: Any) -> Any:
    """Return x^p e^-x / gamma(a)."""
    return np.exp(ss.xlogy(p, x) - x - ss.gammaln(a))


def beta_density(p: Any, q: Any, a: Any, b: Any, x: Any) -> Any:
    """Return x^p (1-x)^q / beta(a, b)."""
    return np.exp(ss.xlogy(p, x) + ss.xlog1py(q, -x) - ss.betaln(a, b))


def times(p: Any, density: Any) -> Any:
    """Return p times a density, which is infinite where p is zero."""
    return np.where(np.equal(p, 0), 0, p * density)


elementwise(
    gamma_density, SHAPE, SHAPE, lambda p, a, x, y: times(p, gamma_density(p - 1, a, x)) - y
)
elementwise(beta_density, SHAPE, SHAPE, SHAPE, SHAPE,
            lambda p, q, a, b, x, y: (times(p, beta_density(p - 1, q, a, b, x))
                                      - times(q, beta_density(p, q - 1, a, b, x))))  # fmt: skip

# 8.8.13, and the inverse functions.
elementwise(ss.gammainc, SHAPE, lambda a, x, y: gamma_density(a - 1, a, x))
elementwise(ss.gammaincc, SHAPE, lambda a, x, y: -gamma_density(a - 1, a, x))
elementwise(ss.gammaincinv, SHAPE, lambda a, p, x: np.exp(-gamma_log_density(a, x)))
elementwise(ss.gammainccinv, SHAPE, lambda a, p, x: -np.exp(-gamma_log_density(a, x)))

# 8.17.1.
elementwise(ss.betainc, SHAPE, SHAPE, lambda a, b, x, y: beta_density(a - 1, b - 1, a, b, x))
elementwise(ss.betaincinv, SHAPE, SHAPE, lambda a, b, p, x: np.exp(-beta_log_density(a, b, x)))
if hasattr(ss, "betaincc"):  # from SciPy 1.11 on
    elementwise(ss.betaincc, SHAPE, SHAPE, lambda a, b, x, y: -beta_density(a - 1, b - 1, a, b, x))
    elementwise(
        ss.betainccinv, SHAPE, SHAPE, lambda a, b, p, x: -np.exp(-beta_log_density(a, b, x))
    )

# The distributions chi-square, Poisson and Student's t.
elementwise(ss.chdtr, SHAPE, lambda v, x, y: gamma_density(v / 2 - 1, v / 2, x / 2) / 2)
elementwise(ss.chdtrc, SHAPE, lambda v, x, y: -gamma_density(v / 2 - 1, v / 2, x / 2) / 2)
elementwise(ss.pdtr, SHAPE, lambda k, m, y: -gamma_density(np.floor(k), np.floor(k) + 1, m))
elementwise(ss.pdtrc, SHAPE, lambda k, m, y: gamma_density(np.floor(k), np.floor(k) + 1, m))
elementwise(ss.stdtr, SHAPE, lambda v, t, y: student_density(v, t))
elementwise(ss.stdtrit, SHAPE, lambda v, p, t: 1 / student_density(v, t))


def student_density(v: Any, t: Any) -> Any:
    """Return (1 + t^2 / v)^(-(v+1)/2) / (sqrt(v) beta(1/2, v/2))."""
    log = -(v + 1) / 2 * np.log1p(t * t / v) - ss.betaln(0.5, v / 2)
    return np.exp(log) / np.sqrt(v)
