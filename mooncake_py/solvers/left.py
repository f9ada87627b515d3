"""What the callbacks of a solver have left, with the derivatives of the evaluation at its result.

A callback may store what it has computed from the point at which the solver evaluates it.  The
solver's last point is close to its solution, so that what was stored there has, up to the precision
of the solution, the derivative that the same place has after the evaluation at the solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.activity import unwrapped
from mooncake_py.utilities.copies import plain_copy
from mooncake_py.utilities.stopping import stop_gradient

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["left_behind"]

AGREEMENT = 1e-5
"""How much both may differ, relative to the larger of their size and 1."""


def left_behind(ctx: Mode, left: Any, computed: Any) -> Any:
    """Return what a solver has left, with the derivatives of what was computed at its solution.

    Both are the contents of a place.  Lists, dicts and objects among them are places of their own,
    and stay the same objects.  Contents of another size, and numbers that are not close to one
    another, stay as they are.
    """
    t = type(left)
    if t is type(computed):
        if t is list and len(left) == len(computed):
            return [part_left_behind(ctx, *pair) for pair in zip(left, computed, strict=True)]
        if t is dict and list(left) == list(computed):
            return {key: part_left_behind(ctx, part, computed[key]) for key, part in left.items()}
    return part_left_behind(ctx, left, computed)


def part_left_behind(ctx: Mode, left: Any, computed: Any) -> Any:
    """Return a number, or numbers in tuples, with the derivatives; all else as it is."""
    if is_number(left) and is_number(computed):
        return with_slope(ctx, left, computed)
    if type(left) is type(computed) is tuple and len(left) == len(computed):
        pairs = zip(left, computed, strict=True)
        return tuple([part_left_behind(ctx, *pair) for pair in pairs])
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
