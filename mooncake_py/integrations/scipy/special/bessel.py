"""Bessel functions and similar functions (DLMF chapters 9, 10 and 11).

J, Y and the Hankel functions: C' = (C_{v-1} - C_{v+1}) / 2  (10.6.1); I: the sum, K: minus the sum
(10.29.1).  These hold at zero, where the forms with v / z divide by it.  The scaled functions have
factors exp(-|Im z|) or exp(-|Re z|), which are not holomorphic.  Derivatives in the order are
differences, see :mod:`parameters`, where SciPy takes an order that is not an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.outputs import outputs
from mooncake_py.integrations.scipy.special.parameters import by_unit, differentiated
from mooncake_py.rules.declare import elementwise, not_implemented
from mooncake_py.rules.holomorphic import wirtinger

__all__: list[str] = []

ORDER = not_implemented("the derivative in the order has no closed form")


def in_order(f: Callable[..., Any], v: Any, z: Any) -> Any:
    """Return the derivative in the order, by differences."""
    return differentiated(f, 0, (v, z), by_unit)


def half_difference(f: Callable[..., Any], v: Any, z: Any) -> Any:
    """Return (f_{v-1} - f_{v+1}) / 2."""
    return (f(v - 1, z) - f(v + 1, z)) / 2


def half_sum(f: Callable[..., Any], v: Any, z: Any) -> Any:
    """Return (f_{v-1} + f_{v+1}) / 2."""
    return (f(v - 1, z) + f(v + 1, z)) / 2


elementwise(
    ss.jv, lambda v, z, y: in_order(ss.jv, v, z), lambda v, z, y: half_difference(ss.jv, v, z)
)
elementwise(
    ss.yv, lambda v, z, y: in_order(ss.yv, v, z), lambda v, z, y: half_difference(ss.yv, v, z)
)
elementwise(ss.yn, ORDER, lambda n, z, y: half_difference(ss.yv, np.trunc(n), z))
elementwise(ss.iv, lambda v, z, y: in_order(ss.iv, v, z), lambda v, z, y: half_sum(ss.iv, v, z))
elementwise(ss.kv, lambda v, z, y: in_order(ss.kv, v, z), lambda v, z, y: -half_sum(ss.kv, v, z))
elementwise(ss.kn, ORDER, lambda n, z, y: -half_sum(ss.kv, np.trunc(n), z))
elementwise(
    ss.hankel1,
    lambda v, z, y: in_order(ss.hankel1, v, z),
    lambda v, z, y: half_difference(ss.hankel1, v, z),
)
elementwise(
    ss.hankel2,
    lambda v, z, y: in_order(ss.hankel2, v, z),
    lambda v, z, y: half_difference(ss.hankel2, v, z),
)

# Orders 0 and 1.
elementwise(ss.j0, lambda x, y: -ss.j1(x))
elementwise(ss.j1, lambda x, y: (ss.j0(x) - ss.jv(2, x)) / 2)
elementwise(ss.y0, lambda x, y: -ss.y1(x))
elementwise(ss.y1, lambda x, y: (ss.y0(x) - ss.yv(2, x)) / 2)
elementwise(ss.i0, lambda x, y: ss.i1(x))
elementwise(ss.i1, lambda x, y: (ss.i0(x) + ss.iv(2, x)) / 2)
elementwise(ss.k0, lambda x, y: -ss.k1(x))
elementwise(ss.k1, lambda x, y: -(ss.k0(x) + ss.kv(2, x)) / 2)
elementwise(ss.i0e, lambda x, y: ss.i1e(x) - np.sign(x) * y)
elementwise(ss.i1e, lambda x, y: (ss.i0e(x) + ss.ive(2, x)) / 2 - np.sign(x) * y)
elementwise(ss.k0e, lambda x, y: y - ss.k1e(x))
elementwise(ss.k1e, lambda x, y: y - (ss.k0e(x) + ss.kve(2, x)) / 2)


# Scaled.


def damped_across(slope: Any, z: Any, y: Any) -> Any:
    """Return the derivatives of f exp(-|Im z|), given f' exp(-|Im z|)."""
    if not np.iscomplexobj(z):
        return slope
    turn = np.sign(np.imag(z)) * y / 2j
    return wirtinger(slope - turn, turn)


def damped_along(slope: Any, z: Any, y: Any) -> Any:
    """Return the derivatives of f exp(-|Re z|), given f' exp(-|Re z|)."""
    if not np.iscomplexobj(z):
        return slope - np.sign(z) * y
    decay = np.sign(np.real(z)) * y / 2
    return wirtinger(slope - decay, -decay)


elementwise(
    ss.jve,
    lambda v, z, y: in_order(ss.jve, v, z),
    lambda v, z, y: damped_across(half_difference(ss.jve, v, z), z, y),
)
elementwise(
    ss.yve,
    lambda v, z, y: in_order(ss.yve, v, z),
    lambda v, z, y: damped_across(half_difference(ss.yve, v, z), z, y),
)
elementwise(
    ss.ive,
    lambda v, z, y: in_order(ss.ive, v, z),
    lambda v, z, y: damped_along(half_sum(ss.ive, v, z), z, y),
)
elementwise(
    ss.kve, lambda v, z, y: in_order(ss.kve, v, z), lambda v, z, y: y - half_sum(ss.kve, v, z)
)
elementwise(
    ss.hankel1e,
    lambda v, z, y: in_order(ss.hankel1e, v, z),
    lambda v, z, y: half_difference(ss.hankel1e, v, z) - 1j * y,
)
elementwise(
    ss.hankel2e,
    lambda v, z, y: in_order(ss.hankel2e, v, z),
    lambda v, z, y: half_difference(ss.hankel2e, v, z) + 1j * y,
)


# Spherical: 10.51.1 and 10.51.4, which hold at zero and for derivatives too.


def spherical(f: Callable[..., Any], below: int, above: int) -> None:
    """Declare a spherical function by f_n' = (below n f_{n-1} + above (n+1) f_{n+1}) / (2n+1)."""

    def slope(n: Any, z: Any, derivative: bool, y: Any) -> Any:
        lower = below * n * f(np.maximum(n, 1) - 1, z, derivative)
        return (lower + above * (n + 1) * f(n + 1, z, derivative)) / (2 * n + 1)

    elementwise(f, ORDER, slope, None)


spherical(ss.spherical_jn, 1, -1)
spherical(ss.spherical_yn, 1, -1)
spherical(ss.spherical_in, 1, 1)
spherical(ss.spherical_kn, -1, -1)

# Airy functions: 9.2.1; Kelvin functions; Struve functions: 11.4.27, 11.4.29.

outputs(ss.airy, lambda z, ys: (ys[1], z * ys[0], ys[3], z * ys[2]))
elementwise(ss.ber, lambda x, y: ss.berp(x))
elementwise(ss.bei, lambda x, y: ss.beip(x))
elementwise(ss.ker, lambda x, y: ss.kerp(x))
elementwise(ss.kei, lambda x, y: ss.keip(x))


def struve_term(v: Any, x: Any) -> Any:
    """Return (x/2)^v / (sqrt(pi) gamma(v + 3/2)) / 2."""
    return (x / 2) ** v * ss.rgamma(v + 1.5) / (2 * np.sqrt(np.pi))


def struve_slope(f: Callable[..., Any], v: Any, x: Any, mean: Any, sign: int) -> Any:
    """Return the derivative; for order 0, which needs no function of order -1, 2 / pi -+ f_1."""
    return np.where(np.equal(v, 0), 2 / np.pi + sign * f(1, x), mean(f, v, x) + struve_term(v, x))


elementwise(ss.struve, ORDER, lambda v, x, y: struve_slope(ss.struve, v, x, half_difference, -1))
elementwise(ss.modstruve, ORDER, lambda v, x, y: struve_slope(ss.modstruve, v, x, half_sum, 1))
