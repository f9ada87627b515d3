"""Loops within a budget of memory: what fits is recorded, and the rest is checkpointed.

The first passes of a loop are recorded and measured.  If all of them would fit into what is left,
they are recorded, and measured again now and then.  Else what follows runs in chunks of passes that
run again in the reverse pass, by the schedule of `loop`: the number of states is what there is room
for, each time that one is to be kept.  Where the number of passes is not known beforehand, they run
in blocks, each twice as long as the one before.

Loops within a pass are watched in its first run only, unless they are checkpointed themselves.

References
----------
A. Griewank, A. Walther, "Algorithm 799: Revolve", ACM Transactions on Mathematical Software 26
(2000).  P. Stumm, A. Walther, "New algorithms for optimal online checkpointing", SIAM Journal on
Scientific Computing 32 (2010), has schedules for unknown numbers of steps that need fewer runs than
blocks do, and move states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import islice
from math import comb
from time import perf_counter
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.errors import MemoryBudgetError
from mooncake_py.recomputation.loop import Bound, advance, runs
from mooncake_py.recomputation.plan import Plan
from mooncake_py.runtime.allowance import ENDLESS, all_passes, in_units

if TYPE_CHECKING:
    from mooncake_py.recomputation.budget import Budget
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["run_within_budget"]

RECORDED = 0.75
"""Share of what is left that a loop may use which is recorded; other loops may follow."""
NESTED = 0.25
"""Share of what is left for a pass that others follow."""
FORWARD = 0.5
"""Share of what is left for the states of the forward pass; the reverse pass has all of it."""
MARGIN = 1.25
"""More than was measured."""
COTANGENTS = 1.0
"""Of a pass, in units of what it keeps."""
WORTH = 1e-3
"""Seconds that a chunk should take: a checkpoint takes a tenth of that."""
SWEEPS = 3
MOST_BLOCKS = 50
LEAST_STATE = 2048
MOST_SLOTS = 10_000

Body = Callable[..., Any]


def run_within_budget(ctx: ReverseMode, body: Body, names: Any, kind: str, items: Any) -> Any:
    """Run a loop by a function that runs some of its passes; return how the last of them ended."""
    budget: Budget = ctx.budget
    if budget.is_small(body.__code__):
        with budget.within(1.0, watches=False):
            return body(*all_passes(kind, items))
    budget.count(ctx.tape)
    before = budget.used
    plan = Plan(ctx.user_location())
    budget.plans.append(plan)
    passes = Passes(ctx, body, names, kind, items)
    budget.hold((items, passes.bound.others))
    if passes.is_readable:
        value = Watched(ctx, passes, plan).run()
    else:
        plan.why = f"its items are not in a list, a tuple, an array or a range: {passes.named()}"
        value = body(items)
        budget.count(ctx.tape)
    plan.kept = budget.used - before
    if plan.why and budget.used > budget.total:
        raise ctx.failed(budget.exceeded(plan.where, plan.excuse(), budget.used * MARGIN))
    budget.note_size(body.__code__, plan.kept)
    return value


class Passes:
    """The passes of a loop, of which some can be run."""

    def __init__(self, ctx: ReverseMode, body: Body, names: Any, kind: str, items: Any) -> None:
        self.ctx = ctx
        self.body = body
        self.bound = Bound(body, names)
        self.kind = kind
        self.items = items
        self.first: int | None = None  # number of the items, if they are numbered
        if type(items) is enumerate:
            self.items, self.first = numbered(items)

    @property
    def is_readable(self) -> bool:
        """Whether the items can be read again."""
        return self.kind != "items" or type(self.items) in (list, tuple, range, ndarray)

    @property
    def count(self) -> int | None:
        """How many there are, as far as is known now."""
        return None if self.kind == "while" else len(self.items)

    def named(self) -> str:
        """Return the name of the class of the items."""
        return type(self.items).__name__

    def some(self, start: int, stop: int) -> Iterable[Any]:
        """Return some items; a list may change while it is gone through."""
        if type(self.items) is not list:
            return self.items[start:stop]
        iterator: Any = iter(self.items)
        iterator.__setstate__(start)
        return islice(iterator, stop - start)

    def run(self, start: int, stop: int) -> Any:
        """Run the passes from `start` to `stop`; return None if the loop goes on."""
        self.bound.note(self.ctx)
        if self.kind == "while":
            return self.body(start, stop, 1)
        if self.first is not None:
            return self.body(enumerate(self.some(start, stop), self.first + start))
        items = self.items
        if type(items) is list:  # which the passes may change
            return self.body(self.some(start, stop))
        if type(items) is ndarray:
            return self.body(self.ctx.getitem(items, slice(start, stop)))
        some = items[start:stop]
        return self.body(*all_passes(self.kind, some))


def numbered(items: enumerate[Any]) -> tuple[Any, int | None]:
    """Return the items of ``enumerate`` and its first number; itself if they are unknown."""
    parts: Any = items.__reduce__()[1]
    iterator, first = parts
    if type(iterator) not in ITERATORS:
        return items, None
    _, (held, *_), *place = iterator.__reduce__()
    return (held, first) if place in ([], [None], [0]) else (items, None)


ITERATORS = frozenset(map(type, (iter([]), iter(()), iter(range(0)))))


class Watched:
    """A loop that is measured, and checkpointed if need be."""

    def __init__(self, ctx: ReverseMode, passes: Passes, plan: Plan) -> None:
        self.ctx = ctx
        self.budget: Budget = ctx.budget
        self.passes = passes
        self.plan = plan
        self.done = 0
        self.seconds = 0.0  # of a pass
        self.is_deep = False  # whether loops within a pass are checkpointed
        self.room = self.budget.left  # before the loop

    def run(self) -> Any:
        """Run the loop."""
        piece = 1
        value: Any = None
        while not self.is_at_end():
            if self.done > 1 and not self.would_fit(piece):
                return self.checkpointed()
            if self.done > 1 and piece > 1:
                value = self.recorded(self.bounded(piece - 1))
                if value is not None or self.is_at_end():
                    return value
            value = self.measured()
            if value is not None:
                return value
            piece *= 2
        return value

    def is_at_end(self) -> bool:
        """Return whether no pass is left."""
        count = self.passes.count
        return count is not None and self.done >= count

    def rest(self) -> int | None:
        """Return how many passes are left."""
        count = self.passes.count
        return None if count is None else count - self.done

    def bounded(self, passes: int) -> int:
        """Return a number of passes that are left."""
        rest = self.rest()
        return passes if rest is None else min(passes, rest)

    def would_fit(self, piece: int) -> bool:
        """Return whether the passes that follow can be recorded."""
        rest = self.rest()
        if rest is not None:
            return self.plan.cost * rest <= RECORDED * self.budget.left
        return self.plan.cost * piece <= FORWARD * self.budget.left - 4 * self.plan.cost

    def measured(self) -> Any:
        """Record a pass and measure it."""
        budget, first = self.budget, self.done == 0
        before, plans = budget.used, len(budget.plans)
        share = 1.0 if self.rest() == 1 else NESTED
        begin = perf_counter()
        with budget.within(share, watches=first or self.is_deep):
            value = self.passes.run(self.done, self.done + 1)
            self.seconds = perf_counter() - begin
            budget.count(self.ctx.tape)
        if first:
            self.is_deep = any(p.recorded is not None for p in budget.plans[plans:])
        self.plan.cost = budget.used - before
        self.done += 1
        self.plan.passes = self.done
        if budget.left < 0:
            raise self.exceeded()
        return value

    def recorded(self, passes: int) -> Any:
        """Record some passes, each as large as the last one, until they are measured."""
        budget = self.budget
        before = budget.used
        with budget.within(1.0, watches=self.is_deep):
            value = self.passes.run(self.done, self.done + passes)
        if not self.is_deep:
            found = before + self.plan.cost * passes - budget.used
            budget.count(self.ctx.tape, given=max(0.0, found))
        self.done += passes
        self.plan.passes = self.done
        return value

    # Checkpoints.

    def checkpointed(self) -> Any:
        """Run the passes that are left in chunks, which run again in the reverse pass."""
        self.plan.recorded = self.done
        self.plan.chunk = self.chunk()
        if Room(self).unit(1) + LEAST_STATE > self.budget.left:
            raise self.exceeded()
        value: Any = None
        for _ in range(2):  # the first state may share what is on the tape
            rest = self.units()
            if rest is not None and rest < 3:
                break
            value = self.block(1)
            if value is not None:
                return value
        rest = self.units()
        return self.blocks() if rest is None else self.in_units(rest)

    def chunk(self) -> int:
        """Return how many passes are recorded together: they take some time, and not much room."""
        if self.is_deep:
            return 1
        fits = int(self.budget.left / 8 / max(self.plan.cost, 1.0))
        return max(1, min(int(WORTH / max(self.seconds, 1e-7)) + 1, fits, self.bounded(fits) // 4))

    def units(self) -> int | None:
        """Return how many chunks are left."""
        rest = self.rest()
        return None if rest is None else -(-rest // self.plan.chunk)

    def stepping(self) -> Callable[[Any, int], Any]:
        """Return a function that runs a chunk from here, by its number."""
        start, chunk = self.done, self.plan.chunk

        def run_unit(_: Any, k: int) -> Any:
            first = start + k * chunk
            stop = first + chunk
            count = self.passes.count
            with self.budget.within(1.0, watches=self.is_deep):
                return self.passes.run(first, stop if count is None else min(stop, count))

        return run_unit

    def in_units(self, count: int) -> Any:
        """Run some chunks; a list may have grown meanwhile."""
        value = None
        while count and value is None:
            slots = Room(self)
            value = advance(self.ctx, self.stepping(), None, 0, count, slots, is_end)
            self.moved(count)
            count = self.units() or 0
        return value

    def moved(self, units: int) -> None:
        """Note that some chunks have run."""
        self.done += self.bounded(units * self.plan.chunk)
        self.plan.passes = self.done

    def block(self, units: int) -> Any:
        """Run some chunks as a part that runs again; return how the last one ended."""
        run_unit, done = self.stepping(), [0]

        def run() -> Any:
            slots = Room(self, in_reverse=True)
            if done[0]:
                return advance(self.ctx, run_unit, None, 0, done[0], slots, is_end)
            value: Any = None
            while done[0] < units and value is None:
                value = run_unit(None, done[0])
                done[0] += 1
            return value

        value = self.ctx.repeatable(run)
        self.moved(done[0])
        Room(self).taken()
        return value

    def blocks(self) -> Any:
        """Run blocks of chunks until the loop ends."""
        free, _ = Room(self).free(ENDLESS)
        units = comb(free + 2, 2)
        while True:
            value = self.block(units)
            if value is not None:
                return value
            units *= 2

    def exceeded(self) -> MemoryBudgetError:
        """Return the error for a loop that does not fit, also with checkpoints."""
        plan, budget = self.plan, self.budget
        state = max(plan.state, LEAST_STATE)
        need = plan.cost * (2 + 2 * MARGIN) + 8 * state
        total = budget.total * MARGIN + max(0.0, need - self.room) * budget.scale
        states = f", a state {in_units(plan.state)}" if plan.states else ""
        return self.ctx.failed(
            budget.exceeded(
                plan.where,
                f"a pass of this loop keeps {in_units(plan.cost)}{states}, and "
                f"{in_units(max(self.room, 0.0))} were left before it",
                total,
            )
        )


def is_end(value: Any) -> bool:
    """Return whether a loop has ended, by ``break``, ``return``, or its condition."""
    return value is not None


def enough(steps: int) -> int:
    """Return how many states the forward pass needs at most: the reverse pass adds its own.

    With them a step runs `SWEEPS` times at most before it is recorded.
    """
    slots = 1
    while slots < MOST_BLOCKS and comb(slots + SWEEPS, SWEEPS) < steps:
        slots += 1
    return slots


class Room:
    """Room for the states of a loop: see `loop.Slots`."""

    def __init__(self, loop: Watched, in_reverse: bool = False) -> None:
        self.loop = loop
        self.in_reverse = in_reverse

    def unit(self, chunks: int) -> float:
        """Return the bytes that some chunks keep, and their cotangents."""
        return self.loop.plan.cost * (chunks * self.loop.plan.chunk + COTANGENTS)

    def free(self, steps: int) -> tuple[int, int]:
        """Return how many states there is room for, and how many chunks are recorded together."""
        left = self.loop.budget.left
        if self.in_reverse and not self.loop.is_deep:
            return self.best(steps, left)
        free = self.states(left, 1)
        if free < 1 and self.unit(steps) > left:
            raise self.loop.exceeded()
        if not self.in_reverse:
            free = min(max(min(free, 1), self.states(FORWARD * left, 1)), enough(steps))
        return min(free, MOST_SLOTS), 1

    def best(self, steps: int, left: float) -> tuple[int, int]:
        """Return the same for the fewest runs: what is recorded together leaves less for states."""
        if self.unit(steps) <= left:
            return 0, steps
        found, least, together = (0, 1), math.inf, 1
        while together < steps and (free := self.states(left, together)) > 0:
            count = runs(-(-steps // together), min(free, MOST_SLOTS)) * together
            if count < least:
                found, least = (min(free, MOST_SLOTS), together), count
            together *= 2
        if not found[0]:
            raise self.loop.exceeded()
        return found

    def states(self, left: float, together: int) -> int:
        """Return how many states there is room for besides some chunks that are recorded."""
        return int((left - self.unit(together)) / max(self.loop.plan.state, LEAST_STATE))

    def again(self) -> Room:
        """Return the room that there will be in the reverse pass."""
        return Room(self.loop, in_reverse=True)

    def taken(self) -> None:
        """Note that a state was kept, and how large it is."""
        plan = self.loop.plan
        measured = self.loop.budget.last_state
        # The first one may hold what others share.
        plan.state = measured if plan.states < 2 else max(plan.state, measured)
        if not self.in_reverse:
            plan.states += 1
