"""Minima: the gradient is zero, or a bound is active."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from mooncake_py.errors import MissingRuleError
from mooncake_py.interface import grad
from mooncake_py.rules.declare import overlay, refused
from mooncake_py.rules.plain_values import same_values
from mooncake_py.solvers.activity import is_active, order
from mooncake_py.solvers.apart import Start, anew, solved_apart
from mooncake_py.solvers.implicit import moved_along
from mooncake_py.solvers.products import correction_by_products
from mooncake_py.solvers.scipy.constrained import require_isolated
from mooncake_py.solvers.scipy.results import changed, number, tuple_of
from mooncake_py.utilities.stopping import stop_gradient

__all__ = ["limits", "minimum"]

MANY = 200
"""Variables from which on systems with the Hessian are solved without it as a matrix."""

refused(
    optimize.linprog,
    optimize.milp,
    why="the solution of a linear program is a corner, and jumps to another one as costs change",
    fix="add a quadratic term and use minimize, or solve the constraints that are active at\n"
    "the solution as a linear system",
)


def minimum(x: Any, gradient: Callable[[Any], Any], low: Any, high: Any, guess: Any) -> Any:
    """Return a minimum, a constant, with its derivative.

    It does not depend on the `guess` from which it was found, if it is isolated.

    Variables held by a bound move with it; the others move so that the gradient remains zero. A
    variable counts as held if the gradient pushes it against the bound, and if its distance from
    the bound is at most the length of a gradient step that the bounds cut off (Bertsekas,
    "Projected Newton methods", 1982).
    """
    many = np.size(x) >= MANY
    if low is None and high is None:
        if many:
            return along_products(x, gradient, gradient, x == x, guess)
        return moved_along(x, gradient, guess=guess)
    g, lowest, highest = stop_gradient((gradient(x), low, high))
    reach: Any = np.linalg.norm(x - np.clip(x - g, lowest, highest))
    fixed = lowest == highest
    at_low = fixed | ((x <= lowest + reach) & (g > 0))
    at_high = np.logical_not(fixed) & (x >= highest - reach) & (g < 0)

    def residual(x: Any) -> Any:
        return np.where(at_low, x - low, np.where(at_high, x - high, gradient(x)))

    free = np.logical_not(at_low | at_high)
    if many:
        return along_products(x, gradient, residual, free, guess)
    return moved_along(x, residual, guess=guess)


def along_products(x: Any, gradient: Any, residual: Any, free: Any, guess: Any) -> Any:
    """Return a minimum in many variables with its derivative, without a matrix."""
    start = x
    for _ in range(order()):
        x = x + correction_by_products(residual(x), gradient, start, free, guess)
    return x


def limits(bounds: Any, shape: Any) -> tuple[Any, Any]:
    """Return lower and upper bounds in the shape of the solution."""
    if bounds is None:
        return None, None
    if isinstance(bounds, optimize.Bounds):
        return np.zeros(shape) + bounds.lb, np.zeros(shape) + bounds.ub
    low = [-np.inf if pair[0] is None else pair[0] for pair in bounds]
    high = [np.inf if pair[1] is None else pair[1] for pair in bounds]
    return np.array(low), np.array(high)


@overlay(optimize.minimize)
def minimize(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    *rest: Any,
    **options: Any,
) -> Any:
    """Run `minimize`; its callbacks may give the gradient."""
    further = tuple_of(args)
    with_gradient = bool(jac) and not callable(jac) and not isinstance(jac, str)

    def value(x: Any) -> Any:
        y = fun(x, *further)
        return number(y[0] if with_gradient else y)

    def gradient(x: Any) -> Any:
        if with_gradient:
            return fun(x, *further)[1]
        return jac(x, *further) if callable(jac) else grad(value)(x)

    def differentiated(found: Any, start: Start) -> Any:
        if start is None:
            return found
        value_anew = anew(value, start)
        is_free, reached = is_empty(constraints), (fun, args, bounds, value_anew(found.x))
        if not is_active((reached, constraints)) and not (is_free and is_active(x0)):
            if is_active(x0):
                low, high = limits(bounds, found.x.shape)
                require_isolated(found.x, value_anew, constraints, low, high)
            return found
        if not is_free:
            raise MissingRuleError(
                "the derivative of scipy.optimize.minimize with constraints is not implemented",
                why="only bounds are held, by the active set",
                fix="eliminate the constraints, or use implicit(solve, residual) with the "
                "equations of Lagrange",
            )

        def gradient_after_value(x: Any) -> Any:
            if callable(jac) and start:  # which may read what `fun` has kept, as in SciPy
                fun(x, *further)
            return gradient(x)

        low, high = limits(bounds, found.x.shape)
        x = minimum(found.x, anew(gradient_after_value, start), low, high, x0)
        return changed(found, x=x, fun=same_values(value_anew(x), found.fun))

    return solved_apart(
        differentiated, True,
        optimize.minimize, fun, x0, args, method, jac, hess, hessp, bounds, constraints,
        *rest, **options,
    )  # fmt: skip


def is_empty(constraints: Any) -> bool:
    """Return whether there are no constraints."""
    return isinstance(constraints, (list, tuple)) and len(constraints) == 0


@overlay(optimize.minimize_scalar)
def minimize_scalar(
    fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), *rest: Any, **options: Any
) -> Any:
    """Run `minimize_scalar`."""

    def differentiated(found: Any, start: Start) -> Any:
        if start is None:
            return found
        value = anew(lambda x: number(fun(x, *tuple_of(args))), start)
        if not is_active((fun, args, bracket, bounds, value(found.x))):
            return found
        low, high = (None, None) if bounds is None else bounds
        x = same_values(minimum(float(found.x), grad(value), low, high, bracket), found.x)
        return changed(found, x=x, fun=same_values(value(x), found.fun))

    return solved_apart(
        differentiated, True, optimize.minimize_scalar, fun, bracket, bounds, args,
        *rest, **options,
    )  # fmt: skip
