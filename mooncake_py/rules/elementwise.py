"""Rules for the smooth ufuncs: arithmetic, exponentials, logarithms and special functions.

Partials prefer the output `y` to the inputs where both will do, since inputs that no partial reads
are not kept for the reverse pass.  Derivatives after DLMF (https://dlmf.nist.gov), chapters 4
and 10.
"""

from __future__ import annotations

import math

import numpy as np

from mooncake_py.rules.declare import elementwise
from mooncake_py.rules.special_functions import (
    bessel_i,
    difference,
    logistic,
    sinc_derivative,
)

__all__: list[str] = []

LN_2 = math.log(2)
LN_10 = math.log(10)

# Arithmetic.

elementwise(np.add, 1, 1)
elementwise(np.subtract, 1, -1)
elementwise(np.negative, -1)
elementwise(np.positive, 1)
elementwise(np.multiply, lambda a, b, y: b, lambda a, b, y: a)
elementwise(np.divide, lambda a, b, y: 1 / b, lambda a, b, y: -y / b)

# Exponentials and logarithms.

elementwise(np.exp, lambda x, y: y)
elementwise(np.exp2, lambda x, y: y * LN_2)
elementwise(np.expm1, lambda x, y: y + 1)
elementwise(np.log, lambda x, y: 1 / x)
elementwise(np.log2, lambda x, y: (1 / LN_2) / x)
elementwise(np.log10, lambda x, y: (1 / LN_10) / x)
elementwise(np.log1p, lambda x, y: 1 / (1 + x))
elementwise(
    np.logaddexp,
    lambda a, b, y: logistic(difference(a, b)),
    lambda a, b, y: logistic(difference(b, a)),
)
elementwise(
    np.logaddexp2,
    lambda a, b, y: logistic(LN_2 * difference(a, b)),
    lambda a, b, y: logistic(LN_2 * difference(b, a)),
)

# Scaling by powers of two; of `math` too, whose own function raises where NumPy overflows.

elementwise(np.ldexp, lambda x, e, y: np.ldexp(1.0, e), None)
elementwise(math.ldexp, lambda x, e, y: np.ldexp(1.0, e), None)

# Special functions.

elementwise(np.sinc, lambda x, y: sinc_derivative(x, y))
elementwise(np.i0, lambda x, y: bessel_i(1, x))
