"""The time limit for reading and compiling the parts of a program that is not compiled whole.

Such a program has a hundred functions, most of which run for microseconds: to compile each at its
first call takes seconds.  So the engine spends a fixed time on parts, and a share of the time that
the program runs.  A part beyond this limit runs as without ``compile=True``, and is tried at a
later call.  The limit for loops is higher, as they may run for any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

__all__ = ["LOOPS", "OTHERS", "Limit", "Spending", "spending"]

clock: Callable[[], float] = time.process_time
"""Tests replace it."""


class Limit(NamedTuple):
    """A limit of the time spent on parts.

    Attributes
    ----------
    at_once : float
        The fixed time, in seconds.
    share : float
        The share of the time that the program has run since the first part.
    calls : int
        The number of calls before a part is tried: a function that runs once is not compiled.
    """

    at_once: float
    share: float
    calls: int = 0


OTHERS = Limit(0.1, 0.2, 4)
LOOPS = Limit(0.3, 0.25)


class Spending:
    """The time that this process has spent on reading and compiling.

    Attributes
    ----------
    making : float
        Seconds spent on reading and compiling, whole functions included.
    parts : float
        Seconds spent on parts.
    in_vain : float
        Seconds spent on reading whole functions that cannot be compiled.
    """

    def __init__(self) -> None:
        self.making = 0.0
        self.parts = 0.0
        self.in_vain = 0.0
        self._begun: float | None = None
        self._depth = 0

    @property
    def is_unlimited(self) -> bool:
        """Whether all parts are tried."""
        return self._depth > 0

    @contextmanager
    def unlimited(self) -> Iterator[None]:
        """Try each part at its first call, as reports show what is compiled in the end."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def may_go_on(self, has_loops: bool, calls: int) -> bool:
        """Return whether a part that was met so often before may be read and compiled now."""
        if self.is_unlimited:
            return True
        limit = LOOPS if has_loops else OTHERS
        if calls < limit.calls:
            return False
        now = clock() - self.making
        if self._begun is None:
            self._begun = now
        spent = self.parts if has_loops else self.parts + self.in_vain
        return spent <= limit.at_once + limit.share * (now - self._begun)

    def took(self, before: float) -> None:
        """Add the time that a part took.

        Parameters
        ----------
        before : float
            The value of `making` before it.
        """
        self.parts += self.making - before


spending = Spending()
