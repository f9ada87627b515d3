"""The places where readings stopped: no reading enters a function in which several stopped.

    def separation(a, b):           a line of `distance` stops the reading,
        return mean(pairwise(a, b))
    def pairwise(a, b):             as it does when this function is tried by itself,
        return distance(a[0], b[0])
    def distance(x, y): ...         so later readings stop at the call of this one

A function that was read to its end once is exempt.  Stops of loops that were read by themselves
hold for such loops only: what such a loop is given, the function may make.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from types import CodeType

from mooncake_py.compiler.native.building.findings import TooMuch
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.remembered import Table
from mooncake_py.syntax.nodes import Place

__all__ = ["MOST", "note_read", "note_stop", "require_hope"]

MOST = 3  # readings that stop in one place for one reason
Stop = tuple[str, Place]


class Stops:
    """The outcomes of readings of one function, alone or within others.

    Attributes
    ----------
    counts : Counter of (str, Place)
        The number of readings that stopped in it, by reason and place.
    hopeless : list of (str, Place)
        The reasons and places for which `MOST` readings stopped.
    was_read : bool
        Whether any reading reached its end.
    """

    def __init__(self) -> None:
        self.counts: Counter[Stop] = Counter()
        self.hopeless: list[Stop] = []
        self.was_read = False


_stops: Table[Stops] = Table()
_stops_of_loops: Table[Stops] = Table()
"""By the function that they are in."""


def note_stop(code: CodeType, error: Unfit) -> None:
    """Count a stop in a function; stops for length depend on the caller, and do not count."""
    if error.place is None or isinstance(error, TooMuch):
        return
    table = _stops_of_loops if error.is_of_loop else _stops
    found = table.found.get(id(code))
    if found is None:
        found = Stops()
        table.set(code, found)
    stop = error.why, error.place
    found.counts[stop] += 1
    if found.counts[stop] == MOST:
        found.hopeless.append(stop)


def note_read(codes: Iterable[CodeType | None]) -> None:
    """Exempt functions that were read to their end."""
    for code in codes:
        found = None if code is None else _stops.found.get(id(code))
        if found is not None:
            found.was_read = True


def require_hope(code: CodeType, loop: ast.stmt | None = None) -> None:
    """Raise the error that stopped other readings of a function, or of one of its loops.

    Raises
    ------
    Unfit
    """
    found = _stops.found.get(id(code))
    if found is not None and found.was_read:
        return
    hopeless = [] if found is None else found.hopeless
    if loop is not None and (own := _stops_of_loops.found.get(id(code))) is not None:
        hopeless = [*hopeless, *own.hopeless]
    for why, place in hopeless:
        if loop is None or loop.lineno <= place.line <= (loop.end_lineno or 0):
            raise Unfit(why, place)
