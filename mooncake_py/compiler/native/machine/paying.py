"""Whether better code would pay: the running time of the quick code, against the time to make it.

Some calls of each function are timed, the first, second, fourth, eighth and so on, and stand for
those since the one before.  What is called once or twice is never made better, so that programs
with many functions do not spend most of their time on that.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from mooncake_py.compiler.native.machine.background import Later

__all__ = ["LINE", "Meter", "Samples", "seconds_for"]

clock: Callable[[], float] = time.perf_counter
"""Tests replace it to decide."""

LINE = 2e-4
"""About how many seconds LLVM takes at its best level for a line of text."""
SHARE = 0.25
"""Of the time that better code takes to be made: quick code runs as long before."""


def seconds_for(text: str) -> float:
    """Return about how many seconds better code of a text takes to be made."""
    return LINE * text.count("\n")


class Meter:
    """Adds up how long the functions of one text run, and has better ones made once that pays.

    Parameters
    ----------
    seconds : float
        What these take to be made.
    later : Later
    """

    def __init__(self, seconds: float, later: Later) -> None:
        self._left = SHARE * seconds
        self._later = later

    def add(self, seconds: float) -> bool:
        """Note how long some calls took; return whether more of them are to be timed."""
        self._left -= seconds
        if self._left > 0.0:
            return True
        self._later.begin()
        return False

    def hasten(self) -> bool:
        """Have better code made now; return whether it was not before."""
        self._left = 0.0
        return self._later.begin()


class Samples:
    """The calls of one function that are timed.

    Parameters
    ----------
    meter : Meter
    """

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self._calls = 0
        self._begun = 0.0

    def begin(self) -> None:
        """Begin to time a call."""
        self._begun = clock()

    def end(self) -> int:
        """Note that it has ended; return how many calls later the next one is timed, 0 for never.

        Where several threads run the function a time may be that of another call.
        """
        new = max(1, self._calls)  # as many as before, after the first
        self._calls += new
        return self._calls if self.meter.add(new * (clock() - self._begun)) else 0
