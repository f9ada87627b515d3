"""Rules for functions that are smooth in pieces: maxima, remainders, selection.

Conventions: inputs that tie in a maximum or minimum share the derivative equally; the jumps of a
remainder count as flat.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mooncake_py.rules.declare import elementwise, from_vjp, linear
from mooncake_py.rules.exact_zeros import scaled
from mooncake_py.rules.kinds import AtOnce

__all__ = ["weight_above"]

HALF = np.float32(0.5)
SINGLE = (np.float16, np.float32, np.complex64)


def weight_above(a: Any, b: Any) -> Any:
    """Return the share of `a` in ``maximum(a, b)``, and so that of `b` in ``minimum(a, b)``."""
    # The ufunc, not the operator: NumPy, unlike Python, orders complex numbers.
    return halved(np.equal(a, b), np.greater(a, b), a, b)


def halved(ties: Any, share: Any, a: Any, b: Any) -> Any:
    """Return a share, one half where the operands `a` and `b` tie.

    For numbers it is a number of Python.  Arrays are of the precision of the operands: float32
    must not become float64, and would take the precision of Python's floats.
    """
    if type(ties) is not np.ndarray:
        return 0.5 if ties else share
    if not ties.any():
        return share
    return np.where(ties, HALF if np.result_type(a, b) in SINGLE else 0.5, share)


def weights_above(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the shares of `a` and of `b` in ``maximum(a, b)``, and in ``minimum(b, a)``.

    Without ties and nan the share of `b` is all that is not that of `a`: None.
    """
    above, below = np.greater(a, b), np.less(a, b)
    if np.count_nonzero(above) + np.count_nonzero(below) == above.size:
        return above, None
    ties = np.equal(a, b)
    return halved(ties, above, a, b), halved(ties, below, a, b)


def weights_below(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the shares of `a` and of `b` in ``minimum(a, b)``, the latter None as above."""
    return weights_above(b, a)


def weight_above_or_nan(a: Any, b: Any) -> Any:
    """Return the share of `a` in ``fmax(a, b)``, which passes over nan."""
    return halved(np.equal(a, b), np.greater(a, b) | np.not_equal(b, b), a, b)


def weight_below_or_nan(a: Any, b: Any) -> Any:
    """Return the share of `a` in ``fmin(a, b)``, which passes over nan."""
    return halved(np.equal(a, b), np.less(a, b) | np.not_equal(b, b), a, b)


# Maxima and minima.

elementwise(
    np.maximum,
    AtOnce(lambda a, b, y: weight_above(a, b), weights_above),
    AtOnce(lambda a, b, y: weight_above(b, a)),
)
elementwise(
    np.minimum,
    AtOnce(lambda a, b, y: weight_above(b, a), weights_below),
    AtOnce(lambda a, b, y: weight_above(a, b)),
)
elementwise(
    np.fmax,
    AtOnce(lambda a, b, y: weight_above_or_nan(a, b)),
    AtOnce(lambda a, b, y: weight_above_or_nan(b, a)),
)
elementwise(
    np.fmin,
    AtOnce(lambda a, b, y: weight_below_or_nan(a, b)),
    AtOnce(lambda a, b, y: weight_below_or_nan(b, a)),
)

# Signs and neighbours.

elementwise(np.fabs, lambda x, y: np.sign(x))  # 0 at 0
elementwise(np.copysign, lambda a, b, y: np.sign(a) * np.sign(y), None)
elementwise(np.nextafter, 1, None)
elementwise(np.heaviside, None, lambda x, h, y: x == 0)

# Remainders.

elementwise(np.remainder, 1, lambda a, b, y: -np.floor_divide(a, b))
elementwise(np.fmod, 1, lambda a, b, y: (y - a) / b)

# Linear maps.


@linear(np.where, wrt=(1, 2), stepwise=(0,))
def where_adjoint(dy, condition, x, y):
    """Select: a product with the condition would make nan of 0 times inf."""
    return np.where(condition, dy, 0), np.where(condition, 0, dy)


# Functions with two outputs.


@from_vjp(np.modf)
def modf_vjp(x, **options):
    """Split x = fraction + integer; only the fraction moves with x."""

    def modf_pullback(dy):
        return dy[0]

    return np.modf(x, **options), modf_pullback


@from_vjp(np.frexp)
def frexp_vjp(x, **options):
    """Split x = mantissa 2**exponent; the mantissa moves by 2**-exponent."""
    mantissa, exponent = np.frexp(x, **options)

    def frexp_pullback(dy):
        return None if dy[0] is None else np.ldexp(dy[0], -exponent)

    return (mantissa, exponent), frexp_pullback


@from_vjp(np.divmod)
def divmod_vjp(a, b, **options):
    """Give q = floor(a / b), which is flat, and r = a - q b."""
    q, r = np.divmod(a, b, **options)

    def divmod_pullback(dy):
        dr = dy[1]
        if dr is None:
            return None, None
        return dr, lambda: scaled(dr, -q)  # q is infinite where b = 0

    return (q, r), divmod_pullback
