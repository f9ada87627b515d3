"""Elliptic integrals, Jacobian elliptic functions, the arithmetic-geometric mean (DLMF 19, 22).

The usual forms, such as K' = (E - (1-m) K) / (2 m (1-m)), cancel near m = 0; these do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.rules.declare import elementwise, from_vjp, not_implemented
from mooncake_py.rules.several_outputs import scaled

__all__: list[str] = []


def ellipk_slope(m: Any, complement: Any) -> Any:
    """Return K'(m), with 1 - m given: pi/8 F(1/2, 1/2; 2; m) / (1 - m)  (19.5.1, 15.8.1)."""
    return np.pi / 8 * ss.hyp2f1(0.5, 0.5, 2.0, m) / complement


def ellipe_slope(m: Any) -> Any:
    """Return E'(m) = -pi/8 F(1/2, 3/2; 2; m)  (19.5.2)."""
    return -np.pi / 8 * ss.hyp2f1(0.5, 1.5, 2.0, m)


elementwise(ss.ellipk, lambda m, y: ellipk_slope(m, 1 - m))
elementwise(ss.ellipkm1, lambda p, y: -ellipk_slope(1 - p, p))
elementwise(ss.ellipe, lambda m, y: ellipe_slope(m))


# Incomplete integrals by those of Carlson, for the angle less multiples of pi (19.25.5, 19.25.9).


def sine_and_turns(phi: Any) -> tuple[Any, Any, Any]:
    """Return sine and squared cosine of phi - n pi, which is at most pi / 2, and n."""
    n = np.round(phi / np.pi)
    s = np.sin(phi - n * np.pi)
    return s, np.cos(phi - n * np.pi) ** 2, n


def ellipkinc_slope(phi: Any, m: Any) -> Any:
    """Return dF / dm = s^3 / 6 R_D(c^2, 1, 1 - m s^2) + 2 n K'(m)."""
    s, c2, n = sine_and_turns(phi)
    turns = np.where(n == 0, 0, 2 * n * ellipk_slope(m, 1 - m))
    return s**3 / 6 * ss.elliprd(c2, 1.0, 1 - m * s * s) + turns


def ellipeinc_slope(phi: Any, m: Any) -> Any:
    """Return dE / dm = -s^3 / 6 R_D(c^2, 1 - m s^2, 1) + 2 n E'(m)."""
    s, c2, n = sine_and_turns(phi)
    turns = np.where(n == 0, 0, 2 * n * ellipe_slope(m))
    return turns - s**3 / 6 * ss.elliprd(c2, 1 - m * s * s, 1.0)


elementwise(
    ss.ellipkinc,
    lambda phi, m, y: 1 / np.sqrt(1 - m * np.sin(phi) ** 2),
    lambda phi, m, y: ellipkinc_slope(phi, m),
)
elementwise(
    ss.ellipeinc,
    lambda phi, m, y: np.sqrt(1 - m * np.sin(phi) ** 2),
    lambda phi, m, y: ellipeinc_slope(phi, m),
)


@from_vjp(ss.ellipj)
def ellipj_rule(u: Any, m: Any) -> tuple[Any, Any]:
    """Use sn' = cn dn,  cn' = -sn dn,  dn' = -m sn cn,  am' = dn in u  (22.13.1, 22.16.1)."""
    ys = ss.ellipj(u, m)
    sn, cn, dn, _ = ys
    m = np.asarray(m)

    def ellipj_pullback(dys: tuple[Any, ...]) -> tuple[Any, Any]:
        slopes = cn * dn, -sn * dn, -m * sn * cn, dn
        du = sum(scaled(dy, p) for dy, p in zip(dys, slopes, strict=True) if dy is not None)
        return du, not_implemented("the derivative in the parameter m")

    return ys, ellipj_pullback


def agm_slope(a: Any, b: Any, y: Any) -> Any:
    """Return the derivative in a of pi/4 (a + b) / K(m),  m = ((a-b) / (a+b))^2  (19.8.5)."""
    edge = y == 0  # with slopes 0 and infinity; at (0, 0) a kink, with that along a = b
    at_edge = np.where(a == b, 0.5, np.where(a == 0, np.inf, 0.0))
    sum_ = np.where(edge, 1, a + b)
    t = np.where(edge, 0, a - b) / sum_
    m = t * t
    log_slope = ellipk_slope(m, 1 - m) / ss.ellipk(m)
    return np.where(edge, at_edge, y / sum_ * (1 - 4 * t * log_slope * b / sum_))


elementwise(ss.agm, lambda a, b, y: agm_slope(a, b, y), lambda a, b, y: agm_slope(b, a, y))
