"""Which way the derivatives of one function go: compiled, whole or in parts, or as without.

A function that is compiled in parts may lose by what is done between these, and so may one that is
compiled whole, if its operations are long by themselves.  So some calls go either way in turn, and
are timed; then all go the one that is faster.  That is remembered, also between processes, by the
function, and by the types and the sizes of its arguments.

Plain code may take a hundred times as long as compiled code.  Nobody waits for that in vain: it is
tried once the calls have taken as long as it may take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any

from numpy import ndarray

__all__ = ["COMPILED", "PLAINLY", "TIMED", "TIMED_PLAINLY", "Choice", "sizes_of"]

clock: Callable[[], float] = time.perf_counter
"""Tests replace it to decide."""

FIRST = 1  # compiled calls before any is timed: code is made
SAMPLES = 4  # of each way, where they are alike
GAIN = 0.95  # of the time without, from which on compiled code pays
CLEAR = 1.25  # times as long, which fewer samples tell
HOPELESS = 50.0  # times as long, which one tells
MOST = 100.0  # times as long plain code may take in place of compiled loops
LITTLE = 4.0  # times as long where nothing compiled has run long
REST = 16  # of so many calls of what is left to the plain way one is timed
SLOWER = 2.0  # than compiled code was: it is asked again after some such calls in a row
STRIKES = 3

COMPILED, TIMED, TIMED_PLAINLY, PLAINLY = range(4)
"""How a call goes: as compiled code as far as there is some, so and timed, or as without."""


class Choice:
    """Which way calls go that are alike.

    Parameters
    ----------
    pays : bool, optional
        What another process has found out.
    remember : callable, optional
        Is told what is found out.

    Attributes
    ----------
    pays : bool or None
        Whether compiled code is faster; None as long as that is not known.
    """

    __slots__ = (
        "_compiled", "_plain", "_remember", "_rest", "_runs", "_spent", "_strikes", "pays",
    )  # fmt: skip

    def __init__(
        self, pays: bool | None = None, remember: Callable[[bool], None] = lambda pays: None
    ) -> None:
        self.pays = pays
        self._remember = remember
        self._compiled: list[float] = []
        self._plain: list[float] = []
        self._runs = self._strikes = 0
        self._rest = REST
        self._spent = 0.0

    def way(self, is_busy: bool = False) -> int:
        """Return how a call is to go; nothing is timed while code is being made."""
        if self.pays:
            return COMPILED
        if self.pays is not None:
            self._rest -= 1
            if self._rest > 0 or is_busy:
                return PLAINLY
            self._rest = REST
            return TIMED_PLAINLY
        if is_busy or self._runs < FIRST:
            return COMPILED
        return TIMED_PLAINLY if len(self._plain) < len(self._compiled) else TIMED

    def waited(self, seconds: float) -> None:
        """Note a plain call while code was being made."""
        self._spent += seconds

    def ran(self, seconds: float) -> None:
        """Note a compiled call that was not timed: code may have been made."""
        self._runs += 1
        self._spent += seconds

    def took(self, seconds: float, has_loops: bool, outside: float = 0.0) -> None:
        """Note how long a compiled call took.

        Parameters
        ----------
        has_loops : bool
            Whether loops have run compiled, of which nothing tells how long they take without.
        outside : float, optional
            Seconds of it that compiled code was outside, calling Python.
        """
        self._runs += 1
        self._spent += seconds
        outside = min(outside, seconds)
        longest = (seconds - outside) * (MOST if has_loops else LITTLE) + outside * LITTLE
        if self._plain or longest <= self._spent:
            self._compiled.append(seconds)
            self._decide()

    def took_plainly(self, seconds: float) -> None:
        """Note how long a plain call took."""
        if self.pays is None:
            self._plain.append(seconds)
            self._decide()
        elif not self.pays:
            self._watch(seconds)

    def _decide(self) -> None:
        """Decide, if there are samples enough of either way."""
        plain, compiled = self._plain, self._compiled
        if not plain or not compiled:
            return
        ratio = min(compiled) / min(plain)
        if len(plain) >= SAMPLES <= len(compiled):
            self._settle(ratio <= GAIN)
        elif ratio >= CLEAR and len(compiled) > 1:
            self._settle(pays=False)
        elif ratio * HOPELESS <= 1.0 or (ratio * CLEAR <= 1.0 and len(plain) > 1):
            self._settle(pays=True)  # the first plain call has made its forms

    def _settle(self, pays: bool) -> None:
        self.pays = pays
        self._remember(pays)

    def _watch(self, seconds: float) -> None:
        """Ask again if what is left takes far longer than compiled code took."""
        if not self._compiled:  # another process knows how long that is
            self._compiled = [seconds]
        self._strikes = self._strikes + 1 if seconds > SLOWER * min(self._compiled) else 0
        if self._strikes >= STRIKES:
            self.pays = None
            self._compiled, self._plain = [], []
            self._runs = self._strikes = 0


def sizes_of(values: Any) -> tuple[Hashable, ...]:
    """Return a key that separates values with different times, except small ones."""
    return tuple([size_of(value) for value in values])


def size_of(value: Any) -> Hashable:
    """Return the type of a value, and about how large it is."""
    t = type(value)
    if t is ndarray:
        return value.ndim, value.dtype.char, value.size.bit_length() >> 1
    if t is float:
        return None
    if t is int:
        return "int", value.bit_length() >> 1
    if t is list or t is tuple or t is dict:
        return t.__name__, len(value).bit_length() >> 1
    if t is bool or value is None:
        return value
    return t.__qualname__
