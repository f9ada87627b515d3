"""Values at a solution: those that the solver has found, with derivatives of an evaluation there.

If both differ, what was differentiated is not what was solved: something that the function reads is
another than in the run of the solver, and cannot be put back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.diagnostics.notes import located
from mooncake_py.errors import SolverError
from mooncake_py.rules.plain_values import agree, valued
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.start import Solved
from mooncake_py.utilities.copies import plain_copy

__all__ = ["as_found"]

STEPS = (0, 0, -3, -1, 1, 3)
ROUNDINGS = 100.0
"""How many times what the roundings of a point change both values may differ."""


def as_found(run: Solved, value: Any, found: Any, f: Callable[[Any], Any], x: Any) -> Any:
    """Return a solver's result with the derivatives of ``f(x)``, which is `value`.

    One of another shape is left as it is.

    Raises
    ------
    SolverError
        If both differ by more than rounding.
    """
    ctx, plain = run.ctx, plain_copy(value)
    if np.shape(plain) != np.shape(found):
        return value
    if not (agree(plain, found, 0.5, ()) or differ_by_rounding(run, plain, found, f, x)):
        raise located(ctx, differs(plain, found))
    return ctx.call(valued, value, found) if ctx.contains_active(value) else found


def differ_by_rounding(
    run: Solved, value: Any, found: Any, f: Callable[[Any], Any], x: Any
) -> bool:
    """Return whether two values differ no more than those at points as close as roundings.

    At the same point a function returns the same twice.
    """
    x = np.asarray(unwrapped(x))
    shifted = [x + np.spacing(np.abs(x)) * step for step in STEPS]
    points = [point if x.ndim else float(point) for point in shifted]
    here, again, *near = map(np.asarray, run.evaluated(values_at, f, points))
    if not np.array_equal(here, again):
        return False
    scale = np.max(np.abs(near - value), initial=0.0)
    return bool(np.all(np.abs(np.asarray(value) - found) <= ROUNDINGS * scale))


def values_at(f: Callable[[Any], Any], points: list[Any]) -> list[Any]:
    """Return the values of a function at some points."""
    return [f(x) for x in points]


def differs(value: Any, found: Any) -> SolverError:
    """Return the error for values that differ."""
    largest = np.argmax(np.abs(np.asarray(value) - found))
    return SolverError(
        "a function has another value at the solution than in the run of its solver, so that the "
        "result has no derivative",
        why=f"it is {np.ravel(value)[largest]:.9g} now, and was {np.ravel(found)[largest]:.9g}: "
        "it depends on something that changes\nbetween its calls and that cannot be put back, "
        "such as the clock or a file",
        fix="let it return a function of the point alone",
    )
