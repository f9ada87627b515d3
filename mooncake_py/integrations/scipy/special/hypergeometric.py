"""Hypergeometric functions: in their argument by DLMF 13.3.15, 13.3.22, 15.5.1, 16.3.1.

Those in a parameter are differences, see :mod:`parameters`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as ss

from mooncake_py.integrations.scipy.special.parameters import by_unit, differentiated
from mooncake_py.rules.declare import elementwise

__all__: list[str] = []


def in_parameter(f: Any, i: int, *xs: Any) -> Any:
    """Return the derivative in one of the parameters."""
    return differentiated(f, i, xs, by_unit)


elementwise(
    ss.hyp0f1,
    lambda b, z, y: in_parameter(ss.hyp0f1, 0, b, z),
    lambda b, z, y: ss.hyp0f1(b + 1, z) / b,
)


def kummer(a: Any, b: Any, z: Any) -> Any:
    """Return M(a, b, z), where M(0, -n, z) = 1, as in the derivative of M(-1, -n - 1, z)."""
    ends = np.equal(a, 0) & np.less_equal(b, 0) & np.equal(b, np.trunc(b))
    return np.where(ends, 1, ss.hyp1f1(a, np.where(ends, 1, b), z))


elementwise(
    ss.hyp1f1,
    lambda a, b, z, y: in_parameter(ss.hyp1f1, 0, a, b, z),
    lambda a, b, z, y: in_parameter(ss.hyp1f1, 1, a, b, z),
    lambda a, b, z, y: a / b * kummer(a + 1, b + 1, z),
)
elementwise(
    ss.hyperu,
    lambda a, b, z, y: in_parameter(ss.hyperu, 0, a, b, z),
    lambda a, b, z, y: in_parameter(ss.hyperu, 1, a, b, z),
    lambda a, b, z, y: -a * ss.hyperu(a + 1, b + 1, z),
)
elementwise(
    ss.hyp2f1,
    lambda a, b, c, z, y: in_parameter(ss.hyp2f1, 0, a, b, c, z),
    lambda a, b, c, z, y: in_parameter(ss.hyp2f1, 1, a, b, c, z),
    lambda a, b, c, z, y: in_parameter(ss.hyp2f1, 2, a, b, c, z),
    lambda a, b, c, z, y: a * b / c * ss.hyp2f1(a + 1, b + 1, c + 1, z),
)
