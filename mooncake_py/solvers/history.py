"""Callbacks whose values depend on where the solver has called them before.

A residual may be scaled by its first value, or measure the way from the first point.  The equation
that the solver has solved is then the one that its callback has left.  What is differentiated
starts from before the solver, and calls each callback once where the solver did first: what an
earlier plain call has left may have the same value, but it has no derivative.  If the callback then
returns other values than from the state that the solver has left, it is not called there; if that
makes no difference either, there is no equation to differentiate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import SolverError
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.callbacks import Called

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["agree", "depends_on_history", "first_calls", "takes_more_items"]

AGREEMENT = 1e-6


def agree(a: Any, b: Any) -> bool:
    """Return whether two values of a callback are the same up to rounding; if they are numbers."""
    try:
        a, b = np.asarray(unwrapped(a)), np.asarray(unwrapped(b))
    except ValueError:  # of parts of different shapes
        return True
    if a.shape != b.shape or a.dtype.kind not in "fc" or b.dtype.kind not in "fc":
        return True
    scale = np.max(np.abs(a), initial=0.0) + np.max(np.abs(b), initial=0.0)
    return not np.any(np.abs(a - b) > AGREEMENT * scale)


def first_calls(
    ctx: Mode, made: Iterable[Called], args: Any, kwargs: Any, elsewhere: bool
) -> list[list[Any]]:
    """Return the callbacks, and what the solver has given to each first, with its derivatives.

    At the end stands what to give it if this is the solution itself: `elsewhere` says that it is to
    be another point then, of which the callback may keep the value without harm.
    """
    given = list(points_among((*args, *kwargs.values())))
    calls = []
    for call in made:
        pairs = zip(call.first, call.marked, strict=True)
        first = [with_derivative(ctx, value, marked, given) for value, marked in pairs]
        calls.append([call.f, first, call.other_marked if elsewhere else first])
    return calls


def with_derivative(ctx: Mode, value: Any, marked: Any, given: list[Any]) -> Any:
    """Return a point with the derivative of what the solver was given, from which it started.

    It is a constant if all of that is, and else without a known derivative unless it is found.
    """
    if value is marked or not isinstance(value, (float, ndarray)):
        return value
    active = [part for part in given if ctx.contains_active(part)]
    for part in active:
        plain = np.asarray(unwrapped(part))
        if plain.size == np.size(value) and np.array_equal(plain.ravel(), np.ravel(value)):
            return ctx.call(in_form, part, value)
    return marked if active else value


def in_form(part: Any, value: Any) -> Any:
    """Return a starting point in the form in which the solver passes it on."""
    if isinstance(value, ndarray):
        return np.reshape(np.array(part, dtype=float), value.shape)
    return part.item() if isinstance(part, ndarray) else part


def points_among(values: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the numbers, the arrays and the lists of numbers among arguments."""
    for value in values:
        if isinstance(value, (float, int, Active, ndarray)):
            yield value
        elif isinstance(value, (list, tuple)) and depth < 2:
            if all(isinstance(part, (float, int, Active)) for part in value):
                yield value
            yield from points_among(value, depth + 1)


def depends_on_history(ctx: Mode, solver: str) -> SolverError:
    """Return the error for a callback without an equation of its own."""
    return SolverError(
        f"what a callback of {solver} returns depends on where it was called before, so that the "
        "result has no derivative",
        where=ctx.user_location(),
        why="at one point it returns different values, from the state before the solver and from\n"
        "the state that the solver has left",
        fix="let it return a function of the point alone: its stored data may depend on its first "
        "call, but not on\nlater ones",
    )


def takes_more_items(ctx: Mode) -> SolverError:
    """Return the error for callbacks that take more items than the solver has asked them for."""
    return SolverError(
        "the derivative of a solver takes more items of an iterator, or of a file, than the solver "
        "has taken",
        where=ctx.user_location(),
        why="its callbacks take them in each call, and are called more often for the derivative",
        fix="take them in the first call alone, or before the solver",
    )
