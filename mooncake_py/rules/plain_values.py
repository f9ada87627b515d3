"""Replacements in Python that give the derivative; the function itself gives the values.

A replacement computes the same as a compiled function in another order, and so differs in the last
digits, and in the layout of what it returns.  Here the function itself runs as well, on plain
numbers; its results, with their bits, types and strides, take the derivatives of the replacement's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import from_vjp, overlay, zero_derivative

__all__ = [
    "derived_as",
    "derived_as_writer",
    "plain_result",
    "same_values",
    "valued",
    "with_values",
]

F = TypeVar("F", bound=Callable[..., Any])
NUMERIC = ndarray, np.generic, int, float, complex


def derived_as(*functions: Hashable) -> Callable[[F], F]:
    """Declare a replacement whose derivative counts; the functions change none of their arguments.

    They are given arrays and numbers, or tuples, lists and dicts of these: an object may hold
    active numbers, which compiled code cannot take.
    """

    def declare(replacement: F) -> F:
        for function in functions:
            overlay(function)(with_values(function, replacement))
        return replacement

    return declare


def with_values(function: Any, replacement: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement that returns the values of the function itself."""

    @wraps(replacement)
    def run(*args: Any, **kwargs: Any) -> Any:
        plain = plain_result(function, args, kwargs)
        return same_values(replacement(*args, **kwargs), plain)

    return run


def derived_as_writer(function: Any, *positions: int) -> Callable[[F], F]:
    """Declare a replacement of a function that writes into arguments, arrays by position."""

    def declare(replacement: F) -> F:
        names = tuple(inspect.signature(replacement).parameters)

        @wraps(replacement)
        def run(*args: Any, **kwargs: Any) -> Any:
            args = (*args, *[kwargs[name] for name in names[len(args) :] if name in kwargs])
            plain = plain_written(function, args, positions)
            scratch = list(args)
            for i in positions:
                scratch[i] = args[i].copy()
            result = replacement(*scratch)
            for i, written in zip(positions, plain, strict=True):
                args[i][...] = same_values(scratch[i], written)
            return next((args[i] for i in positions if result is scratch[i]), result)

        overlay(function)(run)
        return replacement

    return declare


def plain_result(function: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function returns for plain numbers."""
    return function(*args, **kwargs)


def plain_written(function: Any, args: Any, positions: tuple[int, ...]) -> list[ndarray]:
    """Return what a function makes of arrays, in copies of them."""
    given = [a.copy("K") if i in positions else a for i, a in enumerate(args)]
    function(*given)
    return [given[i] for i in positions]


zero_derivative(plain_result, plain_written, because="held: the replacement has the derivative")


def same_values(derived: Any, plain: Any) -> Any:
    """Return plain values with the derivatives of others that are the same up to rounding.

    Parts that do not agree stay as they are derived: None in place of what has no derivative, and
    numbers that are another solution of the same problem.
    """
    if isinstance(plain, (tuple, list)) and isinstance(derived, (tuple, list)):
        parts = [same_values(d, p) for d, p in zip(derived, plain, strict=True)]
        kind: Any = type(plain)
        return kind(*parts) if hasattr(plain, "_fields") else kind(parts)
    if isinstance(derived, ndarray):
        plain = as_array(plain)
    return valued(derived, plain) if agree(derived, plain) else derived


def as_array(plain: Any) -> Any:
    """Return the array of a view of memory; numbers as they are."""
    return plain if isinstance(plain, NUMERIC) else np.asarray(plain)


def agree(derived: Any, plain: Any) -> bool:
    """Return whether numbers or arrays of one shape are equal to half of their digits."""
    if not (isinstance(derived, NUMERIC) and isinstance(plain, NUMERIC)):
        return False
    a, b = np.asarray(derived), np.asarray(plain)
    if a.shape != b.shape or a.dtype.kind not in "fc" or b.dtype.kind not in "fc":
        return False
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
    off = ~((apart <= 0) | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not off.any():
        return True
    coarse = max(np.finfo(a.dtype).eps, np.finfo(b.dtype).eps)
    size = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
    return bool(np.all(apart[off] <= coarse**0.5 * size))


zero_derivative(agree, as_array, because="whether to take plain values")


def valued(derived: Any, plain: Any) -> Any:
    """Return a plain value that has the derivative of another."""
    return plain


@from_vjp(valued, jvp=lambda tangents, y, derived, plain: tangents[0])
def valued_rule(derived: Any, plain: Any) -> tuple[Any, Any]:
    return plain, lambda dy: (dy, None)
