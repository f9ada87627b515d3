"""How much a loop does, against the way in and out of what runs it as one entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mooncake_py.compiler.reading.callees import Callees
from mooncake_py.compiler.regions.evaluate import Work
from mooncake_py.compiler.regions.ir import For
from mooncake_py.compiler.regions.region import Region

__all__ = ["Effort"]

LEAST = 160
"""Statements and operations, from which on the way in and out costs less than it saves.

Measured: 20 us for a loop over numbers, 30 to 40 us for one over lists; one by one, a statement or
an operation takes .15 to .25 us.
"""
OF_CALL = 6  # of these take as long as a call of a function that is read into the loop


class Effort:
    """The work of a region's loop.

    Attributes
    ----------
    is_known : bool
        Whether ranges tell how much it is.
    is_flat : bool
        Whether it has no loops within.
    fewest : int
        The passes from which on a flat loop is worth it.
    """

    def __init__(self, region: Region, callees: Callees | None) -> None:
        self.loop = region.loop
        self.work = Work(region.loop.body)
        self.calls = len(callees.direct) * OF_CALL if callees else 0
        self.is_known = isinstance(region.loop, For) and self.work.ends
        self.is_flat = not self.work.loops and self.work.ends
        self.fewest = -(-LEAST // (self.work.own + self.calls)) if self.is_flat else 1

    def is_too_little(self, steps: range, inputs: Mapping[str, Any]) -> bool:
        """Return whether the way in and out would take longer."""
        if self.is_flat:
            return len(steps) < self.fewest
        assert isinstance(self.loop, For)
        amount = self.work.amount(self.loop, steps, dict(inputs), self.calls)
        return amount is not None and amount < LEAST
