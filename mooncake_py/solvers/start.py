"""The state from before a solver, from which what is differentiated runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.rules.declare import contextual, zero_derivative
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.noted import in_order
from mooncake_py.solvers.sources import Position, at

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Solved", "Start", "anew", "named_as", "own"]

Start = list[Any]
"""Pairs of a place that a solver has changed, and what it held before; then pairs of None and a
callback, with the point at which the solver has called it first, and another.
"""


class Solved:
    """A call of a solver within a derivative, for what gives its result a derivative.

    Attributes
    ----------
    ctx : Mode
    begin : list or None
        None if nothing that the solver reaches is active, so that there is no derivative.
    left : list
        What the solver has changed, and what it has left there.
    before, after : Position or None
        Where generators of random numbers and iterators were that it has moved on.
    """

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx
        self.begin: Start | None = None
        self.left: Start = []
        self.before: Position | None = None
        self.after: Position | None = None

    def anew(self, f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
        """Return a function of points like `x`, as the solver has called it.

        It runs from the state from before the solver each time, and has the point for itself.
        """
        return anew(f, self.begin or [], self.before, isinstance(x, ndarray))

    def knows(self, a: ndarray) -> bool:
        """Return whether an array that the solver has returned is one that the program has."""
        raise NotImplementedError

    @property
    def stores(self) -> bool:
        """Whether callbacks store what may have a derivative."""
        return False

    @property
    def is_native(self) -> bool:
        """Whether the solver and :meth:`evaluated` run natively."""
        return True

    def evaluated(self, f: Callable[..., Any], /, *args: Any) -> Any:
        """Return ``f(*args)`` without a derivative; `f` changes nothing by itself."""
        raise NotImplementedError


def anew(
    f: Callable[[Any], Any], start: Start, position: Position | None, of_array: bool
) -> Callable[[Any], Any]:
    """Return a function that runs from the state from before a solver each time."""
    if not (start or position):
        return named_as(f, lambda x: f(x.copy())) if of_array else f

    def run_anew(x: Any) -> Any:
        block = begin_again(start, position)
        try:
            for place, call in start:
                if place is None:
                    called, first, other = call
                    if not (first and is_there(first[0], x)):
                        called(*map(own, first))
                    elif other:
                        called(*map(own, other))
            return f(own(x))
        finally:
            end(block)

    return named_as(f, run_anew)


def named_as(f: Callable[..., Any], standing: Any) -> Callable[..., Any]:
    """Return a function that stands for one of the user's, with its name for messages."""
    standing.__qualname__ = name_of(f)
    return standing


def is_there(a: Any, b: Any) -> bool:
    """Return whether two points are the same: a callback may take it from its memory."""
    a, b = unwrapped(a), unwrapped(b)
    return isinstance(a, (float, ndarray)) and np.array_equal(np.ravel(a), np.ravel(b))


zero_derivative(is_there, because="decides")


def own(x: Any) -> Any:
    """Return a copy of an array, into which a callback may write, or else the same."""
    return x.copy() if isinstance(x, ndarray) else x


def begin_again(start: Start, position: Position | None) -> Any:
    """Go back to the state from before a solver; return what :func:`end` is to be given."""
    for place, old in in_order(start):
        if place is not None:
            place.write(old)
    return entered(at(position))


@contextual(begin_again)
def begin_again_inside(ctx: Mode, start: Start, position: Position | None) -> Any:
    """Go back as a change inside a derivative, which is undone."""
    for place, old in in_order(start):
        if place is not None:
            place.put(ctx, old)
    return entered(at(position))


def entered(block: AbstractContextManager[None]) -> AbstractContextManager[None]:
    """Return a block that has begun."""
    block.__enter__()
    return block


def end(block: Any) -> None:
    """Leave the position."""
    block.__exit__(None, None, None)


zero_derivative(end, because="moves generators and iterators only")
