"""Rules for the `cmath` module.

Holomorphic functions are declared by their complex derivative.  The inverse functions are
differentiated through their output, which knows the side of the branch cut.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

from mooncake_py.rules.declare import elementwise, from_vjp
from mooncake_py.rules.holomorphic import wirtinger
from mooncake_py.rules.special_functions import reciprocal

__all__: list[str] = []

LN_10 = math.log(10)


def log_partial(z: Any, *rest: Any) -> Any:
    """Return the derivative of ``log(z)`` or ``log(z, base)``; `rest` ends with the output."""
    return 1 / (z * cmath.log(rest[0])) if len(rest) == 2 else 1 / z


def phase_partial(z: Any, y: Any) -> Any:
    """Differentiate the imaginary part of log z, 0 at the origin."""
    if not z:
        return 0.0
    z = complex(z)
    return wirtinger(-0.5j / z, 0.5j / z.conjugate())


# Holomorphic functions; the square root is in `powers`.

elementwise(cmath.exp, lambda z, y: y)
elementwise(cmath.log, log_partial, lambda z, base, y: -y / (base * cmath.log(base)))
elementwise(cmath.log10, lambda z, y: (1 / LN_10) / z)
elementwise(cmath.sin, lambda z, y: cmath.cos(z))
elementwise(cmath.cos, lambda z, y: -cmath.sin(z))
elementwise(cmath.tan, lambda z, y: 1 + y * y)
elementwise(cmath.asin, lambda z, y: reciprocal(cmath.cos(y)))
elementwise(cmath.acos, lambda z, y: -reciprocal(cmath.sin(y)))
elementwise(cmath.atan, lambda z, y: 1 / (1 + z * z))
elementwise(cmath.sinh, lambda z, y: cmath.cosh(z))
elementwise(cmath.cosh, lambda z, y: cmath.sinh(z))
elementwise(cmath.tanh, lambda z, y: 1 - y * y)
elementwise(cmath.asinh, lambda z, y: reciprocal(cmath.cosh(y)))
elementwise(cmath.acosh, lambda z, y: reciprocal(cmath.sinh(y)))
elementwise(cmath.atanh, lambda z, y: 1 / ((1 - z) * (1 + z)))

# Polar coordinates.

elementwise(cmath.phase, phase_partial)
elementwise(cmath.rect, lambda r, phi, z: cmath.rect(1, phi), lambda r, phi, z: 1j * z)


@from_vjp(cmath.polar)
def polar_vjp(z):
    """Give r = |z| and phi = arg z:  dz = (dr + i dphi / r) z / r, and 0 at the origin."""
    r, phi = cmath.polar(z)

    def polar_pullback(dy):
        dr, dphi = (0.0 if d is None else d for d in dy)
        return complex(dr, dphi / r) * z / r if r else 0.0

    return (r, phi), polar_pullback
