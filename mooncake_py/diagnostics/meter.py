"""How far a derivative is: counted only while somebody wants to know.

The context of a derivative that is watched has a :class:`Meter`.  It counts entries as they are
recorded, by a function in place of `record`; on the reverse pass the context stops at intervals;
checkpointed loops count the runs of their steps.  All others have none, and pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter
from typing import Any, Literal, NamedTuple

__all__ = ["Meter", "Progress", "Reporter", "reporter"]


class Progress(NamedTuple):
    """How far a derivative is.

    Attributes
    ----------
    phase : {"forward", "reverse"}
        Which pass runs.
    entries : int
        On the forward pass, how many operations are recorded; on the reverse pass, how many are
        reversed.
    total_entries : int or None
        On the reverse pass, how many there are, as far as that is known: parts that run again
        add theirs.  None on the forward pass.
    steps : int or None
        How many steps of checkpointed loops have run, forward and again; None without such loops.
    total_steps : int or None
        How many will have run in the end, at most; None where it is not known.
    seconds : float
        Since the derivative began.
    """

    phase: Literal["forward", "reverse"]
    entries: int
    total_entries: int | None
    steps: int | None
    total_steps: int | None
    seconds: float

    def __str__(self) -> str:
        parts = [f"{part(self.entries, self.total_entries)} entries"]
        if self.steps is not None:
            parts.append(f"{part(self.steps, self.total_steps)} steps")
        return f"{self.phase}: {', '.join(parts)}"


def part(done: int, total: int | None) -> str:
    """Return how many of how many in words."""
    return f"{done:,}" if total is None else f"{done:,} of {total:,}"


class Reporter:
    """Whom to tell, and how often; nobody once it is closed."""

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
        self.steps: int | None = None
        self.total_steps: int | None = 0
        self.within_step = False
        self.begun = perf_counter()
        self.due = self.begun + to.every

    def tell(self) -> None:
        """Report the progress to the callback, but not that of derivatives it takes itself."""
        if self.to.closed:
            return
        left = len(self.tape)
        backwards = self.phase == "reverse"
        progress = Progress(
            self.phase,
            self.reversed if backwards else left,
            self.reversed + left if backwards else None,
            self.steps,
            None if self.steps is None else self.total_steps,
            perf_counter() - self.begun,
        )
        token = reporter.set(None)
        try:
            self.to.callback(progress)
        finally:
            reporter.reset(token)
        self.due = perf_counter() + self.to.every

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
        while self.tape:
            some()
            self.tell()

    def counting(
        self, run_step: Callable[[Any, int], Any], total: int | None
    ) -> Callable[[Any, int], Any]:
        """Return a step of a checkpointed loop that counts how often it runs.

        It will run `total` times at most; a loop within a step of another one does not count.
        """
        if self.within_step:
            return run_step
        known = total is not None and self.total_steps is not None
        self.total_steps = self.total_steps + total if known else None  # type: ignore[operator]
        self.steps = self.steps or 0

        def run_and_count(state: Any, k: int) -> Any:
            self.within_step = True
            try:
                state = run_step(state, k)
            finally:
                self.within_step = False
            self.steps += 1  # type: ignore[operator]
            if perf_counter() >= self.due:
                self.tell()
            return state

        return run_and_count
