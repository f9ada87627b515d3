"""What calls within regions leave for the statements behind them, and for the way back.

A region holds numbers and arrays only.  So a call leaves its results here under a ticket, an int,
from which the next statements copy them, and with them its pullback.  The way back brings the
cotangents of the results under the same ticket.

A pullback that nobody calls, as its derivative has failed or was dropped, stays until there are too
many; the way back then runs the call again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from threading import get_ident
from typing import Any

__all__ = ["Back", "Entry", "Pullback", "back", "ended", "entered", "found", "removed"]

MOST = 1 << 16
BYTES = 1 << 28

Pullback = Callable[[Sequence[Any]], Sequence[Any]]
"""From the cotangents of results to those of operands; None stands for zero in both."""


@dataclass
class Entry:
    """A call that has run.

    Attributes
    ----------
    results : list
    pullback : callable or None
    nbytes : int
        About how much memory it holds.
    """

    results: Sequence[Any]
    pullback: Pullback | None
    nbytes: int


@dataclass
class Back:
    """A call on the way back.

    Attributes
    ----------
    cotangents : dict of int to object
        Of its results, by their positions; None for zero.
    gradients : sequence or None
        Of its operands, once the pullback has run.
    """

    cotangents: dict[int, Any] = field(default_factory=dict)
    gradients: Sequence[Any] | None = None


_entries: OrderedDict[int, Entry] = OrderedDict()
_back: dict[tuple[int, int], Back] = {}
"""By tickets and threads: a pullback may run in several threads."""
_tickets = count(1)
_bytes = 0


def entered(entry: Entry) -> int:
    """Keep an entry; return its ticket."""
    global _bytes
    ticket = next(_tickets)
    _entries[ticket] = entry
    _bytes += entry.nbytes
    while len(_entries) > MOST or (_bytes > BYTES and len(_entries) > 1):
        try:
            _, oldest = _entries.popitem(last=False)
        except KeyError:  # another thread was quicker
            break
        _bytes -= oldest.nbytes
    return ticket


def found(ticket: int) -> Entry | None:
    """Return an entry that is still there."""
    return _entries.get(ticket)


def removed(ticket: int) -> Entry | None:
    """Remove an entry, and return it."""
    global _bytes
    entry = _entries.pop(ticket, None)
    if entry is not None:
        _bytes -= entry.nbytes
    return entry


def back(ticket: int) -> Back:
    """Return a call on the way back in this thread."""
    key = ticket, get_ident()
    return _back.get(key) or _back.setdefault(key, Back())


def ended(ticket: int) -> None:
    """Note that the way back through a call is over in this thread."""
    _back.pop((ticket, get_ident()), None)
    removed(ticket)
