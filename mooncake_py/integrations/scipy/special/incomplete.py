"""Incomplete gamma and beta functions, and distributions that they stand for (DLMF chapter 8).

The derivatives with respect to shape parameters have no closed form: they are differences, see
:mod:`parameters`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.parameters import of_smaller_tail
from mooncake_py.rules.declare import elementwise

__all__ = ["beta_density", "beta_shape", "gamma_density", "logarithm", "times"]


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
    """Return p times what may be infinite where p is zero: zero there."""
    return np.where(np.equal(p, 0), 0, p * density)


elementwise(times, lambda p, density, y: density, lambda p, density, y: p)


def logarithm(x: Any, y: Any) -> Any:
    """Return the logarithm of `x`, and zero where it is the factor of a density of zero."""
    return np.log(np.where(np.equal(y, 0), 1, x))


elementwise(
    gamma_density,
    lambda p, a, x, y: logarithm(x, y) * y,
    lambda p, a, x, y: -ss.psi(a) * y,
    lambda p, a, x, y: times(p, gamma_density(p - 1, a, x)) - y,
)
elementwise(
    beta_density,
    lambda p, q, a, b, x, y: logarithm(x, y) * y,
    lambda p, q, a, b, x, y: logarithm(1 - x, y) * y,
    lambda p, q, a, b, x, y: (ss.psi(a + b) - ss.psi(a)) * y,
    lambda p, q, a, b, x, y: (ss.psi(a + b) - ss.psi(b)) * y,
    lambda p, q, a, b, x, y: (
        times(p, beta_density(p - 1, q, a, b, x)) - times(q, beta_density(p, q - 1, a, b, x))
    ),
)


def gamma_shape(a: Any, x: Any) -> Any:
    """Return the derivative of P(a, x) in a."""
    return of_smaller_tail(ss.gammainc, ss.gammaincc, 0, (a, x))


def beta_shape(i: int, a: Any, b: Any, x: Any) -> Any:
    """Return the derivative of I_x(a, b) in a or b."""
    return of_smaller_tail(ss.betainc, beta_above, i, (a, b, x))


def beta_above(a: Any, b: Any, x: Any) -> Any:
    """Return 1 - I_x(a, b); SciPy has it from 1.11 on."""
    return ss.betaincc(a, b, x) if hasattr(ss, "betaincc") else ss.betainc(b, a, 1 - x)


def student_shape(v: Any, t: Any) -> Any:
    """Return the derivative of Student's distribution function in its degrees of freedom."""
    return of_smaller_tail(ss.stdtr, student_above, 0, (v, t))


def student_above(v: Any, t: Any) -> Any:
    """Return Student's distribution function from above."""
    return ss.stdtr(v, -t)


# 8.8.13, and the inverse functions: dx = (dp - dP(a, x)) / density.
elementwise(
    ss.gammainc,
    lambda a, x, y: gamma_shape(a, x),
    lambda a, x, y: gamma_density(a - 1, a, x),
)
elementwise(
    ss.gammaincc,
    lambda a, x, y: -gamma_shape(a, x),
    lambda a, x, y: -gamma_density(a - 1, a, x),
)
elementwise(
    ss.gammaincinv,
    lambda a, p, x: -gamma_shape(a, x) * np.exp(-gamma_log_density(a, x)),
    lambda a, p, x: np.exp(-gamma_log_density(a, x)),
)
elementwise(
    ss.gammainccinv,
    lambda a, p, x: -gamma_shape(a, x) * np.exp(-gamma_log_density(a, x)),
    lambda a, p, x: -np.exp(-gamma_log_density(a, x)),
)

# 8.17.1.
elementwise(
    ss.betainc,
    lambda a, b, x, y: beta_shape(0, a, b, x),
    lambda a, b, x, y: beta_shape(1, a, b, x),
    lambda a, b, x, y: beta_density(a - 1, b - 1, a, b, x),
)
elementwise(
    ss.betaincinv,
    lambda a, b, p, x: -beta_shape(0, a, b, x) * np.exp(-beta_log_density(a, b, x)),
    lambda a, b, p, x: -beta_shape(1, a, b, x) * np.exp(-beta_log_density(a, b, x)),
    lambda a, b, p, x: np.exp(-beta_log_density(a, b, x)),
)
if hasattr(ss, "betaincc"):  # from SciPy 1.11 on
    elementwise(
        ss.betaincc,
        lambda a, b, x, y: -beta_shape(0, a, b, x),
        lambda a, b, x, y: -beta_shape(1, a, b, x),
        lambda a, b, x, y: -beta_density(a - 1, b - 1, a, b, x),
    )
    elementwise(
        ss.betainccinv,
        lambda a, b, p, x: -beta_shape(0, a, b, x) * np.exp(-beta_log_density(a, b, x)),
        lambda a, b, p, x: -beta_shape(1, a, b, x) * np.exp(-beta_log_density(a, b, x)),
        lambda a, b, p, x: -np.exp(-beta_log_density(a, b, x)),
    )

# The distributions chi-square, Poisson, Student's t and F.
elementwise(
    ss.chdtr,
    lambda v, x, y: gamma_shape(v / 2, x / 2) / 2,
    lambda v, x, y: gamma_density(v / 2 - 1, v / 2, x / 2) / 2,
)
elementwise(
    ss.chdtrc,
    lambda v, x, y: -gamma_shape(v / 2, x / 2) / 2,
    lambda v, x, y: -gamma_density(v / 2 - 1, v / 2, x / 2) / 2,
)
elementwise(
    ss.chdtri,
    lambda v, p, x: -gamma_shape(v / 2, x / 2) * np.exp(-gamma_log_density(v / 2, x / 2)),
    lambda v, p, x: -2 * np.exp(-gamma_log_density(v / 2, x / 2)),
)
elementwise(ss.pdtr, None, lambda k, m, y: -gamma_density(np.floor(k), np.floor(k) + 1, m))
elementwise(ss.pdtrc, None, lambda k, m, y: gamma_density(np.floor(k), np.floor(k) + 1, m))
elementwise(ss.stdtr, lambda v, t, y: student_shape(v, t), lambda v, t, y: student_density(v, t))
elementwise(
    ss.stdtrit,
    lambda v, p, t: -student_shape(v, t) / student_density(v, t),
    lambda v, p, t: 1 / student_density(v, t),
)


def student_density(v: Any, t: Any) -> Any:
    """Return (1 + t^2 / v)^(-(v+1)/2) / (sqrt(v) beta(1/2, v/2))."""
    log = -(v + 1) / 2 * np.log1p(t * t / v) - ss.betaln(0.5, v / 2)
    return np.exp(log) / np.sqrt(v)
