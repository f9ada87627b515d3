"""Which functions run whole as text of NumPy where nothing is compiled, and from when on.

To read a function, to differentiate and to print it takes longer than its derivative by the general
way, which a function that is called once or twice is not to pay for.  So text is made when a
derivative of a function was taken often, or has recorded much.  For some calls both ways run then:
the function is left to the general way, which is the reference, where results do not agree or text
is far slower.

When text takes over the last digits of a derivative may change.  That must not depend on the load
of a machine, so what decides is how often a function was called and how many entries its tapes had,
and times only where they are far apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeVar

from mooncake_py.compiler.sites.pace import met
from mooncake_py.remembered import Table
from mooncake_py.rooms import PACKAGE

__all__ = ["Turns", "either"]

clock: Callable[[], float] = time.perf_counter
"""Tests replace it to decide."""

OFTEN = 50  # calls without text, at first
ENTRIES = 2000  # of tapes, which count as one call more: reading takes as long as tens of thousands
SAMPLES = 3  # of each way
FEWER = 4  # times as many calls go by before text is tried again where there was none
AT_MOST = 2.0  # of the time of the general way, up to which text is kept

T = TypeVar("T")


class Turns:
    """The turns of one function's derivatives of one kind.

    Attributes
    ----------
    left : int or None
        For how many calls more nothing but the general way runs, if tapes are short; None if there
        is no other.
    is_decided : bool
        Whether text was found to do the same.
    """

    __slots__ = ("_in_parts", "_in_text", "_pause", "is_decided", "left")

    def __init__(self) -> None:
        self.left: int | None = OFTEN
        self.is_decided = False
        self._pause = OFTEN
        self._in_text: list[float] = []
        self._in_parts: list[float] = []

    def rests(self) -> bool:
        """Return True if this call, which is counted, runs by the general way alone."""
        left = self.left  # another thread may decide meanwhile
        if left:
            self.left = left - 1
            return True
        return left is None

    def recorded(self, entries: int) -> None:
        """Note how many entries the tapes of a call that is counted had; one more call follows."""
        left = self.left
        if left and entries >= ENTRIES:
            self.left = max(left - entries // ENTRIES, 1)

    def missed(self) -> None:
        """Note that a call could not run as text."""
        self._pause *= FEWER
        self.left = self._pause

    def differed(self) -> None:
        """Note that results did not agree."""
        self.left = None

    def took(self, in_parts: float, in_text: float) -> None:
        """Note how many seconds both ways took, the first of which made the text; decide."""
        self._in_parts.append(in_parts)
        self._in_text.append(in_text)
        if len(self._in_text) > SAMPLES:
            self.is_decided = min(self._in_text) <= AT_MOST * min(self._in_parts)
            if not self.is_decided:
                self.left = None


_turns: dict[str, Table[Turns]] = {}


def either(
    kind: str,
    f: Any,
    in_text: Callable[[], T | None],
    in_parts: Callable[[], T],
    agree: Callable[[T, T], bool],
) -> T:
    """Return a derivative as text gives it, where it is its turn and it does, or in parts.

    Parameters
    ----------
    kind : str
        Of derivative.
    f : object
        The function that is differentiated.
    agree : callable
        Whether two results, the first in parts, are the same as far as they must be.
    """
    function = f.__func__ if type(f) is MethodType else f
    if type(function) is not FunctionType:
        return in_parts()
    turns = turns_of(kind, function.__code__)
    if turns.rests():
        if turns.left is None:
            return in_parts()
        met.entries = 0
        result = in_parts()
        turns.recorded(met.entries)
        return result
    if turns.is_decided:
        found = tried(in_text)
        if found is not None:
            return found
        turns.missed()
        return in_parts()
    begin = clock()
    result = in_parts()
    between = clock()
    found = tried(in_text)
    end = clock()
    if found is None:
        turns.missed()
    elif not agree(result, found):
        turns.differed()
    else:
        turns.took(between - begin, end - between)
    return result


def tried(in_text: Callable[[], T | None]) -> T | None:
    """Return the result of the text; its failures are never those of the derivative."""
    try:
        return in_text()
    except Exception:  # the general way runs, and says what is wrong
        return None


def turns_of(kind: str, code: CodeType) -> Turns:
    """Return the turns of a function, by its code."""
    table = _turns.setdefault(kind, Table())
    found = table.found.get(id(code))
    if found is None:
        found = Turns()
        if code.co_filename.startswith(PACKAGE):
            found.left = None
        table.set(code, found)
    return found
