"""The state that a solver's callbacks leave, with the derivatives at the solver's result.

A callback may store what it has computed from the point at which the solver evaluates it.  The
solver's last point is close to its solution, so that what was stored there has, up to the precision
of the solution, the derivative that the same place has after the evaluation at the solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers.holders import Attributes, Contents, Elements, Place
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.tangents.memory import owner
from mooncake_py.utilities.copies import plain_copy
from mooncake_py.utilities.stopping import stop_gradient

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Left"]

AGREEMENT = 1e-5
"""How much both may differ, relative to the larger of their size and 1."""


class Left:
    """The state that a solver leaves, with the derivatives of the evaluation at its solution.

    What was there before the solver, arrays and containers, is a place of its own and stays the
    same object.  Contents of another size, and numbers that are not close to one another, stay as
    they are.

    Parameters
    ----------
    ctx : Mode
    known : dict of int to object
        What could be reached before the solver ran, or is such a place, by id.
    """

    def __init__(self, ctx: Mode, known: dict[int, Any]) -> None:
        self.ctx = ctx
        self.known = known
        self.made: dict[int, tuple[Any, Any]] = {}  # by the id of what was left, which is kept

    def contents(self, place: Place, left: Any, computed: Any) -> Any:
        """Return the contents of a place."""
        if isinstance(place, Elements):
            return with_slope(self.ctx, left, computed)
        is_container = isinstance(place, (Contents, Attributes))
        return self.parts(left, computed) if is_container else self.part(left, computed)

    def part(self, left: Any, computed: Any) -> Any:
        """Return something that a place holds."""
        if is_number(left) and type(unwrapped(left)) is not ndarray:
            return with_slope(self.ctx, left, computed) if is_number(computed) else left
        if id(left) in self.known or type(left) not in (ndarray, tuple, list, dict):
            return left
        if id(left) not in self.made:
            self.made[id(left)] = left, self.made_in_callback(left, computed)
        return self.made[id(left)][1]

    def made_in_callback(self, left: Any, computed: Any) -> Any:
        """Return an array or a container that a callback has made."""
        if type(left) is ndarray:
            is_old = id(owner(left)) in self.known or not is_number(computed)
            return left if is_old else with_slope(self.ctx, left, computed)
        return self.parts(left, computed)

    def parts(self, left: Any, computed: Any) -> Any:
        """Return a container of the parts; that which was left if the other has no such parts."""
        t = type(left)
        if t is not type(computed):
            return left
        if t in (list, tuple) and len(left) == len(computed):
            return t([self.part(*pair) for pair in zip(left, computed, strict=True)])
        if t is dict and list(left) == list(computed):
            return {key: self.part(part, computed[key]) for key, part in left.items()}
        return left


def is_number(value: Any) -> bool:
    """Return whether a value is a number, active or not, or an array of numbers."""
    value = unwrapped(value)
    return isinstance(value, (float, complex, np.inexact)) or (
        type(value) is ndarray and value.dtype.kind in "fc"
    )


def with_slope(ctx: Mode, left: Any, computed: Any) -> Any:
    """Return a number or an array with the derivatives of one close to it."""
    if not ctx.contains_active(left) or not ctx.contains_active(computed):
        return left
    value, other = plain_copy(left), unwrapped(computed)
    if np.shape(value) != np.shape(other) or type(value) is not type(other):
        return left
    scale = np.maximum(np.abs(value), 1.0)
    if not np.all(np.abs(value - other) <= AGREEMENT * scale):
        return left
    return ctx.call(moved_to, value, computed)


def moved_to(value: Any, computed: Any) -> Any:
    """Return a constant with the derivatives of something else."""
    return value + (computed - stop_gradient(computed))
