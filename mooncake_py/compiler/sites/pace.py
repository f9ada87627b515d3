"""Whether code runs faster compiled than as it would without, as its runs show.

A run of compiled code takes tens of microseconds to match, to pass and to record: more than all
that a method of three lines does.  After a few runs some go either way in turn, and are timed;
where compiled code takes longer the function or loop is left: it runs as it would without
``compile=True``, at the same cost.  So it is where nothing could be compiled for what it was run
with.  Now and then such a run is timed too: what takes far longer than before is tried again.

Times are those of the forward pass, of which compiled code must save a good part.  They decide on
speed alone: results are those of either way.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from mooncake_py.compiler.sites.trials import is_repeated

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["COMPILED", "PLAINLY", "TIMED", "TIMED_PLAINLY", "Pace", "Paces", "met"]

clock: Callable[[], float] = time.perf_counter
"""Tests replace it to decide."""

FIRST = 6  # runs before any is timed: forms are made, and code is loaded
MISSES = 6  # in a row, after which nothing is compiled
SAMPLES = 8  # of each way: the first plain ones meet what is new to their sites
LONG = 3e-4  # seconds of a run from which on what surrounds it does not matter
FEW = 3  # samples of such runs, of what has no loops
OUTSIDE = 0.5  # of a run, from which on it does not matter how fast its loops are
GAIN = 0.6  # of the time without: compiled code costs more on the way back
HOPE = 2.0  # so many times faster better code may be: it is timed before quick code is left
SLOWER = 2.0  # than compiled code was: it is no longer left after some such runs in a row
STRIKES = 4
REST = 8  # of so many runs of what is left one is timed
SHARE = 1  # times as long as a trial that failed must plain runs take before the next one: twice
# as many each time


COMPILED, TIMED, TIMED_PLAINLY, PLAINLY = range(4)
"""How a run goes: as compiled code if that can be, so and timed, or as it would without."""


class Met(threading.local):
    """The timings of a thread since somebody asked.

    Attributes
    ----------
    loops : bool
        Whether compiled loops have run that may take far longer without.
    pending : bool
        Whether there was code that is not there yet.
    outside : float
        The seconds that compiled code has spent in calls of Python, since ever.
    entries : int
        How many entries tapes have had.
    """

    loops = False
    pending = False
    outside = 0.0
    entries = 0


met = Met()


class Pace:
    """The pace of one function or loop in one mode.

    Where parts of a call run twice nothing is measured, and nothing changes any more but that what
    was never compiled is given up: the second run must do what the first one did.

    Parameters
    ----------
    parts : callable, optional
        Returns the paces of the loops of a function, which are tried where it is not.
    hasten : callable, optional
        Has better code made where that waits until it pays, and returns whether it did.
    remember : callable, optional
        Is told for how many seconds a run may take that is left, 0 if it is not.

    Attributes
    ----------
    is_left : bool
        Whether it is left to run as it would without.
    has_loops : bool
        Whether what is compiled has loops, which may take a hundred times as long without: then
        long runs are not compared.
    in_parts : bool
        Whether loops of a function that is not compiled are tried.
    """

    __slots__ = (
        "_compiled",
        "_cost",
        "_has_run",
        "_hasten",
        "_is_decided",
        "_is_kept",
        "_limit",
        "_misses",
        "_parts",
        "_plain",
        "_remember",
        "_rest",
        "_runs",
        "_share",
        "_spent",
        "_strikes",
        "_turns",
        "has_loops",
        "in_parts",
        "is_left",
    )

    def __init__(
        self,
        parts: Callable[[], Iterable[Pace]] = tuple,
        hasten: Callable[[], bool] = bool,
        remember: Callable[[float], object] = float,
    ) -> None:
        self._hasten = hasten
        self._remember = remember
        self.is_left = False
        self.in_parts = False
        self.has_loops = True
        self._parts = parts
        self._has_run = self._is_decided = self._is_kept = False
        self._runs = self._turns = self._rest = self._misses = self._strikes = 0
        self._share = SHARE
        self._cost = self._spent = self._limit = 0.0
        self._compiled: list[float] = []
        self._plain: list[float] = []

    @property
    def is_slower(self) -> bool:
        """Whether it is left because compiled code was slower."""
        return self.is_left and self._is_decided and self._misses <= MISSES

    def like(self, others: Iterable[Pace]) -> Pace:
        """Begin with what was decided in another mode, and return this pace."""
        for other in others:
            if other._is_decided:
                self.is_left, self._is_decided, self._limit = other.is_left, True, other._limit
        return self

    def begin_with(self, limit: float) -> None:
        """Begin with what another process has decided and remembered."""
        self.is_left, self._is_decided, self._limit = limit > 0.0, True, limit

    def rests(self, ctx: Mode) -> bool:
        """Return whether what is left runs once more as it would without, without a question."""
        if not self.is_left or self._rest <= 0 or ctx.repeats or ctx.rehearsal is not None:
            return False
        if ctx.outers:
            return False
        self._rest -= 1
        return True

    def way(self, ctx: Mode, is_busy: bool = False) -> int:
        """Return how a run is to go; nothing is timed while code is made better."""
        if self._is_kept or ctx.repeats or ctx.rehearsal is not None or ctx.outers:
            self._is_kept = self._is_kept or is_repeated(ctx)
            if self._is_kept:
                return PLAINLY if self.is_left or self._misses > MISSES else COMPILED
        if self.is_left or self._misses > MISSES:
            self._rest -= 1
            if self._rest >= 0 or is_busy:
                return PLAINLY
            self._rest = REST - 1
            self.is_left = self.is_left or all(part.is_left for part in self._parts())
            self.in_parts = not self.is_left
            return TIMED_PLAINLY
        if self._is_decided or is_busy:
            return COMPILED
        if self._runs < FIRST:
            return COMPILED
        turns = len(self._plain) < len(self._compiled)
        if not turns or (self.has_loops and min(self._compiled, default=0.0) > LONG):
            return TIMED
        self._turns += 1
        if self._turns > 3 * SAMPLES:  # most end in a way that is not timed
            self._is_decided = True
            return COMPILED
        self.in_parts = False
        return TIMED_PLAINLY

    def missed(self, seconds: float) -> None:
        """Note that a run did not go as compiled code, and how long it took to find that out."""
        if self._is_kept and self._has_run:
            return
        self._misses += 1
        self._cost, self._spent, self._rest = seconds, 0.0, 0
        self._share *= 2
        if self._misses > MISSES and all(part.is_left for part in self._parts()):
            self.is_left = True

    def ran(self, outside: float = 0.0, seconds: float = 0.0) -> None:
        """Note that a run went as compiled code, for how long, and how much of that outside.

        Calls of Python take about as long without, so that what is mostly these is compared like
        what has no loops.
        """
        if outside > OUTSIDE * seconds:
            self.has_loops = False
        self._runs += 1
        self._misses = 0
        self._share = SHARE
        self._has_run = True

    def retry(self) -> None:
        """Try again once what could not be compiled, and its parts."""
        if self._misses > MISSES and not self._is_kept:
            self.is_left = False
            self._misses = MISSES
            for part in self._parts():
                part.retry()

    def keep(self) -> None:
        """Change nothing any more."""
        self._is_kept = True

    def took(self, seconds: float) -> None:
        """Note how long a run of compiled code took."""
        self._compiled.append(seconds)
        compiled = self._compiled  # another thread may start over meanwhile
        if self.has_loops and len(compiled) >= SAMPLES and min(compiled) > LONG:
            self._is_decided = True

    def took_plainly(self, seconds: float) -> None:
        """Note how long a run without took; one that raises is none."""
        if self._is_kept:
            return
        if self._misses > MISSES:
            self._spent += seconds
            if self._spent > self._share * self._cost:
                self.retry()
        elif self.is_left:
            self._watch(seconds)
        else:
            self._compare(seconds)

    def _compare(self, seconds: float) -> None:
        """Decide, after enough runs of either way."""
        plain = self._plain  # another thread may start over meanwhile
        plain.append(seconds)
        best = min(self._compiled, default=0.0)
        enough = SAMPLES if best <= LONG else FEW
        if len(plain) >= enough and not self._is_decided:
            limit = GAIN * min(plain)
            if limit < best < HOPE * limit and self._hasten():
                self._compiled, self._plain = [], []
                return
            self._is_decided = True
            self._limit = SLOWER * best
            self.is_left = best > limit
            self._remember(self._limit if self.is_left else 0.0)

    def _watch(self, seconds: float) -> None:
        """Measure again if code left uncompiled takes far longer than compiled code took."""
        self._strikes = self._strikes + 1 if seconds > self._limit else 0
        if self._strikes >= STRIKES:
            self._strikes = 0
            self._compiled, self._plain = [], []
            self._is_decided = self.is_left = False
            self._turns = 0


class Paces(dict[type, Pace]):
    """The paces of one function or loop by the types of contexts.

    Parameters
    ----------
    parts : callable
        From the type of a context to the paces of the loops of a function.
    hasten : callable
        See `Pace`.
    before : callable, optional
        Returns the findings of another process for a type of contexts, None if there are none.
    remember : callable, optional
    """

    def __init__(
        self,
        parts: Callable[[type], Iterable[Pace]] = lambda _: (),
        hasten: Callable[[], bool] = bool,
        before: Callable[[type], float | None] = lambda _: None,
        remember: Callable[[type, float], None] = lambda *_: None,
    ) -> None:
        super().__init__()
        self.parts = parts
        self.hasten = hasten
        self.before = before
        self.remember = remember

    def __missing__(self, mode: type) -> Pace:
        own = Pace(partial(self.parts, mode), self.hasten, partial(self.remember, mode))
        before = self.before(mode)
        if before is None:
            own.like(list(self.values()))
        else:
            own.begin_with(before)
        return self.setdefault(mode, own)
