"""Solvers run apart from the derivative, on plain numbers, and what their callbacks change.

What is differentiated finds the state from before the solver.  Afterwards the program finds what
the solver's callbacks have left, as in a plain call, and after the derivative all is as before.

A solver runs natively.  If its callbacks have changed anything, all of it is put back, and the
solver runs again with callbacks that are derived: so what they store has its derivative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.recomputation.rehearsal import copied
from mooncake_py.runtime.silence import run_muted, silent
from mooncake_py.solvers.added import run_added
from mooncake_py.solvers.callbacks import Calls, run_calling_back, run_noting
from mooncake_py.solvers.given import Given
from mooncake_py.solvers.quiet import quiet
from mooncake_py.solvers.run import Run, natively
from mooncake_py.solvers.sources import at, ends_of
from mooncake_py.solvers.unsettled import Iterates
from mooncake_py.tangents.memory import is_writeable
from mooncake_py.utilities.copies import plain_copy

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["solved_apart", "solved_by_user"]

Function = Callable[..., Any]


def solved_apart(
    ctx: Mode, then: Function, moves: bool, solve: Function, /, *args: Any, **kwargs: Any
) -> Any:
    """Return ``then(run, found)``, for what a solver of a library has found from plain numbers.

    `then` gives it its derivative.  `moves` says whether the points at which the solver calls back
    may depend on active data.
    """
    calm = quiet(ctx, args, kwargs)
    if calm is not None:
        found = run_muted(functools.partial(calm.solve, solve, args, kwargs))
        if found is not NotImplemented:
            with silent():
                return run_added(ctx, solve, then, calm, found)
    run = Run(ctx, solve, args, kwargs, moves=moves)

    def solve_derived() -> Any:
        run.calls = Calls()
        iterates = Iterates(ctx, name_of(solve)) if moves and run.is_active else None
        found = run_calling_back(ctx, iterates, run.calls, solve, args, kwargs)
        if iterates is not None:
            run.iterates = iterates
        elif run.calls.is_active and not run.is_active:
            run.is_active = True
            if moves:
                run.go_back()
                ctx.caches = copied(run.caches)
                before, _ = ends_of(run.draws)
                with at(before):
                    return solve_derived()
        return found

    def solve_natively() -> Any:
        if run.state.may_hide:  # callbacks that others stand for
            return natively(ctx, run.state, solve, args, kwargs)
        noting = functools.partial(run_noting, run.calls, solve)
        return natively(ctx, run.state, noting, args, kwargs)

    try:
        found = run_muted(functools.partial(run.solve, solve_natively, solve_derived))
        if run.calls.made and run.is_active:
            run.find_equation(args, kwargs)
        return run_added(ctx, solve, run.differentiate, then, found)
    finally:
        run.let_go()


def solved_by_user(
    ctx: Mode, then: Function, reads: Any, solve: Function, /, *args: Any, **kwargs: Any
) -> Any:
    """Return the same for a solver of the user's, and what `then` reads in the derivative.

    The solver must not change arrays and containers that it is given.
    """
    given = Given(None, args, kwargs)
    run = Run(ctx, solve, solve, args, kwargs, reads)
    run.still = [a for a in run.still if id(a) not in given.known]

    def solve_natively() -> Any:
        found = natively(ctx, run.state, solve, args, kwargs)
        given.refuse_changes(ctx, solve)
        return found, plain_copy(found)  # now: it may be a buffer of the solver's

    def solve_derived() -> Any:
        run.is_active = True
        found = ctx.call(solve, *args, **kwargs)
        return found, plain_copy(found)

    try:
        found, x = run.solve(solve_natively, solve_derived)
        y = run.differentiate(then, x)
        if isinstance(found, ndarray) and is_writeable(found) and run.may_hold(found):
            ctx.assign(found, Ellipsis, y)
            return found
        return y
    finally:
        run.let_go()
