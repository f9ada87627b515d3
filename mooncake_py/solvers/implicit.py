"""The implicit function theorem: the derivative of a solution, for any solver.

A solver finds x with r(x, p) = 0.  The derivative of x with respect to p does not depend on it:

    dx = -J^-1 (dr/dp) dp,    with J = dr/dx.

The solver runs on plain numbers.  Then `implicit` evaluates r once more at the solution, as
differentiated code, and corrects x by a step of Newton's method with J held constant,

    x := x - J^-1 r(x, p),

The value of this step is zero and is left out; its derivative is the one above.  So derivatives
flow through all parts of p that r reads: arguments, captured variables, globals.  Each further step
gives another order of derivatives.

The derivatives of r are those that the context of the derivative gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.diagnostics.places import definition_of
from mooncake_py.errors import (
    DerivativeDropError,
    InvalidRuleError,
    MissingRuleError,
    MooncakeError,
    SolverError,
)
from mooncake_py.interface import jvp
from mooncake_py.jacobians import value_and_jacobian
from mooncake_py.modes.reverse.settings import settings
from mooncake_py.rules.declare import contextual, elementwise, from_vjp
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.enclosing import enclosing
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.solvers.apart import solved_by_user
from mooncake_py.solvers.order import order
from mooncake_py.solvers.start import Solved, anew
from mooncake_py.utilities.stopping import stop_gradient
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["FEW", "at_solution", "implicit", "in_floats", "jacobian_at", "moved_along",
           "moving"]  # fmt: skip

Function = Callable[..., Any]

TOLERANCE = 1e-4
REACH = 1e-7
AGREEMENT = 0.1
FEW_ROUNDINGS = 4.0
FEW = 8
"""Unknowns of which no Jacobian is too large to be computed at once."""


def implicit(solve: Function, residual: Function, *, tolerance: float = TOLERANCE) -> Function:
    """Return a differentiable solver of an equation, by the implicit function theorem.

    Parameters
    ----------
    solve : callable
        ``solve(*args)`` returns the solution, a number or an array, real or complex.  It runs
        natively on plain numbers, and may be compiled.  Inside a derivative it must not change
        arrays and containers that it is given: work on a copy.
    residual : callable
        ``residual(x, *args)`` is zero at the solution, and has the shape of `x`.  It is
        differentiated with respect to `x`, `args`, and captured and global variables.
    tolerance : float, optional
        Maximal relative size of a Newton step at the solution, relative to the larger of the norm
        of the solution and 1.

    Returns
    -------
    callable
        ``solution(*args)`` returns the result of ``solve(*args)``.

    Raises
    ------
    InvalidRuleError
        If `solve` or `residual` is not a function, or returns neither a number nor an array.
    SolverError
        In a derivative, if the solver has not converged, or if the Jacobian of the residual is
        singular, so that the solution has no derivative.
    UntrackedWriteError
        In a derivative, if the solver has changed an array, a list or a dict that it was given.

    Notes
    -----
    Each call computes the Jacobian with respect to `x` as a matrix, and each derivative solves a
    linear system with it; the iterations of the solver are not recorded.  All modes and orders of
    derivatives work.

    Examples
    --------
    >>> import math
    >>> from mooncake_py import grad, implicit
    >>> def iterate(a):
    ...     x = 1.0
    ...     while abs(x - math.cos(a * x)) > 1e-14:
    ...         x = math.cos(a * x)
    ...     return x
    >>> fixed_point = implicit(iterate, lambda x, a: x - math.cos(a * x))
    >>> round(grad(fixed_point)(0.5), 6)
    -0.321771
    """
    require_equation(solve, residual, tolerance)

    def solution(*args: Any, **kwargs: Any) -> Any:
        x = with_equation(residual, tolerance, solve, *args, **kwargs)
        require_numbers(solve, x, "solution")
        return x

    return solution


def with_equation(residual: Any, tolerance: Any, solve: Function, /, *args: Any, **kw: Any) -> Any:
    """Return the solution of a solver of the user's."""
    return solve(*args, **kw)


@contextual(with_equation)
def with_equation_inside(
    ctx: Mode, residual: Any, tolerance: Any, solve: Function, /, *args: Any, **kw: Any
) -> Any:
    """Give it its derivative; what is evaluated for that the program does not see."""

    def differentiated(run: Solved, x: Any) -> Any:
        require_numbers(solve, x, "solution")
        if run.begin is None:
            return x
        return moved_from_either(run, x, lambda x: residual(x, *args, **kw), tolerance)

    return solved_by_user(ctx, differentiated, residual, solve, *args, **kw)


def moved_from_either(run: Solved, x: Any, residual: Function, tolerance: float) -> Any:
    """Return a solution with its derivative, for a residual that may read what the solver stores.

    It runs from the state that the solver has left, and from the state before if from there it is
    not zero, as where the solver works in the memory that it reads.
    """
    if not run.left:
        return moved_along(run, x, run.anew(residual, x), tolerance)
    ctx, offset = run.ctx, small_offset(x)
    failure = ctx.failure
    try:
        # In addition to the solution, of which the residual may keep its value in a table of
        # points.
        beside = anew(lambda x: residual(x + offset), run.left, run.after, isinstance(x, ndarray))
        return moved_along(run, x, beside, tolerance)
    except Exception as error:
        ctx.failure = failure
        try:
            return moved_along(run, x, run.anew(residual, x), tolerance)
        except MooncakeError:
            raise
        except Exception:  # it cannot run from there
            raise error from None


def small_offset(x: Any) -> Any:
    """Return an offset from a solution of the size of a few roundings."""
    kind = np.asarray(x).dtype
    if kind.kind not in "fc":
        return 0
    offset = np.where(
        x == 0, np.finfo(kind).tiny, np.multiply(x, FEW_ROUNDINGS * np.finfo(kind).eps)
    )
    return offset if isinstance(x, ndarray) else offset.item()


def require_equation(solve: Any, residual: Any, tolerance: Any) -> None:
    """Raise if these are not two functions and a tolerance."""
    for name, function in (("solve", solve), ("residual", residual)):
        if not callable(function):
            kind = with_article(type(function).__name__)
            raise InvalidRuleError(
                f"implicit takes two functions, and `{name}` is {kind}",
                fix="implicit(solve, residual), where residual(solve(*args), *args) is zero",
            )
    if not isinstance(tolerance, (float, int, np.floating, np.integer)) or not tolerance > 0:
        raise InvalidRuleError(
            f"tolerance={tolerance!r} of implicit is not a positive number",
            why="it is the largest relative step of Newton's method from the solution",
            fix=f"pass tolerance={TOLERANCE}, or leave it out",
        )


def require_numbers(f: Any, value: Any, what: str) -> None:
    """Raise if a solution or a residual is neither a number nor an array."""
    if isinstance(value, (ndarray, float, complex, int, np.number)):
        return
    if what == "residual" and isinstance(value, list):
        return  # of numbers, as root finders take it
    got = "None" if value is None else with_article(type(value).__name__)
    raise InvalidRuleError(
        f"{name_of(f)} returned {got}, but the {what} of an equation is a number or an array",
        where=definition_of(f),
        fix="return the number or the array: is a `return` missing?"
        if value is None
        else "return the number or the array alone, for several unknowns np.array of them",
    )


def at_solution(run: Solved, x: Any, residual: Function, guess: Any) -> Any:
    """Return `x`, a constant at which `residual` is zero, with the derivative of that root.

    It does not depend on the `guess` from which it was found, if it is an isolated root.
    """
    if run.begin is None:
        return x
    residual = run.anew(residual, x)
    x = moved_along(run, x, residual, guess=guess)
    if run.stores and run.ctx.contains_active(x):
        run.ctx.call(residual, x)  # what it writes anywhere has the derivative too
    return x


def moved_along(
    run: Solved, x: Any, residual: Function, tolerance: float = TOLERANCE, guess: Any = None
) -> Any:
    """Return `x` with the derivative of the root, for a residual without state."""
    ctx = run.ctx
    if np.iscomplexobj(x):
        parts = np.array([np.real(x), np.imag(x)])
        found = moved_along(run, parts, lambda parts: in_parts(residual, parts), tolerance, guess)
        return ctx.call(joined, found)
    r = ctx.call(residual, x)
    # On what the residual captures it may depend in steps, on the guess unless it is isolated.
    if ctx.contains_active((r, residual, guess)):
        matrix = run.evaluated(checked_jacobian, residual, x, unwrapped(r), tolerance)
        step = (moved, matrix) if isinstance(x, ndarray) else (moving, -1 / matrix.item())
        x = ctx.call(step[0], x, like(ctx, x, r), step[1])
        for _ in range(order(ctx) - 1):
            x = ctx.call(step[0], x, like(ctx, x, ctx.call(residual, x)), step[1])
    return x


def like(ctx: Mode, x: Any, r: Any) -> Any:
    """Return a residual in the shape of the solution; a float for a number."""
    if isinstance(unwrapped(x), ndarray):
        fits = type(r) is ndarray and r.shape == x.shape
        return r if fits else ctx.call(np.reshape, r, np.shape(x))
    if isinstance(r, ndarray):
        r = ctx.method(r, "item")
    return r if isinstance(unwrapped(r), float) else ctx.call(float, r)


def joined(parts: Any) -> Any:
    """Return the complex numbers of real and imaginary parts."""
    return parts[0] + 1j * parts[1]


def in_floats(f: Function) -> Function:
    """Return a function that returns floats in place of ints, whose derivative is zero."""

    def floats(x: Any) -> Any:
        y = f(x)
        if isinstance(y, float):
            return y
        y = np.asarray(y)
        return y if y.dtype.kind in "fc" else y.astype(float)

    return floats


def in_parts(residual: Function, parts: ndarray) -> ndarray:
    """Return real and imaginary parts of a residual, as a function of those of the solution."""
    r = np.reshape(np.array(residual(parts[0] + 1j * parts[1])), parts[0].shape)
    return np.stack([np.real(r), np.imag(r)])


def checked_jacobian(residual: Function, x: Any, r: Any, tolerance: float) -> ndarray:
    """Return the Jacobian of the residual `r`; raise if the theorem does not apply at `x`."""
    require_numbers(residual, r, "residual")
    size, equations = np.size(x), np.size(r)
    if not np.issubdtype(np.asarray(x).dtype, np.inexact):
        raise SolverError(
            f"the solution is an int, or an array of ints, and has no derivative: {shown(x)}",
            fix="return floats from the solver",
        )
    if equations != size:
        raise SolverError(
            f"the residual has {equations} element{'s' * (equations != 1)}, and the solution "
            f"{size}",
            why="a solution needs as many equations as unknowns",
            fix="return one element for each of the solution",
        )
    if np.asarray(r).dtype.kind in "biu":
        raise SolverError(
            "the Jacobian of the equations is singular at the solution, since "
            f"{name_of(residual)} returned ints there",
            why=f"near {shown(x)} they do not change, but jump: {shown(r)}",
            fix="return floats that change with the solution",
        )
    if not isinstance(r, (float, ndarray)):
        residual = in_floats(residual)
    if isinstance(x, float):
        rows = stop_gradient(jvp(residual, (x,), (1.0,))[1])
        if isinstance(r, float) and is_root_of_one(residual, x, r, rows, tolerance):
            return np.array([[rows]])
    else:
        rows = stop_gradient(jacobian_at(residual, x)[1])
    matrix = np.reshape(np.asarray(rows, dtype=float), (size, size))
    if not np.isfinite(matrix).all() or not np.isfinite(r).all():
        raise SolverError(
            "the residual or its Jacobian is not finite at the solution",
            why=f"the solution is {shown(x)}",
        )
    if size:
        require_root(residual, x, np.reshape(r, size), matrix, tolerance)
    return matrix


def jacobian_at(f: Function, x: ndarray) -> tuple[Any, ndarray]:
    """Return the value of a function at a point, and its Jacobian there."""
    if 0 < x.size <= FEW:
        units = np.eye(x.size, dtype=x.dtype)
        directions = [(unit.reshape(x.shape),) for unit in units]
        try:
            y, columns = along_all(f, x.copy(), directions) or jvp(f, (x,), directions)
        except (MissingRuleError, DerivativeDropError):  # reverse mode may work
            pass
        else:
            return y, np.stack(columns, axis=-1)
    return value_and_jacobian(f)(x)


def along_all(f: Function, x: ndarray, directions: list[Any]) -> tuple[Any, list[Any]] | None:
    """Return the same as `jvp` for memory that nobody else has, if one run is enough; else None.

    That there is one run, and one argument, needs none of its checks: a quarter of its time.
    """
    if len(directions) < 2 or enclosing() is not None or settings() is not None:
        return None
    # Only where several unknowns are solved for.
    from mooncake_py.modes.forward.several import pushed_along

    with limits_raised():
        y, tangents = pushed_along(f, (x,), directions, 0)
    return (y, tangents) if len(tangents) == len(directions) else None


def is_root_of_one(residual: Function, x: float, r: float, slope: float, tolerance: float) -> bool:
    """Return whether a number is sure to be an isolated root, without LAPACK and further slopes."""
    try:
        with np.errstate(all="ignore"):
            step, size = abs(r / slope), abs(x)
            reach = max(step, REACH * size)
            mean = (residual(x + 2 * reach) - r) / (2 * reach)
    except Exception:  # outside of where the function is defined, perhaps
        return False
    is_near = abs(mean - slope) <= 0.5 * AGREEMENT * abs(slope)
    return bool(is_near and step <= tolerance * max(size, 1.0))


def require_root(residual: Function, x: Any, r: ndarray, matrix: ndarray, tolerance: float) -> None:
    """Raise if `x` is not an isolated root."""
    rows = np.abs(matrix).max(axis=1, keepdims=True)
    if not rows.all():
        raise singular(x, r)
    left, values, right = np.linalg.svd(matrix / rows)
    if values[-1] <= len(r) * np.finfo(float).eps * values[0]:
        raise singular(x, r)
    step = np.linalg.norm(solved(matrix, r))
    size = np.linalg.norm(x)
    if not step <= tolerance * max(size, 1.0):
        raise SolverError(
            "the solver has not converged, so that its result has no derivative",
            why=f"the residual at {shown(x)} is {shown(r)}:\na step of Newton's method would "
            f"change the solution by {step:.2g}",
            fix="run more iterations of the solver, with a smaller tolerance; or check the "
            "residual",
        )
    # In the direction in which the residual changes least its slope must not vanish nearby.
    reach, direction = max(step, REACH * size), np.reshape(right[-1], np.shape(x))[()]
    row, smallest = left[:, -1] / rows[:, 0], values[-1]
    if differs_little(residual, x, r, reach * direction, row, smallest):
        return
    _, slope = jvp(residual, (x + reach * direction,), (direction,))
    if not abs(row @ np.reshape(slope, -1) - smallest) <= AGREEMENT * smallest:
        raise singular(x, r)


def differs_little(
    residual: Function, x: Any, r: ndarray, way: Any, row: ndarray, slope: float
) -> bool:
    """Return whether the mean slope on a short way shows that no derivative there need be asked.

    It may be imprecise.
    """
    try:
        with np.errstate(all="ignore"):
            further = row @ (np.reshape(residual(x + 2 * way), -1) - r)
            mean = further / (2 * float(np.linalg.norm(way)))
    except Exception:  # outside of where the function is defined, perhaps
        return False
    return bool(abs(mean - slope) <= 0.5 * AGREEMENT * slope)


def singular(x: Any, r: Any) -> SolverError:
    """Return the error for a solution that its equation does not determine."""
    return SolverError(
        "the Jacobian of the equations is singular at the solution, which has no derivative there",
        why=f"near {shown(x)}, where the residual is {shown(r)}, the equations do not determine\n"
        "the solution: they are flat, or have a multiple root or a jump, or no root",
        fix="hold the solution constant by stop_gradient, or change the equations: add a penalty, "
        "divide a\nmultiple root out",
    )


def shown(x: Any) -> str:
    """Return a number, or the first elements of an array, as a text."""
    return np.array2string(np.asarray(x), threshold=6, edgeitems=2, precision=6)


def moved(x: Any, r: Any, matrix: ndarray) -> Any:
    """Return `x`, with the derivatives of ``x - solve(matrix, r)``."""
    return x.copy() if isinstance(x, ndarray) else x


def push_moved(tangents: Any, y: Any, x: Any, r: Any, matrix: ndarray) -> Any:
    dx, dr, _ = tangents
    if dr is None:
        return dx
    return -solved(matrix, dr) if dx is None else dx - solved(matrix, dr)


@from_vjp(moved, jvp=push_moved)
def moved_rule(x: Any, r: Any, matrix: ndarray) -> Any:
    """Y = x - J^-1 r, with r = 0.   dx = dy,   dr = -J^-T dy."""
    return moved(x, r, matrix), lambda dy: (dy, -solved(matrix.T, dy), None)


def moving(x: float, r: Any, slope: float) -> float:
    """Return a number, with the derivatives of ``x + slope * r``."""
    return x


elementwise(moving, 1.0, lambda x, r, slope, y: slope, None)


def solved(matrix: ndarray, b: Any) -> Any:
    """Return the solution of a system of equations, in the shape of the right-hand side."""
    if matrix.size == 1:
        return b / matrix[0, 0]
    return np.linalg.solve(matrix, np.reshape(b, -1)).reshape(np.shape(b))[()]
