"""Solvers of a library with callbacks that are derived, which return plain numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.remembered import remembered
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.same_number import at_point
from mooncake_py.solvers.lent import Lent
from mooncake_py.solvers.start import own
from mooncake_py.solvers.unsettled import Iterates
from mooncake_py.tangents.memory import is_writeable
from mooncake_py.utilities.copies import plain_copy

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Called", "Calls", "run_calling_back", "run_noting"]

Keep = Callable[[Any, Any], tuple[Any, Any]]
"""Returns the solver's argument and that of its callback, both kept for later."""
FURTHER = ("args", "kwargs")
"""Parameters of solvers with further arguments for their callbacks."""


@remembered
def names_of(solve: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of a solver that are given by position."""
    found = signature(solve).parameters.values()
    return tuple(p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


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
    other_value : object
        What it has returned there.
    """

    def __init__(self, f: Callable[..., Any], args: Any, given: Any, keep: Keep) -> None:
        self.f = f
        self.first, self.marked = kept(args, given, keep)
        self.other: tuple[Any, ...] = ()
        self.other_marked: tuple[Any, ...] = ()
        self.other_value: Any = None
        self.distance = 0.0

    def note(self, args: Any, given: Any, keep: Keep) -> bool:
        """Take note of a later call; return whether it is the other one by now."""
        distance = distance_between(self.first, args)
        is_farther = distance > self.distance
        if is_farther:
            self.distance = distance
            self.other, self.other_marked = kept(args, given, keep)
        return is_farther


class Calls:
    """The calls of the callbacks of a solver.

    Attributes
    ----------
    made : dict of int to Called
        In the order of the first calls, by the ids of the callbacks.
    is_active : bool
        Whether any callback has returned what is active.
    points : list
        What callbacks were given, in a run on plain numbers.
    """

    def __init__(self) -> None:
        self.made: dict[int, Called] = {}
        self.points: list[Any] = []
        self.functions: list[Callable[..., Any]] = []  # they keep their ids
        self.is_active = False

    def note(
        self, f: Callable[..., Any], args: Any, given: Any, keep: Keep, named: dict[str, Any]
    ) -> Called | None:
        """Take note of a call, of which `named` are the further arguments by name.

        Return those of the callback whose other call it is.
        """
        if id(f) in self.made:
            call = self.made[id(f)]
            return call if call.note(args, given, keep) else None
        self.functions.append(f)
        called = functools.partial(f, **named) if named else f
        self.made[id(f)] = Called(called, args, given, keep)
        return None


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
        def call(*args: Any, **kwargs: Any) -> Any:
            given = tuple(map(passed, args))
            named = {name: passed(v) for name, v in kwargs.items()}
            noted = calls.note(f, args, given, keep, named)
            points = [a for a in args if isinstance(a, (float, ndarray))] if iterates else []
            with at_point(points):
                y = ctx.call(f, *given, **named)
            calls.is_active = calls.is_active or ctx.contains_active(y)
            for a, b in zip(args, given, strict=True):
                write_back(a, b)
            if noted is not None:
                noted.other_value = plain_copy(y)
            return unwrapped(y)

        return call

    def plain(value: Any) -> Any:
        if isinstance(value, ndarray):
            of_program[id(value)] = value
        return unwrapped(value)

    return solve_with(derived, plain, held, solve, args, kwargs)


def run_noting(calls: Calls, solve: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run a solver natively, and take note of where it calls back."""

    def keep(value: Any, given: Any) -> tuple[Any, Any]:
        value = own(value)
        return value, value

    def noted(f: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            calls.points.extend(args)
            calls.note(f, args, args, keep, kwargs)
            return f(*args, **kwargs)

        return call

    return solve_with(noted, as_it_is, as_it_is, solve, args, kwargs)


def as_it_is(value: Any) -> Any:
    """Return a value."""
    return value


def solve_with(
    callback: Callable[..., Any],
    other: Callable[[Any], Any],
    further: Callable[[Any], Any],
    solve: Callable[..., Any],
    args: Any,
    kwargs: Any,
) -> Any:
    """Run a solver with functions that stand for its callbacks, and for its other arguments.

    `further` arguments for callbacks may be functions too.
    """

    def argument(value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(map(argument, value))
        if type(value) is dict:
            return {key: by_name(key, part) for key, part in value.items()}
        if not callable(value) or isinstance(value, type):
            return other(value)
        call = functools.wraps(value, updated=())(callback(value))
        vars(call).update(getattr(value, "__dict__", {}) if hasattr(value, "__code__") else {})
        return call

    def by_name(name: str, value: Any) -> Any:
        return further(value) if name in FURTHER else argument(value)

    names = names_of(solve)
    given = [by_name(name, value) for name, value in zip(names, args, strict=False)]
    given += map(argument, args[len(names) :])
    return solve(*given, **{name: by_name(name, value) for name, value in kwargs.items()})


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
