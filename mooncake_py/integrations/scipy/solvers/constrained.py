"""Whether a minimum with constraints is isolated, and so independent of where the search starts.

It is, if the Hessian of the Lagrangian function is regular along the constraints that are active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray
from scipy import optimize

from mooncake_py.errors import SolverError
from mooncake_py.integrations.scipy.solvers.results import tuple_of
from mooncake_py.interface import grad
from mooncake_py.jacobians import jacobian
from mooncake_py.solvers.start import own

__all__ = ["require_isolated"]

CLOSE = 1e-6

Condition = tuple[Callable[[Any], Any], Any, Any]
"""A function, and the least and the largest value that it may have."""


def require_isolated(
    x: ndarray, value: Callable[[Any], Any], constraints: Any, low: Any, high: Any
) -> None:
    """Raise if there may be other minima next to `x`."""
    active = [of_element(f, i) for f, i in held(x, [*conditions(constraints)])]
    rows = [grad(f)(x) for f in active]
    if low is not None:
        at_bound = (x - low <= CLOSE) | (high - x <= CLOSE)
        rows += [row for row, is_held in zip(np.eye(x.size), at_bound, strict=True) if is_held]
    free = np.eye(x.size)
    multipliers = np.zeros(len(rows))
    if rows:
        matrix = np.array(rows)
        _, values, right = np.linalg.svd(matrix)
        rank = int(np.sum(values > CLOSE * values[0])) if values[0] > 0 else 0
        free = right[rank:].T
        multipliers = np.linalg.lstsq(matrix.T, grad(value)(x), rcond=CLOSE)[0]
    if not free.size:
        return  # a corner

    def lagrangian(z: Any) -> Any:
        return value(z) - sum(m * f(z) for m, f in zip(multipliers, active, strict=False))

    hessian = np.asarray(jacobian(grad(lagrangian))(x))
    sizes = np.linalg.svd(free.T @ hessian @ free, compute_uv=False)
    if not sizes[-1] > x.size * np.finfo(float).eps * max(float(np.abs(hessian).max()), sizes[0]):
        raise SolverError(
            "the Hessian along the constraints is singular at the minimum, which depends on where "
            "the search starts",
            why="a derivative with respect to the start is asked for, and next to this minimum "
            "there may\nbe others",
            fix="hold the start constant by stop_gradient, or add a penalty to the function",
        )


def conditions(constraints: Any) -> Iterator[Condition]:
    """Yield the conditions of constraints in all forms that SciPy takes."""
    if isinstance(constraints, (list, tuple)):
        for part in constraints:
            yield from conditions(part)
    elif isinstance(constraints, optimize.LinearConstraint):
        matrix = constraints.A
        yield lambda x: matrix @ x, constraints.lb, constraints.ub
    elif isinstance(constraints, optimize.NonlinearConstraint):
        f = constraints.fun
        yield lambda x: f(own(x)), constraints.lb, constraints.ub
    else:
        f, further = constraints["fun"], tuple_of(constraints.get("args", ()))
        high = 0.0 if constraints["type"] == "eq" else np.inf
        yield lambda x: f(own(x), *further), 0.0, high


def held(x: ndarray, conditions: list[Condition]) -> Iterator[tuple[Callable[[Any], Any], int]]:
    """Yield the functions of the conditions that hold as equations, and which element of each."""
    for f, low, high in conditions:
        values = np.atleast_1d(f(x))
        near = (values - low <= CLOSE) | (high - values <= CLOSE)
        yield from ((f, i) for i in np.flatnonzero(near).tolist())


def of_element(f: Callable[[Any], Any], i: int) -> Callable[[Any], Any]:
    """Return the function of one element of a constraint."""
    return lambda x: np.atleast_1d(f(x))[i]
