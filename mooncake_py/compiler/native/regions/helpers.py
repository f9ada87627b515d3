"""Functions that printed text calls, as plain Python."""

from __future__ import annotations

import math
import struct

from numpy import empty, ndarray

__all__ = [
    "LARGE", "as_bits", "as_int", "grow", "half_power", "heaviside", "hypot", "maximum", "minimum",
    "over", "plus", "plus_product", "tanh", "times",
]  # fmt: skip

LEAST, GREATEST = 1e-280, 1e280
"""Between these a sum of two squares has neither lost a digit nor overflowed."""


SMALL, HUGE = 1e-80, 1e80
"""Between these half-integer powers up to 3.5 neither lose a digit nor overflow."""


def grow(S: ndarray, size: int) -> ndarray:
    """Return a stack, or another vector, with room for `size` numbers, that begins like one."""
    more = empty(max(size, 2 * S.size), S.dtype)
    for k in range(S.size):
        more[k] = S[k]
    return more


def as_bits(n: int) -> float:
    """Return the float that has the bits of an int: the stack keeps all of them."""
    return struct.unpack("d", struct.pack("q", n))[0]


def as_int(x: float) -> int:
    """Return the int whose bits a float has."""
    return struct.unpack("q", struct.pack("d", x))[0]


def plus(total: float, e: float) -> float:
    """Return a sum with one number more; compiled, the numbers are added in any order."""
    return total + e


def plus_product(total: float, a: float, b: float) -> float:
    """Return a sum of products with one more; compiled, they are added in any order."""
    return total + a * b


def times(d: float, p: float) -> float:
    """Return a multiple of a cotangent, or of a tangent, which is zero where that is."""
    return 0.0 if d == 0.0 else d * p


def over(d: float, p: float) -> float:
    """Return a cotangent over a number, zero where the cotangent is."""
    return 0.0 if d == 0.0 else d / p


def hypot(x: float, y: float) -> float:
    """Return what `math.hypot` does but for rounding, most often by a root instead of a call."""
    a, b = float(x), float(y)
    square = a * a + b * b
    return math.sqrt(square) if LEAST < square < GREATEST else math.hypot(a, b)


def half_power(x: float, n: int) -> float:
    """Return ``x ** (n + 0.5)`` for a small `n`: a root and products where nothing overflows."""
    if not SMALL < x < HUGE:
        return x ** (n + 0.5)
    found = math.sqrt(x)
    for _ in range(max(n, -n - 1)):
        found *= x
    return found if n >= 0 else 1.0 / found


def tanh(x: float) -> float:
    """Return what `math.tanh` does; compiled, for several numbers at once."""
    return math.tanh(x)


def heaviside(x: float, h: float) -> float:
    """Return what `numpy.heaviside` does."""
    return x if x != x else 0.0 if x < 0.0 else 1.0 if x > 0.0 else h


def maximum(a: float, b: float) -> float:
    """Return what `numpy.maximum` does: nan if either is."""
    return a if a >= b or a != a else b


def minimum(a: float, b: float) -> float:
    """Return what `numpy.minimum` does: nan if either is."""
    return a if a <= b or a != a else b


LARGE = 700
"""Of how many products of numbers a product of matrices is for BLAS: a call takes 0.2 us."""
