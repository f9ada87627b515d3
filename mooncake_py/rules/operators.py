"""Rules for the arithmetic operators on Python scalars.

The engine uses these if no operand is an array; arrays use the ufuncs.  The partials are
plain arithmetic, which on Python numbers is ten times faster than a ufunc.  Powers are in
`powers`, the absolute value is in `complex_parts`.
"""

from __future__ import annotations

import operator

from mooncake_py.rules.declare import elementwise, zero_derivative

__all__: list[str] = []

elementwise(operator.add, 1, 1)
elementwise(operator.sub, 1, -1)
elementwise(operator.neg, -1)
elementwise(operator.pos, 1)
elementwise(operator.mul, lambda a, b, y: b, lambda a, b, y: a)
elementwise(operator.truediv, lambda a, b, y: 1 / b, lambda a, b, y: -y / b)
elementwise(operator.mod, 1, lambda a, b, y: -(a // b))
zero_derivative(operator.floordiv, because="piecewise constant")
