"""Numbers of a solver whose derivative is not known: active, with an error where it is used.

These are the points at which a solver calls back, of which a callback may store something that is
read later, and what the solver has approximated, such as a Hessian.  A program that only shows
them, or starts another solver there, needs no derivative; one that computes with them raises an
error.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.places import place_at, positions_running
from mooncake_py.errors import Location, SolverError
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.rules.declare import from_vjp
from mooncake_py.runtime.active import Active, active_number

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Iterates", "unsettled", "with_new"]

_alive: WeakValueDictionary[int, Iterates] = WeakValueDictionary()
"""By the numbers that stand for them among the operands of a rule."""


class Iterates:
    """Where a solver calls back, for the message about what was stored there.

    Parameters
    ----------
    ctx : Mode
    solver : str
        Its name.
    """

    def __init__(self, ctx: Mode, solver: str) -> None:
        self.ctx = ctx
        self.solver = solver
        self.position = positions_running()[0]
        self.stored: list[str] = []  # what its callbacks have changed
        self.seed = seed_of(ctx)
        self.numbers: dict[tuple[type, str], Any] = {}  # one for all that are equal, as dict keys
        _alive[id(self)] = self
        for mode in (ctx, *ctx.outers):
            if isinstance(mode, ForwardContext):
                mode.unsettled = self.error

    def mark(self, value: Any) -> Any:
        """Return a copy of what a callback is given, as something without a known derivative."""
        if isinstance(value, dict):
            marked = copy.copy(value)
            for key, part in value.items():
                dict.__setitem__(marked, key, self.mark(part))
            return marked
        if type(value) in (list, tuple):
            return type(value)(map(self.mark, value))
        if type(value) is ndarray and value.dtype.kind in "fc":
            value = value.copy("K")  # it may be memory that the solver goes on to write into
            return self.ctx.call(unsettled, value, self.seed, id(self))
        if not isinstance(value, (float, complex, np.inexact)):
            return value
        key = type(value), repr(value)
        if key not in self.numbers:
            self.numbers[key] = self.marked_number(value)
        return self.numbers[key]

    def marked_number(self, value: Any) -> Any:
        """Return a number as something without a known derivative."""
        ctx = self.ctx
        if type(ctx) is ReverseContext and type(value) is float and type(self.seed) is Active:
            return ctx.record_slope(value, cast("Any", Refusing(self)), 1.0)
        return ctx.call(unsettled, value, self.seed, id(self))

    @property
    def where(self) -> Location | None:
        """Where the program calls the solver."""
        return place_at(self.position)

    def error(self) -> SolverError:
        """Return the error for a derivative that would pass through the iterations."""
        stored = ", ".join(self.stored[:4]) or "what it was given"
        return SolverError(
            f"a value that a callback of {self.solver} stored has no derivative",
            where=self.where,
            why=f"the callback changed {stored};\nthe value depends on the points at which the "
            "solver evaluates it, which are not differentiated",
            fix="compute the value again from the result of the solver, or hold it constant by "
            "stop_gradient",
        )


def with_new(before: Any, after: Any, new: Callable[[Any], Any]) -> Any:
    """Return contents of a place with ``new(part)`` for each part that was not there before."""
    if type(after) is dict is type(before):
        return {k: v if before.get(k, after) is v else new(v) for k, v in after.items()}
    if type(after) is list is type(before):
        old = set(map(id, before))
        return [v if id(v) in old else new(v) for v in after]
    return new(after)


class Refusing:
    """Takes the place of a number's node, and refuses cotangents."""

    def __init__(self, iterates: Iterates) -> None:
        self.iterates = iterates

    @property
    def grad(self) -> float:
        return 0.0

    @grad.setter
    def grad(self, _: Any) -> None:
        raise self.iterates.error()


def seed_of(ctx: Mode) -> Any:
    """Return an active one, in each of the modes that differentiate here."""
    if isinstance(ctx, ForwardContext):
        ctx.keep_first()
        return ctx.fresh(1.0 if ctx.is_last else seed_of(ctx.base), 1.0)
    if isinstance(ctx, ReverseContext) and ctx.is_reversed:
        return active_number(1.0, ctx)
    return 1.0


def unsettled(x: Any, seed: Any, key: int) -> Any:
    """Return a copy of a point, with derivatives that raise an error where they are used."""
    return copy.copy(x)


def push_unsettled(tangents: Any, y: Any, x: Any, seed: Any, key: int) -> Any:
    return y * math.nan


@from_vjp(unsettled, jvp=push_unsettled)
def unsettled_rule(x: Any, seed: Any, key: int) -> Any:
    """Raise if the result has a cotangent."""
    iterates = _alive[key]

    def pull(dy: Any) -> Any:
        if np.any(dy):
            raise iterates.error()
        return None, 0.0, None

    return copy.copy(x), pull
