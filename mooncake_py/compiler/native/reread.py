"""A function or a loop as it was read for values of some types."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.building.long_lists import are_apart
from mooncake_py.compiler.native.building.looked import found_at
from mooncake_py.compiler.native.building.types import THERE, Type, is_one
from mooncake_py.compiler.native.form import Compiler
from mooncake_py.compiler.native.giving_back import TYPES, types_in
from mooncake_py.compiler.native.holding import Holding
from mooncake_py.compiler.native.matching import matcher
from mooncake_py.compiler.native.reading.reader import Reading
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.regions.ir import Assign, Check, For, Let, While, statements
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.runtime.activity import contains_active

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Found", "Reread"]

FEW = 8  # statements, of these kinds on numbers, for which the call of a region takes too long
KINDS = Assign, Let, Check


class Reread:
    """A function as it was read for arguments of some types.

    Attributes
    ----------
    types : sequence of Type
        Of the arguments, of which they know what was looked at.
    places : sequence of Path
        Where the inputs are in the arguments, and in what is captured.
    long_lists : list of Path
        Where long lists are that are passed as arrays of the parts of their items.
    has_loops : bool
        Whether it has loops, other than those over the elements of arrays.
    match : callable or None
        From arguments of these types to the inputs of the region, in order; see `matcher`.
    holds : Holding
        Whether the function, and those that it calls, are what they were.
    is_flat : bool
        Whether the arguments are the inputs.
    is_small : bool
        Whether a call of it within others takes longer than recording what it does.
    derivatives : dict
        What `whole` of the modes makes of it.
    """

    def __init__(
        self,
        reading: Reading,
        types: Sequence[Type],
        name: str,
        compiler: Compiler | None = None,
        is_carried: bool = False,
    ) -> None:
        self.types = reading.types
        self.places = reading.places
        self.derivatives: dict[Any, Any] = {}
        self.callees = reading.callees
        self.captured = reading.captured
        self.output = reading.output
        self.set_after = reading.set_after
        self.grown = reading.grown
        self.made = reading.made
        before = reading.captured or reading.made
        self.long_lists = [path[:-1] for path in self.places if path[-1] == THERE]
        self.is_flat = not before and all(map(is_one, reading.types))
        self.is_small = self.is_flat and is_small(reading.region)
        body = statements(reading.region.body)
        self.has_loops = any(isinstance(s, For | While) for s in body)
        given = [*reading.types, *(c.type for c in reading.captured)]
        self.match = matcher(given, reading.places)
        self.holds = Holding(reading.callees, is_carried)
        numbers = types_in(reading.output)
        numbers += [pair for *_, output in reading.set_after for pair in types_in(output)]
        numbers += [(o.name, TYPES[o.type]) for o, _ in reading.grown]
        self.site = RegionSite(reading.region, dict(numbers), name, compiler)

    def inputs(self, f: FunctionType, given: Sequence[Any]) -> dict[str, Any] | None:
        """Return the inputs of the region by their names, None if it does not fit.

        Parameters
        ----------
        given : sequence
            The arguments.
        """
        if self.match is None:
            return None
        if self.captured:
            first = self.callees.every[0]
            given = [*given, *[c.value(f, first) for c in self.captured]]
        found = self.match(given)
        if found is None or not self.holds(f):
            return None
        for path in self.long_lists:
            if not are_apart(found_at(given, path), found):
                return None
        if self.made is not None:
            found = self.made.added(dict(zip(self.site.region.inputs, found, strict=False)))
            if found is None:
                return None
        return dict(zip(self.site.region.inputs, found, strict=True))

    @property
    def asks(self) -> bool:
        """Whether a run needs the arguments besides the inputs."""
        return bool(self.set_after or self.long_lists)

    def run(self, ctx: Mode, inputs: dict[str, Any], given: Sequence[Any]) -> Any:
        """Run the region, or return `Elsewhere`: no item of a long list may be active."""
        lists = [found_at(given, path) for path in self.long_lists]
        levels = (ctx, *ctx.outers) if lists else ()
        if any(contains_active(level, lists, set()) for level in levels):
            return Elsewhere
        return ctx.run_region(self.site, (), None, inputs)


Found = tuple[Reread, dict[str, Any]]
"""The reading that fits a call, and the inputs of its region."""


def is_small(region: NativeRegion) -> bool:
    """Return True for a few operations on numbers."""
    body = list(statements(region.body))
    return not region.arrays and len(body) <= FEW and all(isinstance(s, KINDS) for s in body)
