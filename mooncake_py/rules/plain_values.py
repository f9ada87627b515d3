"""Replacements in Python that give the derivative; the function itself gives the values.

A replacement computes the same as a compiled function in another order, and so differs in the last
digits, and in the layout of what it returns.  Here the function itself runs as well, on plain
numbers; its results, with their bits, types and strides, take the derivatives of the replacement's.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

from mooncake_py.errors import MissingRuleError
from mooncake_py.rules import registry
from mooncake_py.rules.creation import laid_out_copy
from mooncake_py.rules.declare import from_vjp, zero_derivative
from mooncake_py.rules.kinds import OverlayRule, function_name
from mooncake_py.tangents.memory import is_same_view

__all__ = [
    "agree",
    "derived_as",
    "derived_as_writer",
    "held",
    "plain_result",
    "plain_written",
    "same_values",
    "valued",
    "with_values",
]

F = TypeVar("F", bound=Callable[..., Any])
NUMERIC = ndarray, np.generic, int, float, complex
NOISE = 1e-14


def derived_as(*functions: Hashable) -> Callable[[F], F]:
    """Declare a replacement whose derivative counts; the functions change none of their arguments.

    They are given arrays and numbers, or tuples, lists and dicts of these: an object may hold
    active numbers, which compiled code cannot take.
    """
    origin = registry.calling_location(1)

    def declare(replacement: F) -> F:
        for function in functions:
            registry.add(OverlayRule((function,), origin, with_values(function, replacement)))
        return replacement

    return declare


def with_values(function: Any, replacement: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement that returns the values of the function itself."""

    @wraps(replacement)
    def run(*args: Any, **kwargs: Any) -> Any:
        plain = plain_result(function, args, kwargs)
        return same_values(replacement(*args, **kwargs), plain, function, (args, kwargs))

    return run


def derived_as_writer(function: Any, *positions: int) -> Callable[[F], F]:
    """Declare a replacement of a function that writes into arguments, arrays by position.

    Those of integers hold no derivative: they are as the function leaves them, which may round,
    cut off or wrap around.
    """
    origin = registry.calling_location(1)

    def declare(replacement: F) -> F:
        names = tuple(inspect.signature(replacement).parameters)

        @wraps(replacement)
        def run(*args: Any, **kwargs: Any) -> Any:
            args = (*args, *[kwargs[name] for name in names[len(args) :] if name in kwargs])
            pairs = [called_once(a) if callable(a) else (a, a) for a in args]
            scratch = [first for first, _ in pairs]
            for i in positions:
                scratch[i] = args[i].copy()
            result = replacement(*scratch)
            plain = plain_written(function, [again for _, again in pairs], positions)
            for i, written in zip(positions, plain, strict=True):
                inexact = written.dtype.kind not in "biu"
                args[i][...] = (
                    same_values(scratch[i], written, function, args) if inexact else written
                )
            return next((args[i] for i in positions if result is scratch[i]), result)

        registry.add(OverlayRule((function,), origin, run))
        return replacement

    return declare


def called_once(f: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a callback, and another one that returns its results again, in order."""
    results: deque[Any] = deque()

    def call(*args: Any, **kwargs: Any) -> Any:
        y = f(*args, **kwargs)
        results.append(held(y))
        return y

    return call, lambda *args, **kwargs: results.popleft()


def held(y: Any) -> Any:
    """Return the result of a callback, without a derivative."""
    return y


def plain_result(function: Any, args: Any, kwargs: Any) -> Any:
    """Return the result of a function for plain numbers."""
    return function(*args, **kwargs)


def plain_written(function: Any, args: Any, positions: tuple[int, ...]) -> list[ndarray]:
    """Return copies of arrays to which a function has written."""
    given = [a.copy("K") if i in positions else a for i, a in enumerate(args)]
    function(*given)
    return [given[i] for i in positions]


zero_derivative(
    held, plain_result, plain_written, because="held: the replacement has the derivative"
)


def same_values(derived: Any, plain: Any, function: Any = None, given: Any = ()) -> Any:
    """Return plain values with the derivatives of others that are the same up to rounding.

    Parts without a derivative stay as they are, such as None in place of what nobody needs.  So do
    numbers that agree to a few digits only: the problem is badly conditioned.  The least precise
    number that was `given` tells how many digits there are.

    Raises
    ------
    MissingRuleError
        If the values of a `function` are others than those of its replacement.
    """
    if isinstance(plain, (tuple, list)) and isinstance(derived, (tuple, list)):
        pairs = zip(derived, plain, strict=True)
        parts = [same_values(d, p, function, given) for d, p in pairs]
        kind: Any = type(plain)
        return kind(*parts) if hasattr(plain, "_fields") else kind(parts)
    if isinstance(derived, ndarray):
        plain = as_array(plain)
    if are_one_view(derived, plain):  # both return an argument
        return derived
    if agree(derived, plain, 0.5, given):
        return valued(derived, plain)
    if function is not None and not agree(derived, plain, 0.125, given):
        raise MissingRuleError(
            f"the derivative of {function_name(function)} is not implemented for these arguments",
            why="it is that of a replacement in Python, which here computes other values",
            fix="hold the arguments constant, or register a rule of your own",
        )
    return derived


def as_array(plain: Any) -> Any:
    """Return the array of a view of memory; numbers as they are."""
    return plain if isinstance(plain, NUMERIC) else np.asarray(plain)


def agree(derived: Any, plain: Any, share: float, given: Any) -> bool:
    """Return whether numbers or arrays are equal to a share of their digits, or have no derivative.

    Below `NOISE` they are what rounding has left.
    """
    if not (isinstance(derived, NUMERIC) and isinstance(plain, NUMERIC)):
        return share < 0.5
    a, b = np.asarray(derived), np.asarray(plain)
    if a.dtype.kind not in "fc" or b.dtype.kind not in "fc":
        return share < 0.5
    if a.shape != b.shape:
        return False
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
    off = ~((apart <= 0) | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not off.any():
        return True
    coarse = max(np.finfo(a.dtype).eps, np.finfo(b.dtype).eps, *map(rounding, flat(given)))
    size = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
    return bool(np.all(apart[off] <= coarse**share * size + NOISE))


def flat(given: Any) -> Iterator[Any]:
    """Yield the contents of tuples, lists and dicts at any depth."""
    if isinstance(given, (tuple, list)):
        for part in given:
            yield from flat(part)
    elif isinstance(given, dict):
        yield from flat(list(given.values()))
    else:
        yield given


def rounding(value: Any) -> float:
    """Return the relative error with which a number or an array is stored; 0 for other values."""
    is_inexact = isinstance(value, (ndarray, np.generic)) and value.dtype.kind in "fc"
    dtype: Any = value.dtype if is_inexact else None
    return 0.0 if dtype is None else float(np.finfo(dtype).eps)


def are_one_view(derived: Any, plain: Any) -> bool:
    """Return whether two arrays are the same view of the same memory."""
    are_arrays = isinstance(derived, ndarray) and isinstance(plain, ndarray)
    return are_arrays and is_same_view(derived, plain)


def valued(derived: Any, plain: Any) -> Any:
    """Return a plain value that has the derivative of another; of an array a copy."""
    return laid_out_copy(plain) if isinstance(plain, ndarray) else plain


@from_vjp(valued, jvp=lambda tangents, y, derived, plain: tangents[0])
def valued_rule(derived: Any, plain: Any) -> tuple[Any, Any]:
    return valued(derived, plain), lambda dy: (dy, None)


zero_derivative(
    agree, are_one_view, as_array, function_name, because="tells whether to take plain values"
)
