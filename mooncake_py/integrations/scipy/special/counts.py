"""Compiled distribution functions of counts, and zeta functions in their exponent.

Counts are ints; quantiles of counts are piecewise constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.distributions import density, found
from mooncake_py.integrations.scipy.special.incomplete import beta_density, beta_shape
from mooncake_py.integrations.scipy.special.parameters import by_unit, differentiated
from mooncake_py.rules.declare import elementwise, not_implemented, zero_derivative

__all__: list[str] = []

COUNT = not_implemented("a number of trials is an int")

# Binomial: the mass moves with p by n (mass(k - 1, n - 1) - mass(k, n - 1)).


def binomial_mass(k: Any, n: Any, p: Any) -> Any:
    """Return the mass, zero outside of 0 <= k <= n."""
    inside = (k >= 0) & (k <= n)
    j = np.where(inside, k, 0)
    return np.where(inside, found("_binom_pmf")(j, np.where(inside, n, 1), p), 0)


density(
    "_binom_pmf",
    None,
    COUNT,
    lambda k, n, p, y: n * (binomial_mass(k - 1, n - 1, p) - binomial_mass(k, n - 1, p)),
)
density("_binom_cdf", None, COUNT, lambda k, n, p, y: -n * binomial_mass(k, n - 1, p))
density("_binom_sf", None, COUNT, lambda k, n, p, y: n * binomial_mass(k, n - 1, p))

# Negative binomial: the distribution function is I_p(n, k + 1).
density(
    "_nbinom_pmf",
    None,
    lambda k, n, p, y: y * (ss.psi(n + k) - ss.psi(n) + np.log(p)),
    lambda k, n, p, y: y * (n / p - k / (1 - p)),
)
density(
    "_nbinom_cdf",
    None,
    lambda k, n, p, y: beta_shape(0, n, k + 1, p),
    lambda k, n, p, y: beta_density(n - 1, k, n, k + 1, p),
)
density(
    "_nbinom_sf",
    None,
    lambda k, n, p, y: -beta_shape(0, n, k + 1, p),
    lambda k, n, p, y: -beta_density(n - 1, k, n, k + 1, p),
)
for each in ("_binom_ppf", "_binom_isf", "_nbinom_ppf", "_nbinom_isf"):
    if found(each) is not None:
        zero_derivative(found(each), because="piecewise constant")


# Sums of i^-a and their limit.


def above_one(s: Any) -> Any:
    """Return the scale on which the zeta function varies, which has a pole at one."""
    return np.abs(s - 1) / np.sqrt(1 + np.abs(s - 1))


elementwise(
    ss.zeta,
    lambda s, a, y: differentiated(ss.zeta, 0, (s,) if a is None else (s, a), above_one),
    lambda s, a, y: -s * ss.zeta(s + 1, a),  # 25.11.17
)


def harmonic(j: Any, k: Any, n: Any, a: Any) -> Any:
    """Return the sum from j to k, over that from 1 to n."""
    return found("_normalized_gen_harmonic")(j, k, n, a)


density(
    "_normalized_gen_harmonic",
    COUNT,
    COUNT,
    COUNT,
    lambda j, k, n, a, y: differentiated(harmonic, 3, (j, k, n, a), by_unit),
)
