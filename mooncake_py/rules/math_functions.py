"""Rules for the `math` module: partials in plain Python arithmetic and `math` itself.

A partial may divide an argument or the output by zero: the engine then evaluates it on NumPy
scalars, which give the infinite slope (of ``sqrt``, say) instead of an exception.  Powers and
roots are in `powers`, ``ldexp`` is in `elementwise`.  Derivatives after DLMF
(https://dlmf.nist.gov), chapters 4, 5 and 7.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from mooncake_py.rules.declare import elementwise, from_vjp, overlay
from mooncake_py.rules.special_functions import digamma, reciprocal

__all__ = ["diagonal", "hypotenuse", "log_base_partial", "log_of_sum", "log_partial"]

LN_2 = math.log(2)
LN_10 = math.log(10)
ERF_SLOPE = 2 / math.sqrt(math.pi)


def log_partial(x: Any, *rest: Any) -> Any:
    """Return the derivative of ``log(x)`` or ``log(x, base)``; `rest` ends with the output."""
    return 1 / (x * math.log(rest[0])) if len(rest) == 2 else 1 / x


def log_base_partial(x: Any, base: Any, y: Any) -> Any:
    """Return the derivative of ``log(x, base)`` with respect to the base."""
    return -y / (base * math.log(base))


def hypotenuse(x: Any, y: Any) -> Any:
    """Return ``math.hypot(x, y)``, which takes any number of arguments and has no partials."""
    return math.hypot(x, y)


def diagonal(x: Any, y: Any, z: Any) -> Any:
    """Return ``math.hypot(x, y, z)``."""
    return math.hypot(x, y, z)


def share(a: Any, r: Any) -> Any:
    """Return ``a / r``, 0 where r = 0."""
    return a / r if r else 0.0


def over_square(a: Any, x: Any, y: Any) -> Any:
    """Return ``a / (x**2 + y**2)``, 0 at the origin."""
    r = hypotenuse(x, y)
    return a / r / r if r else 0.0


def log_of_sum(a: Any, b: Any) -> Any:
    """Return ``log(exp(a) + exp(b))`` of numbers."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


def logistic_of(t: Any) -> Any:
    """Return ``1 / (1 + exp(-t))`` of a number, exactly zero at minus infinity."""
    return 1 / (1 + math.exp(-t)) if t > -700 else math.exp(t)


# Exponentials and logarithms.

elementwise(math.exp, lambda x, y: y)
elementwise(math.exp2, lambda x, y: y * LN_2)
elementwise(math.expm1, lambda x, y: y + 1)
elementwise(math.log, log_partial, log_base_partial)
elementwise(math.log2, lambda x, y: (1 / LN_2) / x)
elementwise(math.log10, lambda x, y: (1 / LN_10) / x)
elementwise(math.log1p, lambda x, y: 1 / (1 + x))
elementwise(log_of_sum, lambda a, b, y: logistic_of(a - b), lambda a, b, y: logistic_of(b - a))

# Circular functions.

elementwise(math.sin, lambda x, y: math.cos(x))
elementwise(math.cos, lambda x, y: -math.sin(x))
elementwise(math.tan, lambda x, y: 1 + y * y)
elementwise(math.asin, lambda x, y: reciprocal(math.sqrt((1 - x) * (1 + x))))
elementwise(math.acos, lambda x, y: -reciprocal(math.sqrt((1 - x) * (1 + x))))
elementwise(math.atan, lambda x, y: 1 / (1 + x * x))
elementwise(hypotenuse, lambda x, y, r: share(x, r), lambda x, y, r: share(y, r))
elementwise(
    diagonal, lambda x, y, z, r: share(x, r), lambda x, y, z, r: share(y, r),
    lambda x, y, z, r: share(z, r),
)  # fmt: skip
elementwise(math.atan2, lambda a, b, y: over_square(b, a, b), lambda a, b, y: over_square(-a, a, b))
elementwise(math.degrees, 180 / math.pi)
elementwise(math.radians, math.pi / 180)

# Hyperbolic functions.

elementwise(math.sinh, lambda x, y: math.cosh(x))
elementwise(math.cosh, lambda x, y: math.sinh(x))
elementwise(math.tanh, lambda x, y: 1 - y * y)
elementwise(math.asinh, lambda x, y: 1 / math.cosh(y))
elementwise(math.acosh, lambda x, y: reciprocal(math.sinh(y)))
elementwise(math.atanh, lambda x, y: 1 / ((1 - x) * (1 + x)))

# Special functions.

elementwise(math.erf, lambda x, y: ERF_SLOPE * math.exp(-x * x))
elementwise(math.erfc, lambda x, y: -ERF_SLOPE * math.exp(-x * x))
elementwise(math.gamma, lambda x, y: y * digamma(x))
elementwise(math.lgamma, lambda x, y: digamma(x))

# Signs, neighbours and remainders.

elementwise(math.fabs, lambda x, y: math.copysign(1.0, x) if x else 0.0)
elementwise(
    math.copysign, lambda a, b, y: math.copysign(1.0, a) * math.copysign(1.0, b) if a else 0.0, None
)
elementwise(math.nextafter, 1, None)
elementwise(math.fmod, 1, lambda a, b, y: (y - a) / b)
elementwise(math.remainder, 1, lambda a, b, y: (y - a) / b)
if sys.version_info >= (3, 13):
    elementwise(math.fma, lambda a, b, c, y: b, lambda a, b, c, y: a, 1)

# Functions of several numbers.


@overlay(math.prod)
def prod(iterable: Iterable[Any], /, *, start: Any = 1) -> Any:
    """Multiply from left to right, as `math.prod` does."""
    for x in iterable:
        start = start * x
    return start


@overlay(math.fsum)
def fsum(seq: Iterable[Any], /) -> Any:
    """Sum the elements of any iterable."""
    return fsum_of_list([as_float(value) for value in seq])  # a list asks for a length


def as_float(value: Any) -> Any:
    """Return the number that an object is converted to, or raise the error of `math`."""
    if isinstance(value, (float, int)):
        return value
    if hasattr(type(value), "__float__"):
        return float(value)
    if not hasattr(type(value), "__index__"):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return value


def fsum_of_list(values: list[Any]) -> float:
    """Sum the numbers of a list without loss of precision."""
    return math.fsum(values)


@from_vjp(fsum_of_list)
def fsum_vjp(values):
    """Give each term the cotangent of the sum."""

    def fsum_pullback(dy):
        return [dy] * len(values)

    return math.fsum(values), fsum_pullback


@from_vjp(math.hypot)
def hypot_vjp(*coordinates):
    """Give each coordinate its share x / y; 0 at the origin (minimum-norm subgradient)."""
    y = math.hypot(*coordinates)

    def hypot_pullback(dy):
        return tuple(dy * (x / y) if y else 0.0 for x in coordinates)

    return y, hypot_pullback


POINTS = frozenset({list, tuple, np.ndarray})
"""Types of points of which `math.dist` reads the items as they are."""


@overlay(math.dist)
def dist(p: Any, q: Any, /) -> float:
    """Return the distance of two points, which may run code to yield their coordinates."""
    if type(p) not in POINTS or not holds_floats(p):
        p = coordinates(p)
    if type(q) not in POINTS or not holds_floats(q):
        q = coordinates(q)
    return dist_of_points(p, q)


def holds_floats(point: Any) -> bool:
    """Return whether the items of a point are numbers as they are."""
    return type(point) is np.ndarray or all(isinstance(value, (float, int)) for value in point)


def coordinates(point: Any) -> list[Any]:
    """Return the coordinates as `math.dist` reads them: items of a tuple, else iterated ones."""
    items = tuple.__iter__(point) if isinstance(point, tuple) else point
    return [as_float(value) for value in items]


def dist_of_points(p: Any, q: Any) -> float:
    """Return the distance of two points, which hold their coordinates."""
    return math.dist(p, q)


@from_vjp(dist_of_points)
def dist_vjp(p, q):
    """Give the cotangents dy (p - q) / y and its negative; 0 where the points coincide."""
    y = math.dist(p, q)

    def dist_pullback(dy):
        dp = [dy * ((float(a) - float(b)) / y) if y else 0.0 for a, b in zip(p, q, strict=True)]
        dq = [-d for d in dp]
        return like_points(dp, p), like_points(dq, q)

    return y, dist_pullback


def like_points(values: list[float], points: Any) -> Any:
    """Return an array for an argument that is an array, else the list."""
    return np.array(values) if isinstance(points, np.ndarray) else values


@from_vjp(math.modf)
def modf_vjp(x):
    """Split x = fraction + integer; only the fraction moves with x."""

    def modf_pullback(dy):
        return dy[0]

    return math.modf(x), modf_pullback


@from_vjp(math.frexp)
def frexp_vjp(x):
    """Split x = mantissa 2**exponent; the mantissa moves by 2**-exponent."""
    mantissa, exponent = math.frexp(x)

    def frexp_pullback(dy):
        return None if dy[0] is None else np.ldexp(dy[0], -exponent)

    return (mantissa, exponent), frexp_pullback


if sys.version_info >= (3, 12):

    @overlay(math.sumprod)
    def sumprod(p: Iterable[Any], q: Iterable[Any], /) -> Any:
        """Multiply and sum two iterables of one length."""
        return sumprod_of_lists(list(p), list(q))

    def sumprod_of_lists(p: list[Any], q: list[Any]) -> Any:
        """Multiply and sum two lists with extended precision."""
        return math.sumprod(p, q)

    @from_vjp(sumprod_of_lists)
    def sumprod_vjp(p, q):
        """Give each factor the cotangent of the sum times its partner."""

        def sumprod_pullback(dy):
            return [dy * x.conjugate() for x in q], [dy * x.conjugate() for x in p]

        return math.sumprod(p, q), sumprod_pullback
