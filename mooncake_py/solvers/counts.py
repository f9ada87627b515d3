"""Data without derivatives that callbacks of a solver store: counters, flags, logs of points.

So the solver need not run with callbacks that are derived, to find out what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mooncake_py.containers.holders import Attributes, Contents, Global, Place, Variable
from mooncake_py.solvers.unsettled import with_new

__all__ = ["counted"]

DISCRETE = frozenset({
    int, bool, str, bytes, type(None), np.bool_, np.int64, np.int32, np.uint64, np.uint32,
})  # fmt: skip
PLACES = (Attributes, Contents, Global, Variable)


class Number(Exception):
    """A number that is none of the points, and may have a derivative."""


def counted(
    changes: Iterable[tuple[Place, Any, Any]], points: Iterable[Any], mark: Callable[[Any], Any]
) -> list[tuple[Place, Any]] | None:
    """Return places with what a solver has left there, if that has no known derivative.

    Parameters
    ----------
    changes : iterable of tuple
        Places, with what they hold now and what they held before.
    points : iterable
        What the solver has given to its callbacks.
    mark : callable
        What takes the place of a point.
    """
    known = {id(x): x for x in points if type(x) is float}

    def new(part: Any) -> Any:
        if type(part) in DISCRETE:
            return part
        if id(part) in known:
            return mark(part)
        if type(part) is tuple:
            return tuple(map(new, part))
        raise Number

    def contents(place: Place, now: Any, old: Any) -> Any:
        if not isinstance(place, PLACES):
            raise Number
        is_dict = isinstance(place, Contents) and type(now) is dict
        if is_dict and not DISCRETE.issuperset(map(type, now)):
            raise Number  # perhaps, and to compare other keys may run code
        return with_new(old, now, new)

    try:
        return [(place, contents(place, now, old)) for place, now, old in changes]
    except Number:
        return None
