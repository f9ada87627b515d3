"""Differential equations by LSODA, which is compiled; another method gives the derivative.

The value is LSODA's.  The derivative is that of a method written in Python at the same
tolerances: backward differentiation if LSODA found the equation stiff, else an explicit
Runge-Kutta method of order 8.  Both solve the same equation, and must agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray
from scipy import integrate

from mooncake_py.errors import MissingRuleError, SolverError
from mooncake_py.integrations.scipy.solvers.collocation import FEW, moved_along, solution_along
from mooncake_py.integrations.scipy.solvers.results import changed, tuple_of
from mooncake_py.integrations.scipy.solvers.steady_steps import BDF, DOP853, METHODS
from mooncake_py.rules.declare import overlay_in_context, refused
from mooncake_py.rules.plain_values import valued
from mooncake_py.rules.sources import without_rule
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.solvers.apart import solved_apart
from mooncake_py.solvers.order import order
from mooncake_py.solvers.start import Solved, own
from mooncake_py.utilities.copies import plain_copy
from mooncake_py.utilities.stopping import stop_gradient

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

AGREEMENT = 1e3
"""How many times the tolerance two methods may differ, whose errors add up."""
TOLERANCE = 1.49012e-8
"""Of `odeint`, relative and absolute."""
TIGHT = 1e-6
"""Relative tolerance from which on the sizes of steps have no derivative.

A looser one leaves the choice of the steps in what differences of the plain program show.
"""


derived_solve_ivp = without_rule(integrate.solve_ivp)

COMPILED = ("dop853", "dopri5", "lsoda", "vode", "zvode")
refused(
    *{getattr(getattr(integrate._ode, name, None), "runner", None) for name in COMPILED} - {None},
    why="it is compiled, and keeps the state of the solution to itself",
    fix="call solve_ivp or odeint, which have a derivative with LSODA too, or step through RK45, "
    "DOP853, Radau or BDF",
)


@overlay_in_context(integrate.solve_ivp)
def solve_ivp(
    ctx: Mode, fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None,
    dense_output: Any = False, events: Any = None, vectorized: Any = False, args: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    """Run `solve_ivp`: from its source, unless the method is LSODA."""
    given = {"dense_output": dense_output, "events": events, "vectorized": vectorized, "args": args}
    if method != "LSODA" and method is not integrate.LSODA:
        if np.max(plain_copy(options.get("rtol", 1e-3))) <= TIGHT:
            method = METHODS.get(method, method)
        return ctx.call(derived_solve_ivp, fun, t_span, y0, method, t_eval, **given, **options)

    def differentiated(run: Solved, found: Any) -> Any:
        if run.begin is None:
            return found
        if dense_output or events is not None:
            raise MissingRuleError(
                "the derivative of scipy.integrate.solve_ivp by LSODA with events or dense output "
                "is not implemented",
                why="LSODA is compiled",
                fix='use method="BDF" or "Radau" for stiff equations, else "DOP853", which are '
                "derived",
            )
        times = t_eval
        if times is None:
            times = found.t.copy()
            if ctx.contains_active(t_span):
                times = ctx.call(moved, found.t, *t_span)
        tolerances = options.get("rtol", 1e-3), options.get("atol", 1e-6)
        y, is_stiff = None, found.nlu > 0
        if not (is_stiff or vectorized) and begins_at(ctx, times, t_span):
            slope = with_further(fun, args or ())
            y = by_collocation(run, slope, False, y0, times, found.y.T, *tolerances)
        if y is not None:
            return changed(run, found, t=times, y=ctx.call(np.transpose, y))
        solution = ctx.call(
            solve_by_derived, fun, t_span, y0, times, is_stiff, *tolerances, **given
        )
        return changed(
            run, found, t=times, y=ctx.call(with_derivative_of, found.y, solution, *tolerances)
        )

    return solved_apart(
        ctx, differentiated, True,
        integrate.solve_ivp, fun, t_span, y0, method, t_eval, **given, **options,
    )  # fmt: skip


def begins_at(ctx: Mode, times: Any, t_span: Any) -> bool:
    """Return True if the first of some times is the start, and that is a constant."""
    if ctx.contains_active(t_span):
        return False
    found = np.atleast_1d(np.asarray(plain_copy(times), dtype=float))
    return found.size > 0 and bool(found[0] == t_span[0])


def moved(t: ndarray, start: Any, stop: Any) -> Any:
    """Return the times of steps, with active limits as the first and last."""
    return np.concatenate([np.array([start]), t[1:-1], np.array([stop])])


@overlay_in_context(integrate.odeint)
def odeint(
    ctx: Mode, func: Any, y0: Any, t: Any, args: Any = (), Dfun: Any = None, col_deriv: Any = 0,
    full_output: Any = 0, *rest: Any, rtol: Any = None, atol: Any = None, tfirst: Any = False,
    **options: Any,
) -> Any:  # fmt: skip
    """Run `odeint`."""
    names = ("ml", "mu", "rtol", "atol", "tcrit", "h0", "hmax", "hmin", "ixpr", "mxstep", "mxhnil",
             "mxordn", "mxords", "printmessg", "tfirst")  # fmt: skip
    positional = dict(zip(names, rest, strict=False))
    tfirst = positional.pop("tfirst", tfirst)
    rtol, atol = positional.pop("rtol", rtol), positional.pop("atol", atol)

    def differentiated(run: Solved, found: Any) -> Any:
        y, info = found
        if run.begin is not None:
            slope = with_further(func, tuple_of(args)), not tfirst
            is_stiff = bool(np.any(info["nje"] > 0))
            tolerances = [TOLERANCE if part is None else part for part in (rtol, atol)]
            found_y = None
            if not is_stiff:
                found_y = by_collocation(run, *slope, y0, t, y, *tolerances)
            if found_y is None:
                found_y = ctx.call(at_times, y, *slope, y0, t, is_stiff, *tolerances)
            y, info = found_y, changed(run, info, found_y) if full_output else info
        return (y, info) if full_output else y

    return solved_apart(
        ctx, differentiated, True, integrate.odeint, func, y0, t, args, Dfun, col_deriv, True,
        rtol=rtol, atol=atol, tfirst=tfirst, **positional, **options,
    )  # fmt: skip


def with_further(f: Any, further: Any) -> Any:
    """Return a right-hand side without its further arguments."""
    return (lambda a, b: f(a, b, *further)) if further else f


def by_collocation(
    run: Solved, f: Any, state_first: bool, y0: Any, t: Any, y: ndarray, rtol: Any, atol: Any
) -> Any:
    """Return LSODA's solution, in rows by time, with its derivative; None if not applicable.

    The times are constants, and the callbacks change nothing.
    """
    ctx = run.ctx
    if run.begin or not run.is_native or order(ctx) > 1 or ctx.contains_active((t, rtol, atol)):
        return None
    times = np.asarray(t, dtype=float)
    if y.shape[1] > FEW or times[0] == times[-1]:
        return None
    first = ctx.call(as_state, y0) if ctx.contains_active(y0) else as_state(y0)
    plain = np.array(unwrapped(first), dtype=float)
    along = run.evaluated(solution_along, f, state_first, plain, times, rtol, atol)
    if not along.success:
        raise unsolved(along.message, "DOP853")
    require_agreement(along.at_times, y, rtol, atol)
    y, states, computed = moved_along(run, f, state_first, first, y, along)
    require_agreement(computed, states, rtol, atol)
    return y


def as_state(y0: Any) -> Any:
    """Return an initial state as a vector."""
    return np.atleast_1d(np.asarray(y0)).ravel()


def at_times(
    y: Any, f: Any, state_first: bool, y0: Any, t: Any, is_stiff: bool, rtol: Any, atol: Any
) -> Any:
    """Return the solution of `odeint` at some times, with its derivative."""
    slope = (lambda time, y: f(y, time)) if state_first else f
    times = np.asarray(t)
    span = times[0], times[-1]
    solution = solve_by_derived(slope, span, as_state(y0), times, is_stiff, rtol, atol)
    return with_derivative_of(y, solution.T, rtol, atol)


def solve_by_derived(
    fun: Any, t_span: Any, y0: Any, times: Any, is_stiff: bool, rtol: Any, atol: Any, **given: Any
) -> Any:
    """Return the solution at some times by a method that the engine derives."""
    method = BDF if is_stiff else DOP853

    def slope(t: Any, y: Any, *further: Any) -> Any:
        return np.array(fun(t, own(y), *further))  # LSODA copies too what may be the function's own

    solution = derived_solve_ivp(slope, t_span, y0, method, times, rtol=rtol, atol=atol, **given)
    if not solution.success:
        raise unsolved(solution.message, method.__name__)
    return solution.y


def unsolved(message: str, method: str) -> SolverError:
    """Return the error where another method fails to solve the equation."""
    return SolverError(
        f"the equation could not be solved for its derivative: {message}",
        why=f"this is done by {method}, at the tolerances that were given to LSODA",
    )


def with_derivative_of(value: Any, computed: Any, rtol: Any, atol: Any) -> Any:
    """Return LSODA's solution with the derivative of another solution."""
    require_agreement(stop_gradient(computed), value, rtol, atol)
    return valued(computed, value)


def require_agreement(plain: Any, value: Any, rtol: Any, atol: Any) -> None:
    """Raise if two methods do not have the same solution."""
    if np.shape(plain) != np.shape(value) or not np.all(
        np.abs(plain - value) <= AGREEMENT * (rtol * np.max(np.abs(value)) + np.max(atol))
    ):
        raise SolverError(
            "two methods do not agree on the solution of a differential equation",
            why="LSODA computes the value, and the other method computes the derivative",
            fix="set smaller tolerances rtol and atol",
        )
