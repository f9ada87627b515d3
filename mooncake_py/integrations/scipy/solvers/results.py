"""Shared helpers: SciPy's conventions for arguments and results."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.plain_values import valued
from mooncake_py.solvers.approximated import approximated
from mooncake_py.solvers.start import Solved

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["changed", "number", "of_point", "tuple_of"]

OF_DERIVATIVES = (
    "cov_x", "fjac", "grad", "hess", "hess_inv", "jac", "lagrangian_grad", "multipliers",
    "optimality", "qtf", "r",
)  # fmt: skip
OF_STEPS = (
    "allvecs", "alist", "blist", "elist", "final_simplex", "hu", "momcom", "rlist", "tcur",
    "tolsf", "tsw",
)  # fmt: skip
APPROXIMATE = frozenset({*OF_DERIVATIVES, *OF_STEPS})
"""Solvers' own derivatives, estimates and steps among their results: no derivative is known.
"""


def tuple_of(args: Any) -> tuple[Any, ...]:
    """Return `args` as a tuple: SciPy also accepts a single argument."""
    return args if isinstance(args, tuple) else (args,)


def of_point(f: Callable[..., Any], args: Any) -> Callable[[Any], Any]:
    """Return a callback as a function of the point alone."""
    further = tuple_of(args)
    return (lambda x: f(x, *further)) if further else f


def number(y: Any) -> Any:
    """Return the number that a function returns, perhaps in an array; a float for an int."""
    y = y.item() if isinstance(y, ndarray) else y
    return float(y) if isinstance(y, (int, np.integer, np.bool_)) else y


def laid_out(ctx: Mode, value: Any, found: Any) -> Any:
    """Return a value in the layout of memory in which the solver has returned it."""
    if type(found) is not ndarray or np.shape(value) != found.shape:
        return value
    return value if found.flags.c_contiguous else ctx.call(valued, value, found)


def changed(run: Solved, result: Any, of: Any = None, /, **fields: Any) -> Any:
    """Return a copy of a dict, or of a result object, with other items.

    If they are active, or the solution that the result is `of`, what the solver has approximated
    is without derivatives.
    """
    ctx, found = run.ctx, result
    result = copy.copy(found)
    fields = {name: laid_out(ctx, value, found.get(name)) for name, value in fields.items()}
    if ctx.contains_active((of, *fields.values())):
        kept = {name: part for name, part in result.items() if name in APPROXIMATE - fields.keys()}
        if kept:
            fields = approximated(ctx, kept, fields, run, found)
    result.update(fields)
    return result
