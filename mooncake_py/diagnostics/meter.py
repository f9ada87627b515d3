"""The progress of a derivative, counted only while a callback is registered.

The context of a derivative that is watched has a :class:`Meter`.  It counts entries as they are
recorded, by a function in place of `record`; in the reverse pass the context stops at intervals;
loops of the user, in code that is rewritten for it, and checkpointed loops count their steps.  All
other contexts have none, and pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from operator import length_hint
from time import perf_counter
from typing import Any, Literal, NamedTuple

from mooncake_py.diagnostics.steps import Loops, Runs, remaining

__all__ = ["Meter", "Progress", "Reporter", "reporter"]


class Progress(NamedTuple):
    """How far a derivative is.

    Attributes
    ----------
    phase : {"forward", "reverse"}
        Which pass runs.
    entries : int
        On the forward pass, how many operations are recorded; in the reverse pass, how many are
        reversed.
    total_entries : int or None
        On the reverse pass, how many there are, as far as that is known: parts that run again
        add theirs.  None in the forward pass.
    steps : int or None
        How many steps of the outermost loops are done: in the forward pass they have run, on the
        reverse pass they are reversed.  If there are checkpointed loops, how many of their steps
        have run, forward and again.  None without loops.
    total_steps : int or None
        How many there will be in the end, as far as that is known: the loop may end early, and
        loops that have not begun add theirs.  None where it is not known.
    seconds : float
        Since the derivative began.
    seconds_left : float or None
        As estimated from what is done: of the loop that runs, or of the reverse pass; of both
        passes for checkpointed loops.  None where it is not known.
    """

    phase: Literal["forward", "reverse"]
    entries: int
    total_entries: int | None
    steps: int | None
    total_steps: int | None
    seconds: float
    seconds_left: float | None = None

    def __str__(self) -> str:
        parts = [] if self.steps is None else [f"{part(self.steps, self.total_steps)} steps"]
        parts.append(f"{part(self.entries, self.total_entries)} entries")
        if self.seconds_left is not None:
            parts.append(f"{self.seconds_left:.1f} s left")
        return f"{self.phase}: {', '.join(parts)}"


def part(done: int, total: int | None) -> str:
    """Return how many of how many in words."""
    return f"{done:,}" if total is None else f"{done:,} of {total:,}"


class Reporter:
    """The callback and its interval; without a callback once it is closed."""

    def __init__(self, callback: Callable[[Progress], object], every: float) -> None:
        self.callback = callback
        self.every = every  # at least so many seconds pass from one call to the next
        self.closed = False


reporter: ContextVar[Reporter | None] = ContextVar("mooncake_py.progress", default=None)


class Meter:
    """How far one derivative is, and when that is to be told next."""

    def __init__(self, to: Reporter, tape: list[Any]) -> None:
        self.to = to
        self.tape = tape
        self.phase: Literal["forward", "reverse"] = "forward"
        self.reversed = 0
        self.loops = Loops(tape)
        self.runs = Runs()
        self.begun = self.begun_phase = perf_counter()
        self.due = self.begun + to.every
        self.stopped: BaseException | None = None  # what the callback raised
        self.around: Callable[[Any], AbstractContextManager[None]] = nullcontext

    def tell(self) -> None:
        """Tell how far it is; derivatives that the callback takes itself are not reported."""
        if self.to.closed:
            return
        token = reporter.set(None)
        try:
            with self.around(self.to.callback):
                self.to.callback(self.progress())
        except BaseException as error:
            self.stopped = error
            raise
        finally:
            reporter.reset(token)
        self.due = perf_counter() + self.to.every

    def go_on(self) -> None:
        """Raise again what the callback raised, where the program has caught it."""
        if self.stopped is not None:
            raise self.stopped

    def progress(self) -> Progress:
        """Return how far it is."""
        now = perf_counter()
        left = len(self.tape)
        if self.phase == "forward":
            entries, total, known = left, None, self.loops.forward(now)
        else:
            entries, total = self.reversed, self.reversed + left
            steps, total_steps = self.loops.backward(left)
            known = steps, total_steps, remaining(now - self.begun_phase, entries, total)
        if self.runs.done is not None:
            known = self.runs.known(now)
        steps, total_steps, seconds_left = known
        return Progress(
            self.phase, entries, total, steps, total_steps, now - self.begun, seconds_left
        )

    def tell_if_due(self) -> None:
        """Tell how far it is if enough time has passed."""
        if perf_counter() >= self.due:
            self.tell()

    def recording(self, record: Callable[[Any], object]) -> Callable[[Any], None]:
        """Return a function that records an entry and tells when it is time."""

        def record_and_tell(entry: Any) -> None:
            record(entry)
            if perf_counter() >= self.due:
                self.tell()

        return record_and_tell

    def reverse(self, some: Callable[[], None]) -> None:
        """Reverse the tape by a function that does some entries, until it is time to tell."""
        self.tell()
        self.phase = "reverse"
        self.loops.turn_back()
        self.begun_phase = perf_counter()
        while self.tape:
            some()
            self.tell()

    # Loops of the user, called by rewritten code: see `frontend.counted_loops`.

    @property
    def is_outermost(self) -> bool:
        """Whether the steps of a loop count that begins now."""
        return not self.loops.depth and not self.runs.within_step and self.phase == "forward"

    def steps_of(self, items: Iterable[Any]) -> Iterable[Any]:
        """Return the iterable of a loop, which counts the steps if the loop is outermost."""
        return self.stepping(items) if self.is_outermost else items

    def stepping(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield items; each begins a step."""
        self.loops.begin(length_hint(items, -1))
        try:
            yield from map(self.begin_step, items)
        finally:
            self.loops.end()

    def begin_step(self, item: Any) -> Any:
        """Count a step, and return its item."""
        self.loops.begin_step()
        self.tell_if_due()
        return item

    def enter_while(self) -> None:
        """Begin a ``while`` loop."""
        if self.is_outermost:
            self.loops.begin(-1)
        else:
            self.loops.depth += 1

    def turn(self) -> None:
        """Begin a step of a ``while`` loop."""
        if self.loops.counts and self.loops.depth == 1:
            self.begin_step(None)

    def leave_while(self) -> None:
        """End a ``while`` loop."""
        if self.loops.depth == 1:
            self.loops.end()
        else:
            self.loops.depth -= 1

    # Checkpointed loops.

    def counting(
        self, run_step: Callable[[Any, int], Any], total: int | None
    ) -> Callable[[Any, int], Any]:
        """Return a step of a checkpointed loop that counts how often it runs.

        It will run `total` times at most; a loop within a step of another one does not count.
        """
        runs = self.runs
        within = self.loops.depth or (self.phase == "reverse" and runs.done is None)
        if runs.within_step or within:
            return run_step
        runs.begin(total)

        def run_and_count(state: Any, k: int) -> Any:
            runs.within_step = True
            try:
                state = run_step(state, k)
            finally:
                runs.within_step = False
            runs.done += 1
            self.tell_if_due()
            return state

        return run_and_count
