"""Where a loop stands in a function: it is tried as one entry, on what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.reading.callees import Callees
from mooncake_py.compiler.regions.ir import For, Length, Op
from mooncake_py.compiler.regions.region import Axes, Region
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.site import Site

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["TriedComprehension", "TriedLoop"]

FEW = 3  # passes, that are never worth the way in and out
ON_ARRAYS = 24  # statements in all passes, that are not worth it if they are on arrays either
SIZED = frozenset({list, tuple})
OnArrays = Callable[[Any, Axes], Site | None]


class TriedLoop:
    """A loop that is tried.

    Parameters
    ----------
    region : Region
        What was read of it, without knowing what is an array.
    callees : Callees
        The functions of the user that were read into it.
    on_arrays : callable
        From functions, and the axes of the inputs, to the site where the region runs on such, or
        None.
    outer : TriedLoop, optional
        A loop around it: while that one has a form, this one is not tried.

    Attributes
    ----------
    site : Site or None
        Where it ran last, if it had a form.
    over : int or None
        The input of which the items are iterated over, as far as one alone tells how many.
    fewest : int
        The passes from which on a flat loop over such an input may be worth it.
    """

    def __init__(
        self, region: Region, callees: Callees, on_arrays: OnArrays, outer: TriedLoop | None
    ) -> None:
        self.region = region
        self.callees = callees if callees.direct else None
        self.on_arrays = on_arrays
        self.outer = outer
        self.is_on_arrays = bool(region.sliced or region.whole or region.in_parts)
        self.plain = Site(region, callees)
        self.site: Site | None = self.plain
        self.is_flat = self.plain.effort.is_flat
        self.over = iterated(region) if self.is_flat else None
        statements = len(region.loop.body)
        self.fewest = min(self.plain.effort.fewest, max(ON_ARRAYS // max(statements, 1), 1))
        self._on_arrays: dict[Any, Site | None] = {}

    def __repr__(self) -> str:
        return f"TriedLoop({self.region.loop!r})"

    @property
    def is_given(self) -> bool:
        """Whether the range is given."""
        return self.plain.is_given

    @property
    def has_form(self) -> bool:
        """Whether there was a form when it ran last."""
        return self.site is not None and self.site.has_form

    def forms(self) -> Iterator[str]:
        """Yield the texts of the forms made so far."""
        for site in (self.plain, *self._on_arrays.values()):
            if site is not None:
                yield from site.forms()

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
        if self.outer is not None and self.outer.has_form:
            return Elsewhere
        steps, *rest = values
        if steps is not None and self.is_flat and len(steps) < FEW:
            return Elsewhere
        if self.over is not None:
            items = rest[self.over]
            t = type(items)
            if len(items) < self.fewest if t in SIZED else t is not ndarray:
                return Elsewhere
        if self.callees is not None:
            count = len(functions) - len(self.callees.direct)
            if not self.callees.hold(functions[count:]):
                return Elsewhere
            functions = functions[:count]
        inputs = dict(zip(self.region.inputs, rest, strict=True))
        site = self.site = self.site_for(functions, inputs)
        if site is None:
            return Elsewhere
        if not site.serves(inputs) or site.is_short(steps, inputs):
            return Elsewhere
        found = ctx.run_region(site, functions, steps, inputs)
        if site is self.plain:
            is_done = type(found) is dict
            return tuple([found[name] for name in self.region.bound]) if is_done else found
        if found is Elsewhere:
            return found
        if type(found) is not dict:
            return Compared(found, self.region.bound, site.region.bound)
        return tuple([found.get(name, inputs.get(name)) for name in self.region.bound])

    def site_for(self, functions: Any, inputs: Mapping[str, Any]) -> Site | None:
        """Return where the region runs on such inputs; None if it has no form."""
        axes = Axes(
            {name: a.ndim for name, a in inputs.items() if type(a) is ndarray},
            {name: 1 + inputs[name][-1].ndim for name in self.plain.looked_into
             if is_of_arrays(inputs[name])},
        )  # fmt: skip
        arrays, of = self.region.arrays, axes.arrays
        if not (self.is_on_arrays or axes.lists) and all(arrays.get(k) == of[k] for k in of):
            return self.plain
        key = functions, tuple(of.items()), tuple(axes.lists.items())
        try:
            return self._on_arrays[key]
        except KeyError:
            pass
        except TypeError:  # a function that cannot be a key
            return None
        site = self._on_arrays[key] = self.on_arrays(functions, axes)
        return site


def iterated(region: Region) -> int | None:
    """Return the place of the input that a loop over all items of one runs over."""
    match region.loop:
        case For(range=Op(op="range", args=(Length(array=array, axis=0),))):
            return region.inputs.index(array) if array in region.inputs else None
    return None


def is_of_arrays(a: Any) -> bool:
    """Return True for a list or a tuple of which the last item is an array."""
    return (type(a) is list or type(a) is tuple) and bool(a) and type(a[-1]) is ndarray


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
        """Return what is made, in a tuple; None if it must be made as it is written."""
        found = self.loop.run(ctx, functions, values)
        made = None if self.place is None else values[self.place]
        if type(found) is tuple:
            return found if made is None else (made,)
        if found is not Elsewhere:
            self._beside.append((found, made))
        return None

    def same(self, made: tuple[Any]) -> tuple[Any]:
        """Return what was made as it is written, compared with what has run beside, if any has.

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


class Compared:
    """What compares a loop that runs beside, of which the site binds some names only.

    Parameters
    ----------
    beside
        What compares what the site binds.
    names, bound : iterable of str
        What the loop binds, and what the site does.
    """

    def __init__(self, beside: Any, names: Iterable[str], bound: Iterable[str]) -> None:
        self.beside = beside
        self.names = tuple(names)
        self.bound = tuple(bound)

    def compare(self, *values: Any) -> None:
        """Compare what the names are bound to."""
        given = dict(zip(self.names, values, strict=True))
        self.beside.compare(*map(given.__getitem__, self.bound))
