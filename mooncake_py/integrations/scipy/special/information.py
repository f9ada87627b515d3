"""Entropies and the loss functions of robust estimation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.elementary import quotient
from mooncake_py.rules.declare import elementwise

__all__: list[str] = []


def log_ratio(x: Any, y: Any) -> Any:
    """Return log(x / y), and zero where both are zero."""
    both = np.equal(x, 0) & np.equal(y, 0)  # not x == y: there the derivative is not zero
    return np.log(np.where(both, 1, x) / np.where(both, 1, y))


def huber_radius(delta: Any, r: Any) -> Any:
    """Return sqrt(delta^2 + r^2), and 1 where both are zero."""
    h = np.hypot(delta, r)
    return np.where(h == 0, 1, h)


elementwise(ss.entr, lambda x, y: -np.log(x) - 1)
elementwise(ss.rel_entr, lambda x, z, y: log_ratio(x, z) + 1, lambda x, z, y: -quotient(x, z))
elementwise(ss.kl_div, lambda x, z, y: log_ratio(x, z), lambda x, z, y: 1 - quotient(x, z))

# At |r| = delta both pieces have the same slopes.
elementwise(
    ss.huber,
    lambda delta, r, y: np.maximum(np.abs(r) - delta, 0),
    lambda delta, r, y: np.clip(r, -delta, delta),
)
# y = delta (h - delta) with h = sqrt(delta^2 + r^2).
elementwise(
    ss.pseudo_huber,
    lambda delta, r, y: (huber_radius(delta, r) - delta) ** 2 / huber_radius(delta, r),
    lambda delta, r, y: r * delta / huber_radius(delta, r),
)
