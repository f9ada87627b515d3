"""Functions that printed text calls, as plain Python."""

from __future__ import annotations

import math
import struct

__all__ = [
    "LARGE", "as_bits", "as_int", "heaviside", "hypot", "maximum", "minimum",
    "over", "plus", "plus_product", "tanh", "times",
]  # fmt: skip

LEAST, GREATEST = 1e-280, 1e280
"""Between these a sum of two squares has neither lost a digit nor overflowed."""


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
    """Return the same as `math.hypot` up to rounding, most often by a root instead of a call."""
    a, b = float(x), float(y)
    square = a * a + b * b
    return math.sqrt(square) if LEAST < square < GREATEST else math.hypot(a, b)


def tanh(x: float) -> float:
    """Return the same as `math.tanh`; compiled, for several numbers at once."""
    return math.tanh(x)


def heaviside(x: float, h: float) -> float:
    """Return the same as `numpy.heaviside`."""
    return x if x != x else 0.0 if x < 0.0 else 1.0 if x > 0.0 else h


def maximum(a: float, b: float) -> float:
    """Return the same as `numpy.maximum`: nan if either is, the second of two zeros."""
    return a if a > b or a != a else b


def minimum(a: float, b: float) -> float:
    """Return the same as `numpy.minimum`: nan if either is, the second of two zeros."""
    return a if a < b or a != a else b


LARGE = 700
"""Of how many products of numbers a product of matrices is for BLAS: a call takes 0.2 us."""
