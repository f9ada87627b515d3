"""Decisions based on the rules hold for an epoch: until a rule is declared, or a block changes.

Calls that are running keep what they have found out under a token, their gate.  When an epoch ends
all gates are closed, so that each call looks at the rules again.
"""

from __future__ import annotations

from typing import Any, Protocol
from weakref import ref

__all__ = ["Gated", "advance", "number", "opened"]

FEW = 256


class Gated(Protocol):
    """A call that is running."""

    gate: Any  # a token, or None while nothing is known


number = 0
_open: set[ref[Gated]] = set()
"""The calls that have opened their gates, and some that have ended."""
_limit = FEW


def opened(call: Gated) -> None:
    """Note a call whose gate is to be closed when the epoch ends."""
    global _limit
    _open.add(ref(call))
    if len(_open) > _limit:
        _open.difference_update([found for found in list(_open) if found() is None])
        _limit = FEW + 2 * len(_open)


def advance() -> None:
    """Begin a new epoch."""
    global number
    number += 1
    for found in list(_open):
        call = found()
        if call is not None:
            call.gate = None
