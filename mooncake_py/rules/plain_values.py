"""Replacements in Python that give the derivative; the function itself gives the values.

A replacement computes the same as a compiled function in another order, and so differs in the last
digits, and in the layout of what it returns.  Here the function itself runs as well, on plain
numbers; its results, with their bits, types and strides, take the derivatives of the replacement's.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from functools import partial, wraps
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
ROUNDINGS = 1000.0
"""How many times their rounding, or what roundings of arguments change, values may differ."""


def derived_as(*functions: Hashable) -> Callable[[F], F]:
    """Declare a replacement whose derivative counts; the functions change none of their arguments.

    They are given arrays and numbers, or tuples, lists and dicts of these: an object may hold
    active numbers, which compiled code cannot take.
    """
    origin = registry.calling_location()

    def declare(replacement: F) -> F:
        for function in functions:
            registry.add(OverlayRule((function,), origin, with_values(function, replacement)))
        return replacement

    return declare


def with_values(function: Any, replacement: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement that returns the values of the function itself."""
    again = partial(called_with, function)

    @wraps(replacement)
    def run(*args: Any, **kwargs: Any) -> Any:
        plain = plain_result(function, args, kwargs)
        return same_values(replacement(*args, **kwargs), plain, function, (args, kwargs), again)

    return run


def called_with(function: Any, given: tuple[Any, Any]) -> Any:
    """Return the result of a function for positional arguments and others by name."""
    args, kwargs = given
    return function(*args, **kwargs)


def derived_as_writer(function: Any, *positions: int) -> Callable[[F], F]:
    """Declare a replacement of a function that writes into arguments, arrays by position.

    Those of integers hold no derivative: they are as the function leaves them, which may round,
    cut off or wrap around.
    """
    origin = registry.calling_location()

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


def same_values(
    derived: Any,
    plain: Any,
    function: Any = None,
    given: Any = (),
    again: Any = None,
    path: tuple[int, ...] = (),
) -> Any:
    """Return plain values with the derivatives of others that are the same up to rounding.

    Parts without a derivative stay as they are, such as None in place of what nobody needs.  The
    least precise number that was `given` tells how many digits there are.  With `again`, which
    computes the plain result of arguments, `path` leads to this part of it, values differ by no
    more than rounding does; otherwise numbers that agree to a few digits only stay as they are.

    Raises
    ------
    MissingRuleError
        If the values of a `function` are others than those of its replacement.
    """
    if isinstance(plain, (tuple, list)) and isinstance(derived, (tuple, list)):
        pairs = enumerate(zip(derived, plain, strict=True))
        parts = [same_values(d, p, function, given, again, (*path, i)) for i, (d, p) in pairs]
        kind: Any = type(plain)
        return kind(*parts) if hasattr(plain, "_fields") else kind(parts)
    if isinstance(derived, ndarray):
        plain = as_array(plain)
    if are_one_view(derived, plain):  # both return an argument
        return derived
    if again is not None and are_inexact(derived, plain):
        same = possible = differ_by_rounding(derived, plain, given, again, path)
    else:
        same = agree(derived, plain, 0.5, given)
        possible = same or function is None or agree(derived, plain, 0.125, given)
    if not possible:
        raise MissingRuleError(
            f"the derivative of {function_name(function)} is not implemented for these arguments",
            why="it is that of a replacement in Python, which here computes other values",
            fix="hold the arguments constant, or register a rule of your own",
        )
    return valued(derived, plain) if same else derived


def as_array(plain: Any) -> Any:
    """Return the array of a view of memory; numbers as they are."""
    return plain if isinstance(plain, NUMERIC) else np.asarray(plain)


def agree(derived: Any, plain: Any, share: float, given: Any) -> bool:
    """Return whether numbers or arrays are equal to a share of their digits, or have no derivative.

    Below `NOISE` they are what rounding has left.
    """
    if not are_inexact(derived, plain):
        return share < 0.5
    a, b = np.asarray(derived), np.asarray(plain)
    if a.shape != b.shape:
        return False
    return bool(np.all(distance(a, b) <= precision(a, b, given) ** share * size_of(b) + NOISE))


def differ_by_rounding(
    derived: Any, plain: Any, given: Any, again: Callable[[Any], Any], path: tuple[int, ...]
) -> bool:
    """Return whether numbers or arrays differ no more than results of arguments as close as that.

    Only those that differ by more than a few roundings of their own are computed again.
    """
    a, b = np.asarray(derived), np.asarray(plain)
    if a.shape != b.shape:
        return False
    apart = distance(a, b)
    if np.all(apart <= ROUNDINGS * precision(a, b, given) * size_of(b) + NOISE):
        return True
    rng, scale = np.random.default_rng(0), 0.0
    for _ in range(4):
        try:
            near = again(rounded(given, rng))
        except Exception:  # outside of the domain
            continue
        for i in path:
            near = near[i]
        if np.shape(near) == b.shape:
            scale = max(scale, np.max(distance(np.asarray(near), b), initial=0.0))
    return bool(np.all(apart <= ROUNDINGS * scale))


def rounded(value: Any, rng: np.random.Generator) -> Any:
    """Return arguments in which each inexact number is another by a rounding of the largest."""
    if isinstance(value, (tuple, list)):
        return type(value)([rounded(part, rng) for part in value])
    if isinstance(value, dict):
        return {name: rounded(part, rng) for name, part in value.items()}
    if not (isinstance(value, NUMERIC) and np.asarray(value).dtype.kind in "fc"):
        return value
    array = np.asarray(value)
    step = np.finfo(array.dtype).eps * size_of(array) * rng.choice([-1, 1], array.shape)
    step = step * (1 + 1j) if array.dtype.kind == "c" else step
    shifted = (array + step).astype(array.dtype)
    return shifted if isinstance(value, ndarray) else type(value)(shifted[()])


def are_inexact(derived: Any, plain: Any) -> bool:
    """Return whether both are numbers or arrays that may be rounded."""
    both = (derived, plain)
    return all(isinstance(v, NUMERIC) and np.asarray(v).dtype.kind in "fc" for v in both)


def distance(a: ndarray, b: ndarray) -> ndarray:
    """Return how far numbers are apart; nan and inf are no distance from themselves."""
    with np.errstate(all="ignore"):
        return np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))


def size_of(a: ndarray) -> float:
    """Return the largest finite number."""
    return float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a)))


def precision(a: ndarray, b: ndarray, given: Any) -> float:
    """Return the relative error of the least precise numbers."""
    return max(np.finfo(a.dtype).eps, np.finfo(b.dtype).eps, *map(rounding, flat(given)))


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
    agree,
    are_inexact,
    are_one_view,
    as_array,
    differ_by_rounding,
    function_name,
    because="tells whether to take plain values",
)
