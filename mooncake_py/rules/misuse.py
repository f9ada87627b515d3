"""Checks of declarations of rules: an invalid rule is reported where it is declared."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from mooncake_py.errors import InvalidRuleError, Location
from mooncake_py.rules.holomorphic import Wirtinger
from mooncake_py.rules.kinds import (
    PACKAGE,
    NotImplementedDerivative,
    function_name,
)
from mooncake_py.words import with_article

__all__ = [
    "require_adjoint", "require_callable", "require_functions", "require_partials",
    "require_positions",
]  # fmt: skip

DECLARED = (NotImplementedDerivative, Wirtinger, float, complex, int, np.number, type(None))


def require_functions(functions: Iterable[Hashable], origin: Location) -> None:
    """Raise if a rule is for no function, or for what is none."""
    if not functions:
        raise InvalidRuleError(
            "a rule is declared for no function",
            where=origin,
            fix="pass the function that it is for: @from_vjp(f)",
        )
    for function in functions:
        # Descriptors, such as ndarray.real, are read, not called.
        if not callable(function) and not hasattr(type(function), "__get__"):
            raise InvalidRuleError(
                f"a rule is declared for {with_article(type(function).__name__)}, {function!r:.60}",
                where=origin,
                why="a rule belongs to a function",
                fix="pass the function itself",
            )


def require_callable(
    kind: str, given: Any, functions: tuple[Hashable, ...], origin: Location
) -> None:
    """Raise if an object declared as the rule of functions, or as a part of it, is not callable."""
    if callable(given):
        return
    names = " and ".join(map(function_name, functions))
    raise InvalidRuleError(
        f"{kind} of {names} is {with_article(type(given).__name__)}, not a function",
        where=origin,
        fix="pass a function; a decorator of rules takes the function that the rule is for:\n"
        "@from_vjp(f) above the rule",
    )


def require_adjoint(
    kind: str, given: Any, functions: tuple[Hashable, ...], origin: Location
) -> None:
    """Raise if an adjoint is neither a function nor marked as not implemented."""
    if not isinstance(given, NotImplementedDerivative):
        require_callable(kind, given, functions, origin)


def require_positions(name: str, positions: Any, origin: Location) -> None:
    """Raise if positions of arguments are not ints, or negative."""
    if isinstance(positions, tuple) and all(type(i) is int and i >= 0 for i in positions):
        return
    shown = positions[0] if isinstance(positions, tuple) and len(positions) == 1 else positions
    raise InvalidRuleError(
        f"{name}={shown!r} names no arguments of a function",
        where=origin,
        fix=f"pass positions, from 0 on: {name}=0 or {name}=(0, 1)",
    )


def require_partials(function: Any, partials: tuple[Any, ...], origin: Location) -> None:
    """Raise if these are not the partial derivatives of an elementwise function."""
    if origin.file.startswith(PACKAGE):
        return  # the tests check these
    if not partials:
        raise wrong_partials(function, "has no partial derivatives", origin)
    columns = [p for p in partials if isinstance(p, tuple)]
    if len({len(column) for column in columns}) > 1:
        raise wrong_partials(function, "has not as many outputs for each input", origin)
    for i, partial in enumerate(partials):
        if columns and not isinstance(partial, (tuple, type(None), NotImplementedDerivative)):
            raise wrong_partials(function, f"has no tuple of outputs for input {i}", origin)
        for p in partial if isinstance(partial, tuple) else (partial,):
            require_partial(function, i, p, len(partials), origin)


def require_partial(function: Any, i: int, partial: Any, count: int, origin: Location) -> None:
    """Raise if the partial derivative for one input is none, or does not take the inputs."""
    if isinstance(partial, DECLARED) and not isinstance(partial, bool):
        return
    if not callable(partial):
        kind = with_article(type(partial).__name__)
        raise wrong_partials(function, f"has {kind} as partial derivative {i}", origin)
    if not takes(partial, count + 1):
        what = f"has a partial derivative {i} that does not take {count + 1} arguments"
        raise wrong_partials(function, what, origin)


def takes(f: Callable[..., Any], count: int) -> bool:
    """Return whether a function takes this number of arguments, as far as that is known."""
    try:
        inspect.signature(f).bind(*[None] * count)
    except ValueError:  # compiled
        return True
    except TypeError:
        return False
    return True


def wrong_partials(function: Any, what: str, origin: Location) -> InvalidRuleError:
    """Return the error for what does not declare an elementwise function."""
    return InvalidRuleError(
        f"the rule of {function_name(function)} by elementwise {what}",
        where=origin,
        why="for each input there is one partial derivative: a function of all inputs and of the "
        "output,\na number, None, or a tuple of these with one for each output",
        fix="for one input: elementwise(f, lambda x, y: ...), for two: "
        "elementwise(f, lambda a, b, y: ..., lambda a, b, y: ...)",
    )
