"""Where a loop stands in a function: it is tried as one entry, on what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.reading.callees import Callees
from mooncake_py.compiler.regions.ir import For, Length, Op
from mooncake_py.compiler.regions.region import Region
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.site import Site

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["TriedComprehension", "TriedLoop"]

FEW = 3  # passes, that are never worth the way in and out
SIZED = frozenset({list, tuple})


class TriedLoop:
    """A loop that is tried.

    Parameters
    ----------
    region : Region
        What was read of it, without knowing what is an array.
    callees : Callees
        The functions of the user that were read into it.

    Attributes
    ----------
    site : Site
    over : int or None
        The input of which the items are iterated over, as far as one alone tells how many.
    """

    def __init__(self, region: Region, callees: Callees) -> None:
        self.region = region
        self.callees = callees if callees.direct else None
        self.site = Site(region, callees)
        self.is_flat = self.site.effort.is_flat
        self.over = iterated(region) if self.is_flat else None

    def __repr__(self) -> str:
        return f"TriedLoop({self.region.loop!r})"

    @property
    def is_given(self) -> bool:
        """Whether the range is given."""
        return self.site.is_given

    def forms(self) -> Iterator[str]:
        """Yield the sources of the forms made so far."""
        yield from self.site.forms()

    def run(self, ctx: Language, functions: Any, values: Any) -> Any:
        """Run the region and return what it binds, or `Elsewhere` if it must run as it is written.

        Debug mode lets it run as it is written too, and returns what compares both.

        Parameters
        ----------
        functions : tuple
            Those that the region calls, and then those of the user that were read into it.
        values : tuple
            The range, None where it is not given, and the inputs.
        """
        steps, *rest = values
        if steps is not None and self.is_flat and len(steps) < FEW:
            return Elsewhere
        if self.over is not None:
            items = rest[self.over]
            t = type(items)
            if len(items) < self.site.effort.fewest if t in SIZED else t is not ndarray:
                return Elsewhere
        if self.callees is not None:
            count = len(functions) - len(self.callees.direct)
            if not self.callees.hold(functions[count:]):
                return Elsewhere
            functions = functions[:count]
        inputs = dict(zip(self.region.inputs, rest, strict=True))
        if not self.site.serves(inputs) or self.site.is_short(steps, inputs):
            return Elsewhere
        found = ctx.run_region(self.site, functions, steps, inputs)
        is_done = type(found) is dict
        return tuple([found[name] for name in self.region.bound]) if is_done else found


def iterated(region: Region) -> int | None:
    """Return the place of the input that a loop over all items of one runs over."""
    match region.loop:
        case For(range=Op(op="range", args=(Length(array=array, axis=0),))):
            return region.inputs.index(array) if array in region.inputs else None
    return None


class TriedComprehension:
    """A comprehension or a sum that is tried.

    Parameters
    ----------
    loop : TriedLoop
        What it runs as.
    made : str
        The input that is the list which it makes; empty for a sum.
    """

    def __init__(self, loop: TriedLoop, made: str) -> None:
        self.loop = loop
        self.place = 1 + loop.region.inputs.index(made) if made else None
        self._beside: list[tuple[Any, Any]] = []

    def are_bound(self, read: Callable[[], Any]) -> bool:
        """Return whether captured variables have values now, which `read` reads.

        One that has none is an error only where it is read as written, not if nothing is iterated.
        """
        try:
            read()
        except NameError:
            return False
        return True

    def value(self, ctx: Language, functions: Any, values: Any) -> tuple[Any] | None:
        """Return the result, in a tuple; None if it must be computed as it is written."""
        found = self.loop.run(ctx, functions, values)
        made = None if self.place is None else values[self.place]
        if type(found) is tuple:
            return found if made is None else (made,)
        if found is not Elsewhere:
            self._beside.append((found, made))
        return None

    def same(self, made: tuple[Any]) -> tuple[Any]:
        """Return the result of the code as written, compared with that of the form, if it has run.

        What a generator yields is a list then.
        """
        if not self._beside:
            return made
        found, items = self._beside.pop()
        if items is None:
            found.compare(*made)
            return made
        items += made[0]
        found.compare()
        return (items,)
