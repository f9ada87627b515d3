"""Hypergeometric functions in their argument (DLMF 13.3.15, 13.3.22, 15.5.1, 16.3.1)."""

from __future__ import annotations

from scipy import special as ss

from mooncake_py.rules.declare import elementwise, not_implemented

__all__: list[str] = []

PARAMETER = not_implemented("the derivative in a parameter has no closed form")

elementwise(ss.hyp0f1, PARAMETER, lambda b, z, y: ss.hyp0f1(b + 1, z) / b)
elementwise(ss.hyp1f1, PARAMETER, PARAMETER, lambda a, b, z, y: a / b * ss.hyp1f1(a + 1, b + 1, z))
elementwise(ss.hyperu, PARAMETER, PARAMETER, lambda a, b, z, y: -a * ss.hyperu(a + 1, b + 1, z))
elementwise(ss.hyp2f1, PARAMETER, PARAMETER, PARAMETER,
            lambda a, b, c, z, y: a * b / c * ss.hyp2f1(a + 1, b + 1, c + 1, z))  # fmt: skip
