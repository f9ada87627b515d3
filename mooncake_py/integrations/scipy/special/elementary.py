"""Exponentials, logarithms, angles in degrees, transformations of Box and Cox, W and agm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.outputs import outputs
from mooncake_py.rules.declare import elementwise, not_implemented, zero_derivative

__all__: list[str] = []

DEGREE = math.pi / 180
LN_2 = math.log(2)
LN_10 = math.log(10)

zero_derivative(ss.round, because="piecewise constant")

elementwise(ss.cbrt, lambda x, y: 1 / (3 * y * y))
elementwise(ss.exp2, lambda x, y: LN_2 * y)
elementwise(ss.exp10, lambda x, y: LN_10 * y)
elementwise(ss.expm1, lambda x, y: y + 1)
elementwise(ss.log1p, lambda x, y: 1 / (1 + x))
elementwise(ss.cosm1, lambda x, y: -np.sin(x))
elementwise(ss.exprel, lambda x, y: exprel_slope(x))
elementwise(ss.xlogy, lambda x, a, y: np.log(a), lambda x, a, y: quotient(x, a))
elementwise(ss.xlog1py, lambda x, a, y: np.log1p(a), lambda x, a, y: quotient(x, 1 + a))

elementwise(ss.expit, lambda x, y: y * ss.expit(-x))
elementwise(ss.logit, lambda x, y: 1 / (x * (1 - x)))
elementwise(ss.log_expit, lambda x, y: ss.expit(-x))

elementwise(ss.sindg, lambda x, y: DEGREE * ss.cosdg(x))
elementwise(ss.cosdg, lambda x, y: -DEGREE * ss.sindg(x))
elementwise(ss.tandg, lambda x, y: DEGREE * (1 + y * y))
elementwise(ss.cotdg, lambda x, y: -DEGREE * (1 + y * y))

# Integrals of elementary functions: DLMF 6.2, 25.12.1 (with the argument 1 - x), 8.19.13.
elementwise(ss.exp1, lambda x, y: -np.exp(-x) / x)
elementwise(ss.expi, lambda x, y: np.exp(x) / x)
elementwise(
    ss.expn,
    not_implemented("the derivative in the order has no closed form"),
    lambda n, x, y: expn_slope(n, x, y),
)
elementwise(ss.spence, lambda x, y: spence_slope(x))
outputs(ss.sici, lambda x, ys: (np.sinc(x / np.pi), np.cos(x) / x))
outputs(ss.shichi, lambda x, ys: (ss.hyp0f1(1.5, x * x / 4), np.cosh(x) / x))  # 10.39.9

# Lambert's W: DLMF 4.13.4, in a form that is right at zero.
elementwise(ss.lambertw, lambda z, k, tol, w: np.exp(-w) / (1 + w),
                         not_implemented("the branch is an int"), None)  # fmt: skip
elementwise(ss.wrightomega, lambda z, w: w / (1 + w))


def quotient(x: Any, y: Any) -> Any:
    """Return x / y, and zero where both are zero."""
    both = np.equal(x, 0) & np.equal(y, 0)
    return np.where(both, 0, x / np.where(both, 1, y))


def spence_slope(x: Any) -> Any:
    """Return log(x) / (1 - x), near 1 as -F(1, 1; 2; 1 - x)  (15.4.1)."""
    near = np.abs(1 - x) < 0.25
    far = np.where(near, 2, x)
    return np.where(
        near, -ss.hyp2f1(1.0, 1.0, 2.0, np.where(near, 1 - x, 0)), np.log(far) / (1 - far)
    )


def exprel_slope(x: Any) -> Any:
    """Return the derivative of (e^x - 1) / x = M(1, 2, x): M(2, 3, x) / 2  (13.3.15)."""
    return ss.hyp1f1(2.0, 3.0, x) / 2


def expn_slope(n: Any, x: Any, y: Any) -> Any:
    """Return -E_(n-1)(x); E_0 = e^-x / x."""
    n = np.trunc(n)  # as SciPy does
    return np.where(n == 0, -(1 + 1 / x) * y, -ss.expn(np.maximum(n, 1) - 1, x))


# Box and Cox: y = (x^p - 1) / p = log(x) exprel(p log(x)).


def in_exponent(log: Any, p: Any) -> Any:
    """Return the derivative of log * exprel(p log) with respect to p; 1 / p^2 where x = 0."""
    finite = np.where(np.isinf(log), 0, log)
    return np.where(np.isinf(log), 1 / (p * p), log * log * exprel_slope(p * finite))


elementwise(ss.boxcox, lambda x, p, y: x ** (p - 1), lambda x, p, y: in_exponent(np.log(x), p))
elementwise(
    ss.boxcox1p, lambda x, p, y: (1 + x) ** (p - 1), lambda x, p, y: in_exponent(np.log1p(x), p)
)
elementwise(
    ss.inv_boxcox,
    lambda y, p, x: x ** (1 - p),
    lambda y, p, x: -in_exponent(np.log(x), p) * x ** (1 - p),
)
elementwise(
    ss.inv_boxcox1p,
    lambda y, p, x: (1 + x) ** (1 - p),
    lambda y, p, x: -in_exponent(np.log1p(x), p) * (1 + x) ** (1 - p),
)
