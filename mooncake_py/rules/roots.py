"""Roots that compiled code brackets: the derivative follows from the function at the root.

The bracketing decides by signs and so has no derivative of its own.  A chord step at the root,
``x - f(x) / s`` with a constant slope s, has the derivative of the implicit function theorem,
``-df / s``, up to the relative error e of the slope; each further step multiplies the error by e.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from mooncake_py.errors import MissingRuleError

__all__ = ["bracketed_root", "without_derivative"]

STEPS = 3
REACH = 1e-6
AGREEMENT = 1e-3


def without_derivative(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function that only decides by what its callbacks return; the engine unwraps it."""
    return function(*args, **kwargs)


def bracketed_root(
    finder: Callable[..., Any], f: Any, a: Any, b: Any, args: Any = (), *rest: Any, **options: Any
) -> Any:
    """Return the root that `finder` finds between `a` and `b`, with its derivative."""
    args = args if isinstance(args, tuple) else (args,)
    found = without_derivative(finder, f, a, b, args, *rest, **options)
    root = found[0] if isinstance(found, tuple) else found
    low, high = without_derivative(min, a, b), without_derivative(max, a, b)
    reach = REACH * max(abs(root), high - low)
    slope, nearer = [
        slope_between(f, max(root - width, low), min(root + width, high), args)
        for width in (reach, reach / 2)
    ]
    if not abs(slope - nearer) < AGREEMENT * abs(slope):
        raise MissingRuleError(
            "a root at which the function is flat or jumps has no derivative",
            why=f"near {root} its slope is {slope}, and {nearer} at half the distance",
            fix="hold the function constant, or divide a multiple root out",
        )
    x = root
    for _ in range(STEPS):
        x = x - value(f, x, args) / slope
    root = root + (float(x) - without_derivative(float, x))
    return (root, *found[1:]) if isinstance(found, tuple) else root


def slope_between(f: Any, left: float, right: float, args: Any) -> float:
    """Return the mean slope of a function, a number without a derivative."""
    rise = value(f, right, args) - value(f, left, args)
    return without_derivative(float, rise) / (right - left)


def value(f: Any, x: Any, args: Any) -> Any:
    """Return the number that a function returns, perhaps in an array."""
    y = f(x, *args)
    return y.item() if isinstance(y, ndarray) else y
