"""The finished steps of loops, and an estimate of the remaining time."""

from __future__ import annotations

from bisect import bisect_left
from time import perf_counter
from typing import Any

__all__ = ["Loops", "Runs", "remaining"]


class Loops:
    """The steps of the outermost loops of a forward pass, and where they stand on the tape."""

    def __init__(self, tape: list[Any]) -> None:
        self.tape = tape
        self.depth = 0  # of the loops that run
        self.counts = False  # whether the outermost of them counts
        self.marks: list[int] = []  # the length of the tape at the beginning of each step
        self.done = 0
        self.first = 0  # step of the loop that runs
        self.length: int | None = 0
        self.begun = self.begun_step = 0.0

    def begin(self, length: int) -> None:
        """Begin a loop of so many steps, -1 if that is not known."""
        self.depth, self.counts = 1, True
        self.first = len(self.marks)
        self.length = None if length < 0 else length
        self.begun = perf_counter()

    def begin_step(self) -> None:
        """Begin a step, which ends the one before."""
        self.done = len(self.marks)
        self.marks.append(max(len(self.tape), self.marks[-1] if self.marks else 0))
        self.begun_step = perf_counter()

    def end(self) -> None:
        """End a loop, perhaps before its last step."""
        self.depth = 0
        if self.counts:
            self.counts = False
            self.done = len(self.marks)
            self.length = self.done - self.first

    def forward(self, now: float) -> tuple[int | None, int | None, float | None]:
        """Return the steps that are done, how many there are so far, and the seconds left."""
        if not self.marks:
            return None, None, None
        if self.length is None:
            return self.done, None, None
        left = None
        if self.counts:
            left = remaining(self.begun_step - self.begun, self.done - self.first, self.length)
            left = None if left is None else max(left - (now - self.begun_step), 0.0)
        return self.done, self.first + self.length, left

    def turn_back(self) -> None:
        """Begin the reverse pass."""
        self.done = 0

    def backward(self, left: int) -> tuple[int | None, int | None]:
        """Return how many steps are reversed if `left` entries are not, and how many there are."""
        total = len(self.marks)
        if not total:
            return None, None
        self.done = max(self.done, total - bisect_left(self.marks, left))  # parts may run again
        return self.done, total


class Runs:
    """How often steps of checkpointed loops have run."""

    def __init__(self) -> None:
        self.done: Any = None  # an int as soon as there is such a loop
        self.total: int | None = 0
        self.within_step = False
        self.begun = 0.0

    def begin(self, total: int | None) -> None:
        """Begin a loop of which so many steps will run at most."""
        if self.done is None:
            self.done = 0
            self.begun = perf_counter()
        self.total = None if total is None or self.total is None else self.total + total

    def known(self, now: float) -> tuple[int, int | None, float | None]:
        """Return how many have run, how many will, and the seconds left."""
        left = None if self.total is None else remaining(now - self.begun, self.done, self.total)
        return self.done, self.total, left


def remaining(elapsed: float, done: int, total: int) -> float | None:
    """Return the time that the rest takes at the pace so far."""
    return elapsed * max(total - done, 0) / done if done else None
