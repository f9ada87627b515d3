"""One run of a solver within a derivative: on plain numbers, or with derived callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.boundary.arguments import name_of
from mooncake_py.boundary.detached import Bare
from mooncake_py.containers.bared import Bared
from mooncake_py.containers.holders import Place
from mooncake_py.containers.reachable import Reachable, State
from mooncake_py.diagnostics.notes import located
from mooncake_py.errors import DerivativeDropError, MooncakeError
from mooncake_py.language.draws import Draws
from mooncake_py.language.moved import ExhaustedError
from mooncake_py.overriding import override
from mooncake_py.recomputation.rehearsal import copied
from mooncake_py.runtime.activity import is_iterator
from mooncake_py.runtime.classes import recorder
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.runtime.silence import Deferred, silent
from mooncake_py.solvers.added import is_raised_by_name
from mooncake_py.solvers.callbacks import Calls
from mooncake_py.solvers.counts import counted
from mooncake_py.solvers.held_still import held_still, is_refused_view
from mooncake_py.solvers.history import agree, depends_on_history, first_calls, takes_more_items
from mooncake_py.solvers.left import Left
from mooncake_py.solvers.logged import Logged
from mooncake_py.solvers.noted import ErrorState, in_order
from mooncake_py.solvers.sources import at, ends_of
from mooncake_py.solvers.start import Solved, own
from mooncake_py.solvers.unsettled import Iterates
from mooncake_py.tangents.memory import owner
from mooncake_py.utilities.copies import plain_copy

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Run", "natively", "put_all", "sample"]

Function = Callable[..., Any]


class Run(Solved):
    """One call of a solver within a derivative, and the state that it may change.

    If its callbacks may reach more than was found, what they change is found in what they record,
    and whether anything is active by running them.

    Parameters
    ----------
    ctx : Mode
    solver : callable
    *values : object
        What the solver and its callbacks may reach.
    moves : bool
        Whether the points at which the solver calls back may depend on active data.
    """

    def __init__(self, ctx: Mode, solver: Function, *values: Any, moves: bool = False) -> None:
        super().__init__(ctx)
        self.solver, self.moves = solver, moves
        self.state = state_of(ctx, values)
        self.is_active = self.state.is_active
        if self.state.is_open:  # they may write into any array
            self.state = State(ctx, (*values, recorder(ctx).registry.seen()))
            self.state.keep(ErrorState())
        self.start: list[tuple[Place, Any]] = [
            (place, place.read_within(ctx))
            for place in self.state.active_arrays
            if not is_of_records(place)
        ]
        self.caches = copied(ctx.caches)
        self.draws = Draws(stays=True)
        self.end: list[tuple[Place, Any]] = []
        self.plain_end: list[tuple[Place, Any]] | None = None  # of a run on plain numbers
        self.still = [a for a in self.state.known.values() if isinstance(a, ndarray)]
        if not self.is_active:
            self.still = []
        self.is_derived = False
        self.touched: set[int] = set()  # places that callbacks have changed, perhaps to and fro
        self.calls = Calls()
        self.iterates: Iterates | None = None
        self.is_free = False  # callbacks only count, which their values do not depend on
        self.first: list[list[Any]] = []  # calls that come before those at the solution

    def runs_natively(self) -> bool:
        """Return whether plain calls of the callbacks can be undone."""
        return can_be_undone(self.state, self.is_active)

    def solve(self, solve_natively: Function, solve_derived: Function) -> Any:
        """Return a solver's result, and go back to the state from before."""
        ctx, state = self.ctx, self.state
        if self.runs_natively():
            failure = ctx.failure
            warned = Deferred()
            with warned:
                found, error = self.attempt(solve_natively, self.still)
            if is_refused_view(error):
                warned = Deferred()
                with warned:
                    found, error = self.attempt(solve_natively, [])
            changes = state.put_back()
            self.plain_end = changes if error is None else None
            has_met = self.is_active and may_have_met_active(error)
            # An error may be that of a refused write, or carry numbers out of a callback.
            is_derived = self.is_active and (isinstance(error, Exception) or changes)
            is_final = isinstance(error, MooncakeError) or not isinstance(error, Exception | None)
            if is_derived and error is None and self.only_counts(changes):
                warned.show()
                return found
            if (is_final and not has_met) or not is_derived:
                self.end = changes
                warned.show()
                if error is None:
                    return found
                put_all(ctx, changes)
                raise error
            ctx.failure = failure
        self.is_derived = True
        log = Logged(ctx, state)
        moves_iterators = state.is_open or any(is_iterator(type(it)) for it in state.streams)
        for source in state.shared:  # of which compiled code may not tell
            self.draws.note(source)
        with log, self.draws if moves_iterators else self.draws.of_numbers():
            found = solve_derived()
        self.before, self.after = ends_of(self.draws)
        self.touched = log.touched
        changed = self.changed()
        self.end = [(p, p.read_within(ctx)) for p, _ in state.kept if id(p) in changed]
        if self.iterates is not None:
            self.iterates.stored = [place.path for place, _ in self.end]
        self.caches, ctx.caches = ctx.caches, self.caches
        put_all(ctx, self.contents_before(changed))
        return found

    def only_counts(self, changes: list[tuple[Place, Any]]) -> bool:
        """Return whether callbacks need not be derived for what they have changed."""
        made = list(self.calls.made.values())
        if self.state.may_hide or len(made) > 1:
            return False
        before = {id(place): old for place, old in self.state.kept}
        ends = [(place, now, before[id(place)]) for place, now in changes]
        end = counted(ends, self.calls.points, self.mark)
        if end is not None and made and made[0].other:
            other = made[0].f, made[0].other
            values = self.values_after((True, other), (False, other))
            end = end if values and agree(*values) else None
        if end is None:
            self.iterates = None
            return False
        self.end, self.is_free = end, bool(made)
        return True

    def mark(self, x: float) -> Any:
        """Return a point of the solver without a known derivative, if its points may have one."""
        if self.iterates is None and self.moves:
            self.iterates = Iterates(self.ctx, name_of(self.solver))
        return x if self.iterates is None else self.iterates.mark(x)

    def go_back(self) -> None:
        """Undo what the callbacks have changed."""
        put_all(self.ctx, self.contents_before(self.changed()))

    def changed(self) -> set[int]:
        """Return the ids of the places that the callbacks have changed."""
        return {id(place) for place, _ in self.state.changes()} | self.touched

    def find_equation(self, args: Any, kwargs: Any) -> None:
        """Find out whether the callbacks must be called where the solver has called them first."""
        ctx, made = self.ctx, list(self.calls.made.values())
        if not (self.is_derived and (self.end or self.before) and made[0].other):
            return
        other = made[0].f, made[0].other
        first = [(call.f, call.first) for call in made]
        values = self.values_after((True, other), (False, other), (False, *first, other))
        if values is None:
            return
        left, before, after_first = values
        is_as_before = agree(left, before)
        if agree(left, after_first):
            self.first = first_calls(ctx, made, args, kwargs, is_as_before)
        elif not is_as_before:
            raise located(ctx, depends_on_history(ctx, name_of(self.solver)))

    def values_after(self, *starts: Any) -> list[Any] | None:
        """Return values of callbacks, each from whether the solver has run and some calls.

        None if one raises, as it is called outside of where the solver goes, perhaps.
        """
        failure = self.ctx.failure
        try:
            with silent():
                return [self.value_after(*start) for start in starts]
        except Exception:
            self.ctx.failure = failure
            return None

    def value_after(self, has_run: bool, *calls: Any) -> Any:
        """Return the result of the last of some calls of callbacks, before the solver or after."""
        if self.plain_end is None:
            return self.sample_after(has_run, calls)
        changes = self.plain_end if has_run else []
        for place, held in in_order(changes):
            place.write(held)
        try:
            return natively(
                self.ctx, self.state.with_changes(changes), called_in_turn, (calls,), {}
            )
        finally:
            self.state.put_back()

    def sample_after(self, has_run: bool, calls: Any) -> Any:
        """Return the same where callbacks are derived.

        Afterwards it is what it has returned to the solver if nothing is left of an iterator.
        """
        put_all(self.ctx, self.end if has_run else [])
        try:
            with at(self.after if has_run else self.before):
                return sample(self.ctx, called_in_turn, calls)
        except (ExhaustedError, StopIteration):
            if not has_run:
                raise
            return next(iter(self.calls.made.values())).other_value
        finally:
            self.go_back()

    def attempt(self, solve: Function, still: list[ndarray]) -> tuple[Any, BaseException | None]:
        """Return a solver's result, or the exception that it raises, with arrays read-only."""
        try:
            with held_still(still):
                return solve(), None
        except BaseException as raised:
            return None, raised

    def contents_before(self, chosen: set[int]) -> list[tuple[Place, Any]]:
        """Return the contents of places before the solver, with their derivatives."""
        for place in self.state.active_arrays:
            if is_of_records(place) and id(place) in chosen:
                place.read_within(self.ctx)  # raises: of records the engine makes no copy
        known = {id(place): (place, old) for place, old in self.start}
        return [known.get(id(p), (p, old)) for p, old in self.state.kept if id(p) in chosen]

    def differentiate(self, then: Function, found: Any) -> Any:
        """Return ``then(run, found)``, and bring forth what the solver has left."""
        ctx = self.ctx
        changed = {id(place) for place, _ in self.end}
        if self.is_active and self.is_free:
            self.begin = []
        elif self.is_active:
            self.begin = [list(pair) for pair in self.contents_before(changed)]
            self.left = [list(pair) for pair in self.end]
            self.begin.extend([None, call] for call in self.first)
        with silent(), at(self.before):
            try:
                for f, first, _ in self.first:
                    ctx.call(f, *map(own, first))
                result = then(self, found)
            except (ExhaustedError, StopIteration) as error:
                if self.before is None or is_raised_by_name(error):
                    raise
                raise located(ctx, takes_more_items(ctx)) from error
        others = {id(place) for place, _ in self.state.changes()} - changed
        if self.moves and (self.is_derived or self.iterates):
            self.end = self.end_with_slopes()
        put_all(ctx, [*self.contents_before(others), *self.end])
        if self.is_derived:
            ctx.caches = self.caches
        return result

    def end_with_slopes(self) -> list[tuple[Place, Any]]:
        """Return the state that the solver leaves, with the derivatives at its result."""
        ctx = self.ctx
        holders = {id(place.holder): place.holder for place, _ in self.state.kept}
        found = Left(ctx, {**self.state.known, **holders})
        return [(p, found.contents(p, left, p.read_within(ctx))) for p, left in self.end]

    def let_go(self) -> None:
        """Hold nothing of the program's any more: weak references tell what is alive."""
        self.state.let_go()
        self.calls.made.clear()
        self.calls.functions.clear()
        self.calls.points.clear()
        for pairs in (
            self.start,
            self.end,
            self.plain_end or [],
            self.first,
            self.left,
            self.begin or [],
        ):
            pairs.clear()
        self.still, self.draws = [], Draws()

    @property
    @override
    def stores(self) -> bool:
        return bool(self.begin) or self.iterates is not None

    @property
    @override
    def is_native(self) -> bool:
        return not self.is_derived and self.runs_natively()

    @override
    def evaluated(self, f: Function, /, *args: Any) -> Any:
        ctx, state = self.ctx, self.state
        if self.is_free:  # they reach what they did before, and no more
            state = state.as_it_is()
        elif self.end or not self.runs_natively() or state.changes():
            state = state_of(ctx, (f, args))
        try:
            if not can_be_undone(state, True):
                with at(self.before):
                    return sample(ctx, f, *args)
            try:
                return natively(ctx, state, f, args, {})
            finally:
                state.put_back()
        finally:
            if state is not self.state and not self.is_free:
                state.let_go()

    @override
    def knows(self, a: ndarray) -> bool:
        return id(owner(a)) in self.state.known

    def may_hold(self, a: ndarray) -> bool:
        """Return whether an array that the solver has returned may be held elsewhere."""
        return self.is_derived or self.knows(a)


def can_be_undone(state: State, is_active: bool) -> bool:
    """Return whether what plain calls do to a state can be undone, and is not seen."""
    if state.is_open or state.hides_active or state.hides_writes or state.fills_caches:
        return False
    return not (is_active and (state.streams or state.prints))


def is_of_records(place: Place) -> bool:
    """Return whether an array has fields."""
    return place.holder.dtype.kind == "V"


def put_all(ctx: Mode, contents: list[tuple[Place, Any]]) -> None:
    """Set what some places hold."""
    for place, held in in_order(contents):
        place.put(ctx, held)


def state_of(ctx: Mode, values: Any) -> State:
    """Return the values reachable from some values, and whether these hide active numbers.

    As of a class within a class, or of a slice: there no plain numbers can stand for them.
    """
    state = State(ctx, values)
    may_hide = state.has_numbers and state.may_hide
    if may_hide and not (state.is_open or state.hides_active):
        with Bared(state.kept), Bare(ctx) as bare:
            plain = [bare.visit(value)[0] for value in values]
            found = Reachable(ctx, plain)
            state.hides_active = found.has_numbers
            found.known.clear()
    return state


def natively(ctx: Mode, state: State, f: Function, args: Any, kwargs: Any) -> Any:
    """Run a function natively, with plain numbers for active ones in what it can reach."""
    with ctx.outside(), enclosed(None), Bared(state.kept):
        if state.is_in_places:
            return f(*args, **kwargs)
        with Bare(ctx) as bare:
            f, args, kwargs = (bare.visit(part)[0] for part in (f, args, kwargs))
            return f(*args, **kwargs)


def may_have_met_active(error: BaseException | None) -> bool:
    """Return whether an error may be that of native code that has met an active number."""
    return isinstance(error, (DerivativeDropError, SystemError, TypeError))


def sample(ctx: Mode, f: Function, *args: Any) -> Any:
    """Return ``f(*args)`` without a derivative, natively if what it changes can be undone then."""
    run = Run(ctx, f, f, args)
    try:
        if run.runs_natively():
            try:
                return natively(ctx, run.state, f, args, {})
            finally:
                run.state.put_back()
        try:
            with Logged(ctx, run.state), run.draws.of_numbers():
                return plain_copy(ctx.call(f, *args))
        finally:
            run.go_back()
            run.draws.rewind()
            ctx.caches = run.caches
    finally:
        run.let_go()


def called_in_turn(calls: Any) -> Any:
    """Return the result of the last of some calls."""
    y = None
    for f, point in calls:
        y = f(*map(own, point))
    return y
