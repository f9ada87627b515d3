"""Whether a function runs faster as compiled code than by its derived form, as its calls show.

A call of compiled code takes tens of microseconds to match, to pass and to record: more than all
that a method of three lines does.  After a few calls some run either way in turn, and are timed;
where compiled code takes longer the function is left to its derived form from then on.  A function
that could not be compiled for what it was called with is asked again ever more seldom.

Times are those of the forward pass, of which compiled code must save a good part.  They decide on
speed alone: results are those of either way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mooncake_py.compiler.sites.trials import is_repeated

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["COMPILED", "PLAINLY", "TIMED", "TIMED_PLAINLY", "Pace"]

clock: Callable[[], float] = time.perf_counter
"""Tests replace it to decide."""

FIRST = 10  # calls before any is timed: forms are made, and code is loaded
SAMPLES = 8  # of each way: the first plain ones meet what is new to their sites
LONG = 3e-4  # seconds of a call from which on what surrounds it does not matter
GAIN = 0.6  # of the time of the derived form: on the way back compiled code costs more beside it
SLOWER = 2.0  # than compiled code was: a function is no longer left after some such calls in a row
STRIKES = 4
WATCHED = 8  # of so many calls of what is left one is timed


COMPILED, TIMED, TIMED_PLAINLY, PLAINLY = range(4)
"""How a call runs: as compiled code if that can be, so and timed, or by the derived form."""


class Pace:
    """The pace of one function in one mode.

    Where parts of a call run twice nothing is tried, and nothing changes any more: the second run
    must do what the first one did.

    Attributes
    ----------
    is_left : bool
        Whether the function is left to its derived form.
    rest : int
        How many calls of such a function follow of which none is timed.
    """

    __slots__ = (
        "_calls",
        "_compiled",
        "_is_decided",
        "_is_kept",
        "_limit",
        "_misses",
        "_plain",
        "_strikes",
        "is_left",
        "rest",
    )

    def __init__(self) -> None:
        self.is_left = False
        self.rest = 0
        self._is_decided = False
        self._is_kept = False
        self._calls = 0
        self._misses = 0
        self._strikes = 0
        self._limit = 0.0
        self._compiled: list[float] = []
        self._plain: list[float] = []

    def way(self, ctx: Mode) -> int:
        """Return how a call is to run."""
        if self._is_kept or ctx.outers or ctx.rehearsal is not None or ctx.repeats:
            self._is_kept = self._is_kept or is_repeated(ctx)
            return PLAINLY if self.is_left else COMPILED
        if self.is_left:
            if self.rest:
                self.rest -= 1
                return PLAINLY
            self.rest = WATCHED - 1
            return TIMED_PLAINLY
        if self._misses > FIRST:
            self._misses += 1
            return PLAINLY if self._misses & (self._misses - 1) else COMPILED
        if self._is_decided:
            return COMPILED
        self._calls += 1
        if self._calls <= FIRST:
            return COMPILED
        turns = len(self._plain) < len(self._compiled)
        if turns and min(self._compiled, default=math.inf) <= LONG:
            return TIMED_PLAINLY
        return TIMED

    def missed(self) -> None:
        """Note that a call did not run as compiled code."""
        self._misses += 1

    def ran(self) -> None:
        """Note that a call ran as compiled code."""
        self._misses = 0

    def took(self, seconds: float) -> None:
        """Note how long a call of compiled code took."""
        self._compiled.append(seconds)
        if len(self._compiled) >= SAMPLES and min(self._compiled, default=0.0) > LONG:
            self._is_decided = True

    def took_plainly(self, seconds: float) -> None:
        """Note how long a call took by the derived form; one that raises is none."""
        if self._is_kept:
            return
        if self.is_left:
            self._watch(seconds)
            return
        self._plain.append(seconds)
        if len(self._plain) >= SAMPLES and not self._is_decided:
            self._is_decided = True
            self._limit = SLOWER * min(self._compiled, default=0.0)
            self.is_left = min(self._compiled, default=0.0) > GAIN * min(self._plain)

    def _watch(self, seconds: float) -> None:
        """Measure anew if a function that was left takes far longer than compiled code took."""
        self._strikes = self._strikes + 1 if seconds > self._limit else 0
        if self._strikes >= STRIKES:
            self._strikes = 0
            self._compiled, self._plain = [], []
            self._is_decided = self.is_left = False
            self.rest = 0
