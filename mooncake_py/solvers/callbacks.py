"""Solvers of a library with callbacks that are derived, which return plain numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.remembered import remembered
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.same_number import at_point
from mooncake_py.solvers.lent import Lent
from mooncake_py.solvers.unsettled import Iterates
from mooncake_py.tangents.memory import is_writeable

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Called", "Calls", "run_calling_back"]

VAR_POSITIONAL, VAR_KEYWORD = Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD
Keep = Callable[[Any, Any], tuple[Any, Any]]
"""Returns what a solver has passed, and what its callback was given for it, both for later."""
FURTHER = ("args", "kwargs")
"""Parameters of solvers with further arguments for their callbacks."""


@remembered
def signature_of(solve: Callable[..., Any]) -> Signature:
    """Return the signature of a solver of a library."""
    return signature(solve)


class Held:
    """A further argument on its way through a solver to a callback, which gets it as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Called:
    """The calls of one callback.

    Attributes
    ----------
    f : callable
    first, other : tuple
        What it was given first, and where it was called farthest from there.
    marked, other_marked : tuple
        The same, as it was passed to the callback.
    """

    def __init__(self, f: Callable[..., Any], args: Any, given: Any, keep: Keep) -> None:
        self.f = f
        self.first, self.marked = kept(args, given, keep)
        self.other: tuple[Any, ...] = ()
        self.other_marked: tuple[Any, ...] = ()
        self.distance = 0.0

    def note(self, args: Any, given: Any, keep: Keep) -> None:
        """Take note of a later call."""
        distance = distance_between(self.first, args)
        if distance > self.distance:
            self.distance = distance
            self.other, self.other_marked = kept(args, given, keep)


class Calls:
    """The calls of the callbacks of a solver.

    Attributes
    ----------
    made : dict of int to Called
        In the order of the first calls, by the ids of the callbacks.
    is_active : bool
        Whether any callback has returned what is active.
    """

    def __init__(self) -> None:
        self.made: dict[int, Called] = {}
        self.functions: list[Callable[..., Any]] = []  # they keep their ids
        self.is_active = False

    def note(
        self, f: Callable[..., Any], args: Any, given: Any, keep: Keep, named: dict[str, Any]
    ) -> None:
        """Take note of a call, of which `named` are the further arguments by name."""
        if id(f) in self.made:
            self.made[id(f)].note(args, given, keep)
        else:
            self.functions.append(f)
            called = functools.partial(f, **named) if named else f
            self.made[id(f)] = Called(called, args, given, keep)


def kept(args: Any, given: Any, keep: Keep) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return arguments, apart from memory that the solver goes on to use, and what is given."""
    pairs = list(map(keep, args, given))
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def distance_between(a: Any, b: Any) -> float:
    """Return how far two points are from one another, among other arguments."""
    found = 0.0
    for x, y in zip(a, b, strict=False):
        if type(y) is float and type(x) is float:
            distance = abs(x - y)
        elif isinstance(y, (float, ndarray)):
            distance = float(np.max(np.abs(x - y), initial=0.0))
        else:
            continue
        if not distance <= found:
            found = distance
    return found


def run_calling_back(
    ctx: Mode,
    iterates: Iterates | None,
    calls: Calls,
    solve: Callable[..., Any],
    args: Any,
    kwargs: Any,
) -> Any:
    """Run a solver with derived callbacks; `iterates` marks the points that they are given.

    An array of the program's they get as it is.
    """
    lent = None if iterates is None else Lent(ctx, iterates)
    of_program: dict[int, ndarray] = {}

    def passed(value: Any) -> Any:
        if type(value) is Held:
            return value.value
        if lent is None or iterates is None or id(value) in of_program:
            return value
        if type(value) is ndarray and value.dtype.kind in "fc":
            return lent.copy_of(value)
        return iterates.mark(value)

    def keep(value: Any, given: Any) -> tuple[Any, Any]:
        if type(value) is Held:
            return given, given
        if type(value) is not ndarray or id(value) in of_program:
            return value, given
        value = value.copy()
        return value, value if iterates is None else iterates.mark(value)

    def derived(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f, updated=())
        def call(*args: Any, **kwargs: Any) -> Any:
            given = tuple(map(passed, args))
            named = {name: passed(v) for name, v in kwargs.items()}
            calls.note(f, args, given, keep, named)
            points = [a for a in args if isinstance(a, (float, ndarray))] if iterates else []
            with at_point(points):
                y = ctx.call(f, *given, **named)
            calls.is_active = calls.is_active or ctx.contains_active(y)
            for a, b in zip(args, given, strict=True):
                write_back(a, b)
            return unwrapped(y)

        vars(call).update(getattr(f, "__dict__", {}) if hasattr(f, "__code__") else {})
        return call

    def argument(value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(map(argument, value))
        if type(value) is dict:
            return {key: by_name(key, part) for key, part in value.items()}
        if callable(value) and not isinstance(value, type):
            return derived(value)
        if isinstance(value, ndarray):
            of_program[id(value)] = value
        return unwrapped(value)

    def by_name(name: str, value: Any) -> Any:
        return held(value) if name in FURTHER else argument(value)

    given = signature_of(solve).bind(*args, **kwargs)
    for name, value in given.arguments.items():
        is_variadic = given.signature.parameters[name].kind in (VAR_POSITIONAL, VAR_KEYWORD)
        given.arguments[name] = argument(value) if is_variadic else by_name(name, value)
    return solve(*given.args, **given.kwargs)


def held(value: Any) -> Any:
    """Return further arguments, each held."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {name: Held(part) for name, part in value.items()}
    return tuple(map(Held, value)) if isinstance(value, tuple) else (Held(value),)


def write_back(a: Any, b: Any) -> None:
    """Let the solver see what a callback has written into the point that it was given."""
    is_copy = type(a) is ndarray and type(b) is ndarray and a is not b and a.dtype.kind in "fc"
    if is_copy and is_writeable(a) and not np.array_equal(a, b, equal_nan=True):
        a[...] = b
