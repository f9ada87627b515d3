"""Compares a region that debug mode has run on copies with the code that runs in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.looked import found_at
from mooncake_py.compiler.native.giving_back import parts_given
from mooncake_py.syntax.names import MISSING

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reread import Reread

__all__ = ["Beside"]


class Beside:
    """A region that debug mode has run on copies, to compare what runs in its place.

    Parameters
    ----------
    found : RegionBeside or LoopAbove
        What compares values by the names of the region.
    reading, inputs, given
        See `Site.run`.
    """

    def __init__(
        self, found: Any, reading: Reread, inputs: dict[str, Any], given: Sequence[Any]
    ) -> None:
        self.found = found
        self.reading = reading
        self.inputs = inputs
        self.given = given

    def compare(self, value: Any) -> None:
        """Compare what the function or the loop has given back, and has written."""
        pairs = [(self.reading.output, value)]
        pairs += [(output, self.inputs[own]) for output, own in self.reading.grown]
        for path, name, output in self.reading.set_after:
            pairs.append((output, found_at(self.given, (*path, name))))
        parts = {name: part for pair in pairs for name, part in parts_given(*pair)}
        self.found.compare(*[parts.get(name, MISSING) for name in self.reading.site.outputs])
