"""Shared helpers: SciPy's conventions for arguments and results."""

from __future__ import annotations

import copy
from typing import Any

from numpy import ndarray

from mooncake_py.solvers.activity import is_active
from mooncake_py.solvers.unsettled import approximate

__all__ = ["changed", "number", "tuple_of"]

APPROXIMATE = ("fjac", "grad", "hess", "hess_inv", "jac", "multipliers", "qtf", "r")
"""What solvers return of derivatives that they have approximated: its own is not known."""


def tuple_of(args: Any) -> tuple[Any, ...]:
    """Return `args` as a tuple: SciPy also accepts a single argument."""
    return args if isinstance(args, tuple) else (args,)


def number(y: Any) -> Any:
    """Return the number that a function returns, perhaps in an array."""
    return y.item() if isinstance(y, ndarray) else y


def changed(result: Any, of: Any = None, /, **fields: Any) -> Any:
    """Return a copy of a dict, or of a result object, with other items.

    If they are active, or the solution that the result is `of`, what the solver has approximated
    is without derivatives.
    """
    result = copy.copy(result)
    if is_active((of, *fields.values())):
        result.update(approximate({name: result[name] for name in APPROXIMATE if name in result}))
    for name, value in fields.items():
        result[name] = value
    return result
