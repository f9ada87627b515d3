"""The state from before a solver, from which what is differentiated runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.declare import contextual, zero_derivative
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.iterators import with_iterators
from mooncake_py.solvers.noted import in_order

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Solved", "Start", "anew"]

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
    """

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx
        self.begin: Start | None = None
        self.left: Start = []

    def anew(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs from the state from before the solver each time."""
        return anew(f, self.begin or [])

    @property
    def is_native(self) -> bool:
        """Whether the solver and :meth:`evaluated` run natively."""
        return True

    def evaluated(self, f: Callable[..., Any], /, *args: Any) -> Any:
        """Return ``f(*args)`` without a derivative; `f` changes nothing by itself."""
        raise NotImplementedError


def anew(f: Callable[..., Any], start: Start) -> Callable[..., Any]:
    """Return a function that runs from the state from before a solver each time."""
    if not start:
        return f

    def run_anew(*args: Any, **kwargs: Any) -> Any:
        begin_again(start)
        for place, call in start:
            if place is None:
                called, first, other = call
                if not (first and is_there(first, args)):
                    called(*first)
                elif other:
                    called(*other)
        return f(*args, **kwargs)

    return run_anew


def is_there(point: Any, args: Any) -> bool:
    """Return whether two calls are at one point, which a callback may take from its memory."""
    a, b = unwrapped(point[0]), unwrapped(args[0])
    return isinstance(a, (float, ndarray)) and np.array_equal(np.ravel(a), np.ravel(b))


zero_derivative(is_there, because="decides")


def begin_again(start: Start) -> None:
    """Go back to the state from before a solver."""
    for place, old in in_order(start):
        if place is not None:
            place.write(with_iterators(place, old))


@contextual(begin_again)
def begin_again_inside(ctx: Mode, start: Start) -> None:
    """Go back as a change inside a derivative, which is undone."""
    for place, old in in_order(start):
        if place is not None:
            place.put(ctx, with_iterators(place, old))
