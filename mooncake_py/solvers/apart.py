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
from mooncake_py.boundary.detached import Bare
from mooncake_py.containers.holders import Place
from mooncake_py.containers.reachable import Bared, State
from mooncake_py.errors import MooncakeError
from mooncake_py.recomputation.rehearsal import copied
from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.solvers.callbacks import run_calling_back
from mooncake_py.solvers.given import Given
from mooncake_py.solvers.held_still import held_still, is_refused_view, is_refused_write
from mooncake_py.solvers.iterators import copied_iterator, with_iterators
from mooncake_py.solvers.left import Left
from mooncake_py.solvers.unsettled import Iterates
from mooncake_py.tangents.memory import is_writeable, owner
from mooncake_py.utilities.copies import plain_copy

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Start", "anew", "begin_again", "evaluated", "solved_apart", "solved_by_user"]

Function = Callable[..., Any]
Start = list[Any] | None
"""Pairs of a place that a solver has changed, and what it held before.

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
        iterates = Iterates(ctx, name_of(solve)) if moves else None
        found = run_calling_back(ctx, iterates, solve, args, kwargs)
        if iterates is not None:
            iterates.stored = [place.path for place, _ in run.state.changes()]
        return found

    found = run.solve(lambda: natively(ctx, run.state, solve, args, kwargs), solve_derived)
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
        found = ctx.call(solve, *args, **kwargs)
        return found, plain_copy(found)

    found, x = run.solve(solve_natively, solve_derived)
    y = run.differentiate(then, x, False)
    if isinstance(found, ndarray) and is_writeable(found) and run.may_hold(found):
        ctx.assign(found, Ellipsis, y)
        return found
    return y


class Run:
    """One call of a solver within a derivative, and the state that it may change."""

    def __init__(self, ctx: Mode, *values: Any) -> None:
        self.ctx = ctx
        self.state = State(ctx, values)
        self.start: list[tuple[Place, Any]] = [
            (place, place.read_within(ctx)) for place in self.state.active_arrays
        ]
        self.caches = copied(ctx.caches)
        self.end: list[tuple[Place, Any]] = []
        self.still = [a for a in self.state.known.values() if isinstance(a, ndarray)]
        if not self.state.is_active:
            self.still = []
        self.is_derived = False
        self.iterators: dict[int, Any] = {}  # copies from before the solver, by the id

    def solve(self, solve_natively: Function, solve_derived: Function) -> Any:
        """Return what a solver has found, and go back to the state from before."""
        ctx, state = self.ctx, self.state
        if not (state.is_active and state.streams):
            found, error = self.attempt(solve_natively, self.still)
            if is_refused_view(error):
                found, error = self.attempt(solve_natively, [])
            has_written = bool(self.still) and is_refused_write(error)
            changes = state.put_back()
            is_derived = has_written or (state.is_active and changes)
            is_final = isinstance(error, MooncakeError) or not isinstance(error, Exception | None)
            if is_final or not is_derived:
                self.end = changes
                if error is None:
                    return found
                put_all(ctx, changes)
                raise error
        self.is_derived = True
        found_copies = [(it, copied_iterator(it)) for it in state.streams]
        self.iterators = {id(it): new for it, new in found_copies if new is not None}
        found = solve_derived()
        changed = {id(place) for place, _ in state.changes()} | self.holding_iterators()
        self.end = [(p, p.read_within(ctx)) for p, _ in state.kept if id(p) in changed]
        self.caches, ctx.caches = ctx.caches, self.caches
        put_all(ctx, self.before(changed))
        return found

    def attempt(self, solve: Function, still: list[ndarray]) -> tuple[Any, BaseException | None]:
        """Return what a solver finds, or the exception that it raises, with arrays read-only."""
        try:
            with held_still(still):
                return solve(), None
        except BaseException as raised:
            return None, raised

    def before(self, chosen: set[int]) -> list[tuple[Place, Any]]:
        """Return what places held before the solver, with its derivatives."""
        known = {id(place): (place, old) for place, old in self.start}
        found = [known.get(id(p), (p, old)) for p, old in self.state.kept if id(p) in chosen]
        if not self.iterators:
            return found
        return [(place, with_iterators(place, old, self.iterators)) for place, old in found]

    def holding_iterators(self) -> set[int]:
        """Return the ids of the places that hold iterators of which there are copies."""
        if not self.iterators:
            return set()
        return {
            id(p) for p, old in self.state.kept if with_iterators(p, old, self.iterators) is not old
        }

    def differentiate(self, then: Function, found: Any, moves: bool) -> Any:
        """Return ``then(found, start)``, and bring forth what the solver has left."""
        ctx = self.ctx
        changed = {id(place) for place, _ in self.end}
        start = [list(pair) for pair in self.before(changed)] if self.state.is_active else None
        result = ctx.call(then, found, start)
        others = {id(place) for place, _ in self.state.changes()} - changed
        self.iterators = {}
        put_all(ctx, self.before(others))
        if moves and self.is_derived:
            found_left = Left(ctx, self.state.known)
            self.end = [
                (place, found_left.contents(place, left, place.read_within(ctx)))
                for place, left in self.end
            ]
        put_all(ctx, self.end)
        if self.is_derived:
            ctx.caches = self.caches
        return result

    def may_hold(self, a: ndarray) -> bool:
        """Return whether an array that the solver has returned may be held elsewhere."""
        return self.is_derived or id(owner(a)) in self.state.known


def put_all(ctx: Mode, contents: list[tuple[Place, Any]]) -> None:
    """Set what some places hold."""
    for place, held in contents:
        place.put(ctx, held)


def natively(ctx: Mode, state: State, f: Function, args: Any, kwargs: Any) -> Any:
    """Run a function natively, with plain numbers for active ones in what it can reach."""
    with ctx.outside(), enclosed(None), Bared(state.kept), Bare(ctx) as bare:
        f, args, kwargs = (bare.visit(part)[0] for part in (f, args, kwargs))
        return f(*args, **kwargs)


# For what is differentiated.


def anew(f: Function, start: Start) -> Function:
    """Return a function that runs from the state from before a solver each time."""

    def run_anew(*args: Any, **kwargs: Any) -> Any:
        begin_again(start)
        return f(*args, **kwargs)

    return run_anew


def begin_again(start: Start) -> None:
    """Go back to the state from before a solver."""
    for place, old in start or ():
        place.write(with_iterators(place, old))


@contextual(begin_again)
def begin_again_inside(ctx: Mode, start: Start) -> None:
    """Go back as a change inside a derivative, which is undone."""
    for place, old in start or ():
        place.put(ctx, with_iterators(place, old))


def evaluated(f: Function, /, *args: Any) -> Any:
    """Return ``f(*args)``, without a derivative; what it changes is undone."""
    return f(*args)


@contextual(evaluated)
def evaluate_inside(ctx: Mode, f: Function, /, *args: Any) -> Any:
    """Evaluate natively inside a derivative."""
    state = State(ctx, (f, args))
    try:
        return natively(ctx, state, f, args, {})
    finally:
        state.put_back()
