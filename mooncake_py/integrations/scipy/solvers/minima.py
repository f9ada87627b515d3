"""Minima: the gradient is zero, or a bound is active."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize

from mooncake_py.errors import MissingRuleError
from mooncake_py.integrations.scipy.solvers.constrained import require_isolated
from mooncake_py.integrations.scipy.solvers.results import changed, number, tuple_of
from mooncake_py.interface import grad, jvp
from mooncake_py.rules.declare import overlay_in_context, refused
from mooncake_py.rules.plain_values import valued
from mooncake_py.solvers.apart import solved_apart
from mooncake_py.solvers.as_found import as_found
from mooncake_py.solvers.implicit import in_floats, moved_along
from mooncake_py.solvers.order import order
from mooncake_py.solvers.products import correction_by_products
from mooncake_py.solvers.start import Solved, named_as, own
from mooncake_py.utilities.copies import plain_copy

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["limits", "minimum", "reaches_active"]

MANY = 200
"""Variables from which on systems with the Hessian are solved without it as a matrix."""

refused(
    optimize.linprog,
    optimize.milp,
    why="the solution of a linear program is a corner, and jumps to another one as costs change",
    fix="add a quadratic term and use minimize, or solve the constraints that are active at\n"
    "the solution as a linear system",
)


def minimum(
    run: Solved, x: Any, gradient: Callable[[Any], Any], low: Any, high: Any, guess: Any
) -> Any:
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
            return along_products(run, x, gradient, gradient, x == x, guess)
        return moved_along(run, x, gradient, guess=guess)
    g = plain_copy(run.ctx.call(gradient, x))
    lowest, highest = plain_copy((low, high))
    reach: Any = np.linalg.norm(x - np.clip(x - g, lowest, highest))
    fixed = lowest == highest
    at_low = fixed | ((x <= lowest + reach) & (g > 0))
    at_high = np.logical_not(fixed) & (x >= highest - reach) & (g < 0)
    free = np.logical_not(at_low | at_high)
    residual: Any = gradient if np.all(free) else held_by(gradient, at_low, low, at_high, high)
    if many:
        return along_products(run, x, gradient, residual, free, guess)
    return moved_along(run, x, residual, guess=guess)


def held_by(gradient: Any, at_low: Any, low: Any, at_high: Any, high: Any) -> Any:
    """Return a function that is zero at a minimum of which bounds hold some variables."""

    def residual(x: Any) -> Any:
        return np.where(at_low, x - low, np.where(at_high, x - high, gradient(x)))

    return residual


def along_products(run: Solved, x: Any, gradient: Any, residual: Any, free: Any, guess: Any) -> Any:
    """Return a minimum in many variables with its derivative, without a matrix."""
    ctx, start = run.ctx, x
    for _ in range(order(ctx)):
        x = ctx.call(next_by_products, x, residual, gradient, start, free, guess)
    return x


def next_by_products(
    x: Any, residual: Any, gradient: Any, start: Any, free: Any, guess: Any
) -> Any:
    """Return `x` with the derivative of a step of Newton's method."""
    return x + correction_by_products(residual(x), gradient, start, free, guess)


def limits(bounds: Any, shape: Any) -> tuple[Any, Any]:
    """Return lower and upper bounds in the shape of the solution."""
    if bounds is None:
        return None, None
    if isinstance(bounds, optimize.Bounds):
        return np.zeros(shape) + bounds.lb, np.zeros(shape) + bounds.ub
    low = [-np.inf if pair[0] is None else pair[0] for pair in bounds]
    high = [np.inf if pair[1] is None else pair[1] for pair in bounds]
    return np.array(low), np.array(high)


@overlay_in_context(optimize.minimize)
def minimize(
    ctx: Mode,
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

    def differentiated(run: Solved, found: Any) -> Any:
        if run.begin is None:
            return found
        x = found.x
        value = run.anew(value_of(fun, args, jac), x)
        is_free = is_empty(constraints)
        if not reaches_active(ctx, (fun, args, bounds, constraints), value, x) and not (
            is_free and ctx.contains_active(x0)
        ):
            if ctx.contains_active(x0):
                ctx.call(require_isolated, x, value, constraints, *limits_of(ctx, bounds, x.shape))
            return found
        if not is_free:
            raise MissingRuleError(
                "the derivative of scipy.optimize.minimize with constraints is not implemented",
                why="only bounds are held, by the active set",
                fix="eliminate the constraints, or use implicit(solve, residual) with the "
                "equations of Lagrange",
            )
        gradient = run.anew(gradient_of(fun, args, jac, bool(run.begin)), x)
        x = minimum(run, x, gradient, *limits_of(ctx, bounds, x.shape), x0)
        lowest = as_found(run, ctx.call(value, x), found.fun, value, x)
        return changed(run, found, x=x, fun=lowest)

    return solved_apart(
        ctx, differentiated, True,
        optimize.minimize, fun, x0, args, method, jac, hess, hessp, bounds, constraints,
        *rest, **options,
    )  # fmt: skip


def returns_gradient(jac: Any) -> bool:
    """Return whether the function returns its gradient too."""
    return bool(jac) and not callable(jac) and not isinstance(jac, str)


def value_of(fun: Any, args: Any, jac: Any) -> Callable[[Any], Any]:
    """Return the function to be minimised as a function of the point alone."""
    further, with_gradient = tuple_of(args), returns_gradient(jac)

    def value(x: Any) -> Any:
        y = fun(x, *further)
        return number(y[0] if with_gradient else y)

    return named_as(fun, value)


def gradient_of(fun: Any, args: Any, jac: Any, after_value: bool) -> Callable[[Any], Any]:
    """Return the gradient, that which the callbacks give or else one of the engine's.

    A callback may read what `fun` has kept, and comes after it as in SciPy.
    """
    further = tuple_of(args)
    if returns_gradient(jac):
        return in_floats(lambda x: fun(x, *further)[1])
    if not callable(jac):
        return grad(value_of(fun, args, jac))

    def gradient(x: Any) -> Any:
        if after_value:
            fun(own(x), *further)
        return jac(x, *further)

    return in_floats(gradient)


def limits_of(ctx: Mode, bounds: Any, shape: Any) -> tuple[Any, Any]:
    """Return lower and upper bounds inside a derivative."""
    return (None, None) if bounds is None else ctx.call(limits, bounds, shape)


def reaches_active(ctx: Mode, values: Any, f: Callable[[Any], Any], x: Any) -> bool:
    """Return whether anything that a function reads at `x` is active, or what it returns."""
    return ctx.contains_active(values) or ctx.contains_active(ctx.call(f, x))


def is_empty(constraints: Any) -> bool:
    """Return whether there are no constraints."""
    return isinstance(constraints, (list, tuple)) and len(constraints) == 0


def slope_of(value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the derivative of a function of one number."""
    return lambda x: jvp(value, (x,), (1.0,))[1]


@overlay_in_context(optimize.minimize_scalar)
def minimize_scalar(
    ctx: Mode,
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    *rest: Any,
    **options: Any,
) -> Any:
    """Run `minimize_scalar`."""

    def differentiated(run: Solved, found: Any) -> Any:
        if run.begin is None:
            return found
        value = run.anew(value_of(fun, args, None), found.x)
        if not reaches_active(ctx, (fun, args, bracket, bounds), value, found.x):
            return found
        low, high = (None, None) if bounds is None else bounds
        x = minimum(run, float(found.x), slope_of(value), low, high, bracket)
        x = ctx.call(valued, x, found.x)
        lowest = as_found(run, ctx.call(value, x), found.fun, value, x)
        return changed(run, found, x=x, fun=lowest)

    return solved_apart(
        ctx, differentiated, True, optimize.minimize_scalar, fun, bracket, bounds, args,
        *rest, **options,
    )  # fmt: skip
