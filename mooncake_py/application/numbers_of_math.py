"""The functions of `math` and `cmath` compute with Python's numbers, whatever they are given.

Those of `math` take the real part of a complex number of NumPy, with its warning, and both take
other precisions as they are; so do their rules, which see Python's numbers only.
"""

from __future__ import annotations

import cmath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.kinds import ElementwiseRule, Rule, VjpRule
from mooncake_py.runtime.active import innermost
from mooncake_py.runtime.exact_numbers import exact
from mooncake_py.runtime.methods import derivable
from mooncake_py.runtime.values import NUMBERS, is_of_math

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["COMPLEX", "number_of", "on_numbers"]


def on_numbers(rule: Rule, apply: Handler) -> Handler:
    """Return the handler of a rule; that of such a function is applied to Python's numbers."""
    if type(rule) not in (ElementwiseRule, VjpRule):
        return apply
    number = next(filter(None, map(number_of, rule.functions)), None)
    if number is None:
        return apply
    is_converted = is_no_float if number is float else is_no_complex

    def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        if any(map(is_converted, args)):
            args = tuple([as_number(ctx, number, a) if is_converted(a) else a for a in args])
        return apply(ctx, f, args, kwargs)

    return run


def as_number(ctx: Mode, number: type, value: Any) -> Any:
    """Return an argument as the number that a function computes with.

    An instance of a subclass of float is its number, past its ``__float__``.
    """
    by_method = not isinstance(value, float) and derivable(value, "__float__") is not None
    plain = value if by_method else exact(value)
    return ctx.call(number, value) if plain is value else plain


def number_of(f: Any) -> type | None:
    """Return the type to which a function converts its arguments, None if it does not."""
    if is_of_math(f) or f is cmath.rect:
        return float
    return complex if getattr(f, "__module__", None) == "cmath" else None


def is_no_float(value: Any) -> bool:
    """Return whether a number or an array of one is another kind of number than a float.

    Integers stay: some functions take these only.
    """
    value = innermost(value)
    t = type(value)
    if t is ndarray:
        return value.ndim == 0 and value.dtype.kind == "f"
    if t in FLOATS:
        return False
    if t not in NUMBERS and isinstance(value, (float, int, np.number)):
        return True
    return hasattr(t, "__float__") and not hasattr(t, "__index__")


FLOATS = frozenset({float, int, bool, np.float64})


def is_no_complex(value: Any) -> bool:
    """Return whether a number or an array of one is another kind than a float or a complex."""
    value = innermost(value)
    t = type(value)
    if t is ndarray:
        return value.ndim == 0 and value.dtype.kind in "fc"
    if t in COMPLEX:
        return False
    return hasattr(t, "__complex__") or hasattr(t, "__float__")


COMPLEX = FLOATS | {complex, np.complex128}
