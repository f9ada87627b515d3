"""Hypergeometric functions: in their argument by DLMF 13.3.15, 13.3.22, 15.5.1, 16.3.1.

Those in a parameter are differences, see :mod:`parameters`.
"""

from __future__ import annotations

from typing import Any

from scipy import special as ss

from mooncake_py.rules.declare import elementwise
from mooncake_py.rules.scipy.special.parameters import by_unit, differentiated

__all__: list[str] = []


def in_parameter(f: Any, i: int, *xs: Any) -> Any:
    """Return the derivative in one of the parameters."""
    return differentiated(f, i, xs, by_unit)


elementwise(
    ss.hyp0f1,
    lambda b, z, y: in_parameter(ss.hyp0f1, 0, b, z),
    lambda b, z, y: ss.hyp0f1(b + 1, z) / b,
)
elementwise(
    ss.hyp1f1,
    lambda a, b, z, y: in_parameter(ss.hyp1f1, 0, a, b, z),
    lambda a, b, z, y: in_parameter(ss.hyp1f1, 1, a, b, z),
    lambda a, b, z, y: a / b * ss.hyp1f1(a + 1, b + 1, z),
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
