"""Run a part of a program without recording, and again with recording in the reverse pass.

Instead of the entries of the part, the tape has the entries that undo it, and one entry that runs
it again.  When the reverse pass reaches this entry, every later change has been undone; the entry
undoes the part, runs and records it, passes the cotangents of the nodes of the first run to those
of the second, and leaves the new entries to the reverse pass.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.application.lift import Lifter, refuse_shared
from mooncake_py.boundary.kept import settle_kept
from mooncake_py.diagnostics.tracebacks import related
from mooncake_py.errors import CheckpointError, Location, MooncakeError
from mooncake_py.language import unfinished
from mooncake_py.recomputation.agreement import repeating
from mooncake_py.recomputation.outcome import Outcome, same_state, state_at
from mooncake_py.recomputation.places import LAYOUT, places_of
from mooncake_py.recomputation.rehearsal import Rehearsal
from mooncake_py.recomputation.setting import copied
from mooncake_py.recomputation.unreachable import unreachable
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.memory import undo_assign
from mooncake_py.runtime.silence import silent

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["pull_replay", "run_unrecorded"]

Run = Callable[[], Any]

CAUSES = (
    "a file, the clock, a generator of random numbers in compiled code, or a change\n"
    "that the engine has not seen"
)
FIX = "take the data that change as an argument, or leave the checkpoint out"


def run_unrecorded(ctx: ReverseMode, run: Run) -> Any:
    """Run a part of a program that the reverse pass will run again, and return its result."""
    start = len(ctx.tape)
    if ctx.budget is not None:
        ctx.budget.count(ctx.tape)
    rehearsal = Rehearsal(ctx)
    error: Exception | None = None
    value: Any = None
    try:
        with rehearsal:
            value = run()
            unfinished.let_go()
    except MooncakeError:
        raise
    except Exception as raised:
        error = raised
    go_on(ctx)
    ctx.ordered = {}
    if error is not None:
        return run_to_error(ctx, run, start, rehearsal, error)
    replay = Replay(ctx, run, rehearsal, len(ctx.tape) - start, value)
    ctx.record((pull_replay, replay))
    if ctx.budget is not None:
        held = [*replay.record(), *replay.arguments()]
        ctx.budget.keep_state(ctx, start, held, replay.nbytes)
    ctx.repeats = True
    return value


def run_to_error(
    ctx: ReverseMode, run: Run, start: int, rehearsal: Rehearsal, error: Exception
) -> Any:
    """Run again, and record, a part that has raised, because its exception may be handled."""
    settle_kept(ctx)  # what it has logged, which the second run does not log again
    undo(ctx, len(ctx.tape) - start)
    if ctx.failure is not None and ctx.failure.__cause__ in related(error):
        ctx.failure = None  # of going on after an error that the second run raises again
    ctx.caches = copied(rehearsal.caches)
    where = ctx.user_location()
    with rehearsal.setting.draws.again():
        try:
            with silent():
                run()  # raises
        except Exception:
            rehearsal.setting.draws.moved.refuse_carrying(ctx)
            raise
    raise ctx.failed(
        CheckpointError(
            f"a checkpointed part raised {type(error).__name__}, and not when it was run again",
            where=where,
            why=f"likely causes: {CAUSES}",
            fix=FIX,
        )
    ) from error


def go_on(ctx: ReverseMode) -> None:
    """Raise what a callback that watches the derivative has raised: no exception of the part."""
    if ctx.meter is not None:
        ctx.meter.go_on()


def undo(ctx: ReverseMode, count: int) -> None:
    """Take entries off the tape and undo their changes."""
    tape = ctx.tape
    end = len(tape) - count
    while len(tape) > end:
        entry = tape[-1]
        entry[0](entry)
        del tape[-1]


class Replay:
    """A part that was run without record; so many entries before that of this replay undo it."""

    def __init__(
        self, ctx: ReverseMode, run: Run, rehearsal: Rehearsal, undoing: int, value: Any
    ) -> None:
        self.ctx = ctx
        self.run = run
        self.caches = rehearsal.caches
        self.setting = rehearsal.setting
        self.undoing = undoing
        self.where: Location | None = ctx.user_location()
        changes = places_of(ctx.tape[len(ctx.tape) - undoing :])
        places = [p for p in changes if p.inverse not in LAYOUT]  # elements are another matter
        existing = {id(memory.ref()): memory.ref for memory in rehearsal.existing}
        self.arrays = [o for o, *_ in places if issubclass(type(o), ndarray) and id(o) in existing]
        self.places = [p for p in places if id(p[0]) not in existing]
        for a in self.arrays:
            del existing[id(a)]
        self.unchanged = existing
        self.moved = self.setting.draws.moved
        self.iterators = self.moved.carrying(ctx)
        self.main, self.changed = self.outcome(value)
        for generation in range(3):
            refusals = [o.refusal for o in self.changed if o.refusal is not None]
            if not refusals:
                break
            gc.collect(generation)  # functions that refer to themselves may lead to the objects
            entries = ctx.tape[len(ctx.tape) - undoing :]
            self.leave_out_unreachable([*entries, *self.record(), *changes, *refusals])
        for outcome in self.changed:
            outcome.require_matching()

    def record(self) -> list[Any]:
        """Return references to captured variables and iterators for the second run."""
        return [*self.setting.cells.values(), *self.moved.held_by_runs()]

    @property
    def nbytes(self) -> int:
        """About how many bytes its own records take."""
        return sum(outcome.nbytes for outcome in (self.main, *self.changed))

    def holders(self) -> list[Iterable[Any]]:
        """Return the holders of objects for the second run, each of several."""
        return [*self.places, *self.setting.cells.values(), *self.arguments()]

    def arguments(self) -> list[Iterable[Any]]:
        """Return the arguments of a call."""
        if isinstance(self.run, partial):
            return [self.run.args, list(self.run.keywords.values())]
        return []

    def given(self) -> Iterator[int]:
        """Yield the ids of numbers passed to the part, whose cotangents are no loss."""
        todo = [value for holder in self.holders()[len(self.places) :] for value in holder]
        while todo:
            value = todo.pop()
            if type(value) is Active:
                yield id(value)
            elif type(value) is tuple or type(value) is list:
                todo += value

    def leave_out_unreachable(self, holders: list[Any]) -> None:
        """Leave out the changed objects to which nothing leads but the record of their changes."""
        lost = unreachable(holders)
        kept = [k for k, place in enumerate(self.places) if id(place.o) not in lost]
        self.changed = [self.changed[k] for k in kept] + self.changed[len(self.places) :]
        self.places = [self.places[k] for k in kept]

    def outcome(self, value: Any) -> tuple[Outcome, list[Outcome]]:
        """Return the outcome of a run: of its result, and of each changed place.

        What the run has made itself is met where it is held; its own places do not count.
        """
        ctx, unchanged = self.ctx, self.unchanged
        cached = [cache.first_results() for cache in ctx.caches.values()]
        main = Outcome(ctx, (value, cached, *self.arrays), unchanged, holders=self.holders())
        main.require_matching()
        if not hasattr(self, "main"):
            self.places = [place for place in self.places if id(place[0]) not in main.seen]
        known = frozenset(main.seen)
        held = [p.o if p.inverse is undo_assign else p.read() for p in self.places]
        held += map(self.moved.held_by, self.iterators)
        holders = self.holders()
        changed = [Outcome(ctx, (value,), unchanged, known, holders) for value in held]
        return main, changed

    def again(self) -> None:
        """Undo the first run, run the part with record, and hand over the cotangents."""
        ctx = self.ctx
        undo(ctx, self.undoing)
        if ctx.budget is not None:
            ctx.budget.settle(ctx.tape)
        start = len(ctx.tape)
        lifted = Lifter.liftings, Lifter.lifted
        before = list(map(state_at, self.places))
        with self.as_before():
            with repeating(self.other), silent():
                value = self.run()
            unfinished.let_go()
            go_on(ctx)
            if ctx.failure is not None:
                raise ctx.failure
            if lifted != (Lifter.liftings, 0):
                refuse_shared(ctx, ctx.tape[start:])
            main, changed = self.outcome(value)
            for outcome in changed:
                outcome.require_matching()
            used = list(filter(self.moved.is_used, self.iterators))
        if not self.main.equals(main):
            raise self.other()
        self.main.hand_over(main)
        others: list[int] = []
        met = set(map(id, self.main.nodes))
        for i, (old, new) in enumerate(zip(self.changed, changed, strict=True)):
            if old.equals(new):
                old.hand_over(new)
                met.update(map(id, old.nodes))
            else:
                others.append(i)
        if others:
            met.update(self.given())
        for i in others:
            # An object that the first run has made, and that nothing leads to any more, stays as
            # it was before; so would one that the second run has missed, except for its cotangents.
            if i < len(before):
                untouched = same_state(before[i], state_at(self.places[i]))
            else:
                untouched = self.iterators[i - len(before)] not in used
            if not untouched or not self.changed[i].is_spent(met):
                raise self.other()
        unfinished.finish(ctx)
        settle_kept(ctx)

    @contextmanager
    def as_before(self) -> Iterator[None]:
        """Set the state that the first run has found."""
        ctx = self.ctx
        thread, ctx.thread = ctx.thread, get_ident()
        ctx.ordered = {}
        ctx.forget_lookups()  # of attributes of classes that were changed
        ctx.caches = copied(self.caches)
        try:
            with self.setting.again(keeps_bindings=True):
                ctx.load_handlers()
                yield
        finally:
            ctx.load_handlers()
            ctx.thread = thread

    def other(self, raised: Exception | None = None) -> CheckpointError:
        """Return the error for a second run with another outcome, or with an exception."""
        go_on(self.ctx)
        if raised is None:
            why = "its results or its changes are not those of the first run"
        else:
            why = f"it raised {type(raised).__name__}, and the first run did not"
        return CheckpointError(
            "the second run of a checkpointed part differs from the first",
            where=self.where,
            why=f"{why}\nlikely causes: {CAUSES}",
            fix=FIX,
        )


def pull_replay(entry: tuple[Any, ...]) -> None:
    """Run a part again and record it; its entries are reversed next.

    What it has kept is dropped at once: a collection of cycles may be far away.
    """
    entry[1].again()
    vars(entry[1]).clear()
