"""Checkpointed loops: a few states are kept, and the steps between them run again.

References
----------
A. Griewank, A. Walther, "Algorithm 799: Revolve", ACM Transactions on Mathematical Software 26
(2000): the schedule of states that needs the fewest steps for a given number of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, Protocol

from numpy import ndarray

from mooncake_py.containers.dicts import restore_key, value_at
from mooncake_py.containers.state import old_cell, restore_cell
from mooncake_py.containers.undo import note

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

Step = Callable[[Any, int], Any]

__all__ = ["Bound", "Slots", "advance", "run_body", "run_counted", "run_while", "runs", "split"]


class Slots(Protocol):
    """Room for states, as there is some left when it is asked for."""

    def free(self, steps: int) -> tuple[int, int]:
        """Return how many states there is room for, and how many steps are recorded together.

        There is none if all of the steps are to be recorded.
        """
        ...

    def again(self) -> Slots:
        """Return the room that there will be in the reverse pass."""
        ...

    def taken(self) -> None:
        """Note that a state was kept."""
        ...


def split(count: int, slots: int) -> int:
    """Return after how many of `count` steps the second of `slots` states is to be kept.

    With s states and each step run at most r times before it is recorded, ``comb(s + r, s)``
    steps can be reversed.
    """
    sweeps = sweeps_of(count, slots)
    first = comb(slots + sweeps - 1, slots)
    return max(1, min(first, count - comb(slots + sweeps - 2, slots - 1), count - 1))


def sweeps_of(count: int, slots: int) -> int:
    """Return how often a step runs, at most, before it is recorded."""
    sweeps = 1
    while comb(slots + sweeps, slots) < count:
        sweeps += 1
    return sweeps


def runs(count: int, slots: int) -> int:
    """Return how often a step runs in all, if `count` steps are reversed with `slots` states."""
    if count < 2 or slots < 1:
        return count
    sweeps = sweeps_of(count, slots)
    return count + sweeps * count - comb(slots + sweeps, slots + 1)


def run_counted(ctx: Mode, step: Any, state: Any, items: Any, slots: int) -> Any:
    """Run ``for item in items: state = step(state, item)`` and return the state."""
    if type(items) is not range and type(items) is not ndarray:
        items = tuple(ctx.iter(items))

    def run_step(state: Any, k: int) -> Any:
        return ctx.call(step, state, ctx.getitem(items, k))

    one = counted(ctx, run_step, len(items), slots)
    return advance(ctx, one, state, 0, len(items), slots)


def run_body(ctx: Mode, body: Any, names: Any, items: Any, slots: int) -> Any:
    """Run a loop whose body is a function that binds `names`: see `rewriting.loops`."""
    items = items if type(items) is range else tuple(ctx.iter(items))
    bound = Bound(body, names)

    def run_step(exit_value: Any, k: int) -> Any:
        bound.note(ctx)
        return body(items[k])

    one = counted(ctx, run_step, len(items), slots)
    return advance(ctx, one, None, 0, len(items), slots, lambda value: value is not None)


class Bound:
    """The local and global names that a function binds, which is the body of a loop."""

    def __init__(self, body: Any, names: Any) -> None:
        free = dict(zip(body.__code__.co_freevars, body.__closure__ or (), strict=True))
        local_names, self.names = names
        self.body = body
        self.cells = [free[name] for name in local_names]
        self.others = [cell for name, cell in free.items() if name not in local_names]

    def note(self, ctx: Mode) -> None:
        """Let a part that runs without record bring them back."""
        if ctx.rehearsal is None:
            return
        ctx.rehearsal.setting.entering(self.body)
        for cell in self.cells:
            note(ctx, restore_cell, cell, old_cell(cell))
        scope = self.body.__globals__
        for name in self.names:
            note(ctx, restore_key, scope, name, value_at(scope, name))


def counted(ctx: Recording, run_step: Step, count: int, slots: int) -> Step:
    """Return a step that tells how many have run, if somebody wants to know."""
    if ctx.meter is None:
        return run_step
    return ctx.meter.counting(run_step, count if ctx.rehearsal is not None else runs(count, slots))


def advance(
    ctx: Mode,
    run_step: Step,
    state: Any,
    start: int,
    stop: int,
    slots: int | Slots,
    ends: Callable[[Any], bool] = lambda state: False,
) -> Any:
    """Run some of the steps; all but the last run again in the reverse pass.

    A state that ends the loop is returned at once.
    """
    while stop - start > 1 and ctx.rehearsal is None:
        free, together = (slots, 1) if isinstance(slots, int) else slots.free(stop - start)
        if free < 1 or stop - start <= together:
            break
        middle = start + together * split(-(-(stop - start) // together), free)
        again = slots if isinstance(slots, int) else slots.again()
        run = partial(advance, ctx, run_step, state, start, middle, again, ends)
        state = ctx.repeatable(run)
        start = middle
        if isinstance(slots, int):
            slots -= 1
        else:
            slots.taken()
        if ends(state):
            return state
    for k in range(start, stop):
        state = run_step(state, k)
        if ends(state):
            break
    return state


def run_while(ctx: Mode, step: Any, state: Any, more: Any, slots: int) -> Any:
    """Run ``while more(state): state = step(state)`` and return the state.

    As the number of steps is not known, they run in blocks, each twice as long as the one before.
    """

    def run_step(state: Any, _: int) -> Any:
        return ctx.call(step, state)

    def goes_on(state: Any) -> bool:
        return bool(ctx.truth(ctx.call(more, state)))

    def asked(state: Any, k: int) -> Any:
        goes_on(state)  # which may have effects
        return run_step(state, k)

    def block(count: list[int], length: int, state: Any) -> Any:
        """Run some steps, the first time to find out how many there are."""
        if count:
            state = advance(ctx, asked, state, 0, count[0], slots)
            if count[0] < length:
                goes_on(state)
            return state
        steps = 0
        while steps < length and goes_on(state):
            state = run_step(state, steps)
            steps += 1
        count.append(steps)
        return state

    if ctx.meter is not None:
        run_step = ctx.meter.counting(run_step, None)
    length = slots + 1
    while True:
        count: list[int] = []
        state = ctx.repeatable(partial(block, count, length, state))
        if count[0] < length:
            return state
        length *= 2
