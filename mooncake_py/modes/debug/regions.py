"""Loops that run as one entry without debug mode, checked on copies.

The program runs the loop statement by statement, with all checks.  Two entries of the tape enclose
those of the loop::

    tape                    forward                         in the reverse pass
    check_cotangents        the region runs on copies       its adjoint gives the same cotangents?
    ...                     the loop runs
    note_cotangents         the same values?                those that the loop is about to take
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.elsewhere import Elsewhere
from mooncake_py.compiler.forms import Form
from mooncake_py.compiler.items import Items, Pairs
from mooncake_py.compiler.site import Site, cells_of, typed
from mooncake_py.compiler.tangent import is_tangent
from mooncake_py.errors import DifferentResultError, Location
from mooncake_py.modes.debug.beside import Copies, NotPlainError, as_plain
from mooncake_py.modes.debug.loop_cotangents import (
    Noted,
    SizedBlocks,
    cotangents,
    sized_items,
    sized_value,
    sizes_of,
)
from mooncake_py.modes.debug.quick_ways import QuickWay
from mooncake_py.modes.debug.sized import SizedCells, size_of
from mooncake_py.overriding import override
from mooncake_py.tangents.memory import Shadows, owner

if TYPE_CHECKING:
    from mooncake_py.modes.debug.context import Checks
    from mooncake_py.runtime.forward_mode import ForwardMode

__all__ = ["LoopBeside", "beside"]

CLOSE = 1e-12  # of the terms of a cotangent
EPS = float(np.finfo(float).eps)


def beside(
    ctx: Checks, site: Site, functions: Any, steps: Any, inputs: dict[str, Any]
) -> LoopBeside | Any:
    """Run a region on copies and return what compares the loop with it.

    `Elsewhere` if it would not run as one entry without debug mode either, or its arrays are too
    large to be copied.
    """
    prepared = site.prepared(ctx, functions, steps, inputs)
    if prepared is None:
        return Elsewhere
    run = LoopBeside(ctx, site, inputs, *prepared)
    try:
        if not run.forward():
            return Elsewhere
    except NotPlainError:
        return Elsewhere
    if run.is_active:
        ctx.record((check_cotangents, run))
    return run


class LoopBeside(QuickWay):
    """A loop that has run as one entry, beside the same loop statement by statement.

    An array that is constant before the loop gets cotangents by the region all the same, which
    no one takes: they are not compared.

    Parameters
    ----------
    ctx : Checks
    site : Site
    given : dict
        The inputs, as the user's code has them.
    form, steps, inputs
        See `Site.prepared`.
    """

    def __init__(
        self,
        ctx: Checks,
        site: Site,
        given: dict[str, Any],
        form: Form,
        steps: range | None,
        inputs: dict[str, Any],
    ) -> None:
        super().__init__(ctx, "a loop", "statements")
        self.site = site
        self.source = given
        self.form = form
        self.steps = steps
        self.inputs = inputs
        self.place = ctx.user_location()
        self.active = {
            name
            for name, a in inputs.items()
            if type(a) is ndarray and name in form.shadows and ctx.find(a) is not None
        }
        self.floats: list[float] = []
        self.ints: list[Any] = []
        self.noted: Noted | None = None

    @property
    @override
    def where(self) -> Location | None:
        return self.place

    def forward(self) -> bool:
        """Run the forward sweep on copies; return False where something is unusual."""
        copies = Copies()
        if any(owner(a).base is not None for a in self.arrays()):
            return False  # memory that no array owns
        self.copies = {
            name: copies(a) if type(a) is ndarray else a for name, a in self.inputs.items()
        }
        self.given = self.site.given(self.form, self.inputs)
        kept = self.floats, self.ints, self.steps
        self.tangents = self.with_sizes()
        results = self.site.swept(self.form, kept, self.copies | self.tangents, self.given)
        if results is None:
            return False
        bound = dict(zip(self.form.results, results, strict=False))
        self.given |= bound
        self.expected = typed(self.form, bound, results[len(bound) :])
        return True

    @property
    def is_active(self) -> bool:
        """Whether cotangents may flow through the region."""
        return bool(self.form.outputs or self.form.shadows)

    def with_sizes(self) -> dict[str, SizedCells]:
        """Return what is read and written of tangents, each number with the size of its terms."""
        sizes = Shadows(sizes_of)
        cells: dict[str, SizedCells] = {}
        lists: dict[int, SizedCells] = {}
        for name in filter(is_tangent, self.inputs):
            a = self.copies[name]
            if type(a) is ndarray:
                cells[name] = SizedCells(cells_of(a), cells_of(sizes.view(a)))
            elif type(a) is Items:
                found = SizedCells(a.cells, list(map(abs, a.cells)))
                cells[name] = lists.setdefault(id(a), found)
            else:
                self.given[name] = sized_value(self.given[name])
        return cells

    def arrays(self) -> Iterator[ndarray]:
        """Yield the arrays among the inputs."""
        return (a for a in self.inputs.values() if type(a) is ndarray)

    # Values.

    def compare(self, *values: Any) -> None:
        """Compare what the loop has bound and written, and note what it has made active.

        Parameters
        ----------
        *values
            What the names are bound to that the region binds, in their order.
        """
        self.ctx.loops_beside.remove(self)
        self.bound = dict(zip(self.site.region.bound, values, strict=True))
        for name, y in self.bound.items():
            if is_tangent(name):
                g = self.given[name]
                self.compare_rounded("tangent", name, g, as_plain(y), size_of(g), self.close)
            else:
                self.compare_value(name, self.expected[name], y)
        for name in self.site.written:
            if is_tangent(name):
                cells = self.tangents[name]
                y = as_plain(self.source[name])
                found = cells.values, y, cells.sizes
                self.compare_rounded("tangent", name, *found, self.close)
            else:
                self.compare_value(name, self.contents(name), self.source[name])
        if not self.is_active:
            return
        self.items = {
            id(a): list(a) for name, a in self.source.items() if type(self.inputs[name]) is Items
        }
        self.ctx.record((note_cotangents, self))

    def above(
        self, ctx: ForwardMode, names: Iterable[str], tangents: dict[str, str], pairs: list[Pairs]
    ) -> LoopAbove:
        """Return what compares the same loop under forward mode: see `LoopAbove`."""
        return LoopAbove(self, ctx, names, tangents, pairs)

    def contents(self, name: str) -> Any:
        """Return what an array or a list holds after the region has run."""
        a = self.copies[name]
        return [a.type(v) for v in a.cells] if type(a) is Items else a

    # Cotangents.

    def note(self) -> None:
        """Note the cotangents of what there is after the loop."""
        self.noted = Noted(self)

    def check(self) -> None:
        """Compare what the loop has made of the cotangents with what the region makes of them."""
        noted, self.noted = self.noted, None
        if noted is None or not noted.is_finite:
            return
        blocks = SizedBlocks(noted.blocks)
        cells = {name: blocks.cells(a) for name, a in noted.arrays.items()}
        items = {key: sized_items(found) for key, found in noted.items.items()}
        lists = {name: items[id(self.source[name])] for name in self.lists()}
        numbers: dict[int, Any] = {key: sized_value(g) for key, (_, g) in noted.leaves.items()}
        form, given = self.form, self.given
        found = form.reverse(
            list(self.floats).pop,
            list(self.ints).pop,
            self.steps,
            *(given[name] for name in (*form.steady, *form.counts)),
            *(cells_of(self.copies[name]) for name in form.read),
            *((cells | lists)[name] for name in form.shadows),
            *(sized_value(g) for g in noted.grads),
        )
        names: dict[int, str] = {}
        for name, g in zip(form.leaves, found, strict=True):
            key = id(self.inputs[name])
            names[key] = name
            numbers[key] = numbers[key] + g
        for name, a in self.each_list():
            for k, leaf in a.leaves:
                names[id(leaf)] = name
                numbers[id(leaf)] = numbers[id(leaf)] + items[id(self.source[name])][k]
        for key, name in names.items():
            leaf, g = noted.leaves[key][0], numbers[key]
            self.compare_rounded("cotangent", name, g, leaf.grad, size_of(g), self.close)
        for name in self.active:
            a = noted.arrays[name]
            g, sizes = blocks.views(a)
            self.compare_rounded("cotangent", name, g, self.cotangent(a), sizes, self.close)

    def lists(self) -> list[str]:
        """Return the names of the lists to whose items cotangents may flow."""
        return [name for name in self.form.shadows if type(self.inputs[name]) is Items]

    def each_list(self) -> Iterator[tuple[str, Items]]:
        """Yield each of these lists once."""
        found = {id(self.source[name]): name for name in self.lists()}
        for name in found.values():
            yield name, self.inputs[name]

    def cotangent(self, a: ndarray) -> ndarray:
        """Return the cotangent of an array."""
        return cotangents(self.ctx).view(a)

    @property
    def close(self) -> float:
        """How much of the terms of a sum rounding may change."""
        return max(CLOSE, EPS * (len(self.floats) + len(self.steps or ())))

    @override
    def differs(
        self, what: str, name: str, got: str, expected: str, index: Any = ()
    ) -> DifferentResultError:
        while is_tangent(name):
            name = name.partition("_")[2]
        name = self.site.region.bound.get(name, name.removeprefix("u_"))
        return super().differs(what, name, got, expected, index)


class LoopAbove:
    """A loop under forward mode: below, its tangent runs beside.

    Parameters
    ----------
    below : LoopBeside or LoopAbove
    ctx : ForwardMode
    names : iterable of str
        What the region binds.
    tangents : dict of str to str
        For each active name what its tangent is called below.
    pairs : list of Pairs
        The lists among the inputs, as they were.
    """

    def __init__(
        self,
        below: LoopBeside | LoopAbove,
        ctx: ForwardMode,
        names: Iterable[str],
        tangents: dict[str, str],
        pairs: list[Pairs],
    ) -> None:
        self.below = below
        self.ctx = ctx
        self.names = tuple(names)
        self.tangents = tangents
        self.pairs = pairs

    def above(
        self, ctx: ForwardMode, names: Iterable[str], tangents: dict[str, str], pairs: list[Pairs]
    ) -> LoopAbove:
        """Return what compares the same loop one level higher."""
        return LoopAbove(self, ctx, names, tangents, pairs)

    def compare(self, *values: Any) -> None:
        """Compare primals and tangents of what the loop has bound and written."""
        for pair in self.pairs:
            now = Pairs(self.ctx, pair.source)
            pair.primals[:], pair.tangents[:] = now.primals, now.tangents
        primals: list[Any] = []
        tangents: list[Any] = []
        for name, y in zip(self.names, values, strict=True):
            p, t = self.ctx.split(y)
            primals.append(p)
            if name in self.tangents:
                tangents.append(0.0 if t is None else t)
        self.below.compare(*primals, *tangents)


def note_cotangents(entry: tuple[Any, ...]) -> None:
    """Reverse of the end of a loop."""
    entry[1].note()


def check_cotangents(entry: tuple[Any, ...]) -> None:
    """Reverse of the beginning of a loop."""
    entry[1].check()
