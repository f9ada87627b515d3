"""Solvers run apart from the derivative, on plain numbers, and what their callbacks change.

What is differentiated finds the state from before the solver.  Afterwards the program finds what
the solver's callbacks have left, as in a plain call, and after the derivative all is as before.

A solver runs natively.  If its callbacks have changed anything, all of it is put back, and the
solver runs again with callbacks that are derived: so what they store has its derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.containers.reachable import State
from mooncake_py.recomputation.rehearsal import copied
from mooncake_py.rules.declare import contextual
from mooncake_py.solvers.callbacks import Calls, run_calling_back
from mooncake_py.solvers.given import Given
from mooncake_py.solvers.iterators import with_iterators
from mooncake_py.solvers.run import Run, natively, sample
from mooncake_py.solvers.unsettled import Iterates
from mooncake_py.tangents.memory import is_writeable
from mooncake_py.utilities.copies import plain_copy

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Start", "anew", "begin_again", "evaluated", "sampled", "solved_apart", "solved_by_user"]

Function = Callable[..., Any]
Start = list[Any] | None
"""Pairs of a place that a solver has changed, and what it held before; a call in place of the
last says where the solver has called its callback first, where that matters.

None if nothing that the solver reaches is active, so that what it has found has no derivative.
"""


def solved_apart(then: Function, moves: bool, solve: Function, /, *args: Any, **kwargs: Any) -> Any:
    """Return ``then(found, start)``, for what a solver has found from plain numbers.

    `then` is differentiated.  `moves` says whether the points at which the solver calls back may
    depend on active data.
    """
    return then(solve(*args, **kwargs), None)


@contextual(solved_apart)
def solve_inside(
    ctx: Mode, then: Function, moves: bool, solve: Function, /, *args: Any, **kwargs: Any
) -> Any:
    """Run a solver of a library."""
    run = Run(ctx, args, kwargs)

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
                return solve_derived()
        return found

    def solve_natively() -> Any:
        return natively(ctx, run.state, solve, args, kwargs)

    found = run.solve(solve_natively, solve_derived)
    if run.calls.f is not None and run.is_active:
        run.find_equation(name_of(solve), args, kwargs)
    return run.differentiate(then, found, moves)


def solved_by_user(
    then: Function, reads: Any, solve: Function, /, *args: Any, **kwargs: Any
) -> Any:
    """Return the solution of a solver of the user's, to which `then` gives its derivative.

    What `then` evaluates the program does not see.
    """
    return solve(*args, **kwargs)


@contextual(solved_by_user)
def solve_by_user_inside(
    ctx: Mode, then: Function, reads: Any, solve: Function, /, *args: Any, **kwargs: Any
) -> Any:
    """Run a solver of the user's, which must not change arrays and containers that it is given."""
    given = Given(None, args, kwargs)
    run = Run(ctx, solve, args, kwargs, reads)
    run.still = [a for a in run.still if id(a) not in given.known]

    def solve_natively() -> Any:
        found = natively(ctx, run.state, solve, args, kwargs)
        given.refuse_changes(ctx, solve)
        return found, plain_copy(found)  # now: it may be a buffer of the solver's

    def solve_derived() -> Any:
        run.is_active = True
        found = ctx.call(solve, *args, **kwargs)
        return found, plain_copy(found)

    found, x = run.solve(solve_natively, solve_derived)
    y = run.differentiate(then, x, False)
    if isinstance(found, ndarray) and is_writeable(found) and run.may_hold(found):
        ctx.assign(found, Ellipsis, y)
        return found
    return y


# For what is differentiated.


def anew(f: Function, start: Start) -> Function:
    """Return a function that runs from the state from before a solver each time."""

    def run_anew(*args: Any, **kwargs: Any) -> Any:
        begin_again(start)
        for place, call in start or ():
            if place is None:
                first, point = call
                first(*point)
        return f(*args, **kwargs)

    return run_anew


def begin_again(start: Start) -> None:
    """Go back to the state from before a solver."""
    for place, old in start or ():
        if place is not None:
            place.write(with_iterators(place, old))


@contextual(begin_again)
def begin_again_inside(ctx: Mode, start: Start) -> None:
    """Go back as a change inside a derivative, which is undone."""
    for place, old in start or ():
        if place is not None:
            place.put(ctx, with_iterators(place, old))


def evaluated(f: Function, /, *args: Any) -> Any:
    """Return ``f(*args)``, without a derivative, of a function that changes nothing by itself."""
    return f(*args)


@contextual(evaluated)
def evaluate_inside(ctx: Mode, f: Function, /, *args: Any) -> Any:
    """Evaluate natively inside a derivative, where all that is active can be found."""
    state = State(ctx, (f, args))
    if state.is_open or state.hides_active:
        return sample(ctx, f, *args)
    try:
        return natively(ctx, state, f, args, {})
    finally:
        state.put_back()


def sampled(f: Function, /, *args: Any) -> Any:
    """Return ``f(*args)``, without a derivative; what it changes is undone."""
    return f(*args)


@contextual(sampled)
def sample_inside(ctx: Mode, f: Function, /, *args: Any) -> Any:
    """Evaluate inside a derivative."""
    return sample(ctx, f, *args)
