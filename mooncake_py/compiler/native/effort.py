"""Whether a compiled loop pays: what the way in and out costs, beside what it computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.regions.evaluate import evaluated, passes
from mooncake_py.compiler.regions.ir import For, ForAll, While, statements
from mooncake_py.compiler.sites.items import bytes_copied

__all__ = ["Effort"]

LEAST = 50  # passes over numbers, fewer than which take less time than the way in and out
ARRAY = 10  # statements on numbers take as long as one on arrays
BYTES = 1024  # to be copied for each pass, at most


class Effort:
    """What a loop computes and copies.

    Parameters
    ----------
    region : NativeRegion
        The last loop of it is the one.
    written : sequence of str
        The arrays that are copied before it runs.
    """

    def __init__(self, region: NativeRegion, written: Sequence[str]) -> None:
        loop = next((s for s in reversed(region.body) if isinstance(s, For | While)), None)
        within = [] if loop is None else list(statements((loop,)))
        self.is_none = loop is None  # over a few items that are known
        self.loop = loop if isinstance(loop, For) else None
        if any(isinstance(s, While) for s in within):
            self.loop = None  # nothing tells how often it runs
        self.each = ARRAY if any(isinstance(s, ForAll) for s in within) else 1
        self.copied = {*written, *region.lists.intersection(region.inputs)}

    def is_worth(self, inputs: Mapping[str, Any]) -> bool:
        """Return False for few passes, and where what is copied before is far larger."""
        if self.loop is None:
            return not self.is_none
        try:
            steps = evaluated(self.loop.range, inputs)
            work = self.each * passes(self.loop, steps, dict(inputs))
        except (LookupError, ArithmeticError, TypeError, ValueError):
            return True
        return (
            work >= LEAST
            and sum(bytes_copied(inputs[name]) for name in self.copied) <= BYTES * work
        )
