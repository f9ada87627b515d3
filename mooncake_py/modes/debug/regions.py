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
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.derivatives.tangent import is_tangent
from mooncake_py.compiler.forms.form import Form
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.items import Items, Pairs
from mooncake_py.compiler.sites.site import UNUSUAL, Site, cells_of, typed
from mooncake_py.errors import DifferentResultError, Location
from mooncake_py.modes.debug.beside import WHOLE, Copies, NotPlainError, as_plain, copied
from mooncake_py.modes.debug.loop_cotangents import Noted, cotangents
from mooncake_py.modes.debug.quick_ways import QuickWay, is_far, spread
from mooncake_py.modes.debug.terms import SizedTerms
from mooncake_py.overriding import override
from mooncake_py.tangents.memory import Shadows, owner

if TYPE_CHECKING:
    from mooncake_py.modes.debug.context import Checks
    from mooncake_py.runtime.forward_mode import ForwardMode

__all__ = ["LoopBeside", "beside"]

CLOSE = 1e-12  # of the terms of a cotangent
SAMPLES = 3
MARGIN = 100.0  # how far a result may differ, where slopes cancel, for each that rounding moves it
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
        for a in run.arrays():
            ctx.registry.protect(a)
        ctx.record((check_cotangents, run))
    return run


class Total(NamedTuple):
    """A cotangent or a tangent, which is a sum.

    Attributes
    ----------
    name : str
        Of what it belongs to.
    found, size
        What the region gives, and the sizes of its terms.
    expected
        What the statements give.
    """

    name: str
    found: Any
    size: Any
    expected: Any

    def sized(self, runs: Iterable[Total], most: float) -> Total:
        """Return it with the size of its terms, from runs with errors of at most a part of them."""
        found = [np.array(run.found) for run in (self, *runs)]  # no memory, and no `Sized`
        return self._replace(size=spread(found[0], found[1:], most))


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
        self.before = inputs

    @property
    @override
    def where(self) -> Location | None:
        return self.place

    def forward(self) -> bool:
        """Run the forward sweep on copies; return False where something is unusual."""
        if any(owner(a).base is not None for a in self.arrays()):
            return False  # memory that no array owns
        results = self.sweep()
        if results is None:
            return False
        count = len(self.form.results)
        self.expected = typed(self.form, self.given, results[count:])
        return True

    def sweep(self) -> list[Any] | None:
        """Run the forward sweep on copies of the inputs as they were."""
        shadows, self.copies = self.copied(self.before)
        self.given = self.site.given(self.form, self.inputs)
        self.terms = SizedTerms(shadows)
        self.tangents = self.as_terms(self.terms)
        kept = self.floats, self.ints, self.steps
        results = self.site.swept(self.form, kept, self.copies | self.tangents, self.given)
        if results is not None:
            self.given |= zip(self.form.results, results, strict=False)
        return results

    def copied(self, inputs: dict[str, Any]) -> tuple[Shadows, dict[str, Any]]:
        """Return inputs with copies of the arrays that the region writes, and their shadows."""
        arrays = {name: a for name, a in inputs.items() if type(a) is ndarray}
        if any(owner(a).nbytes > WHOLE for a in arrays.values()):
            raise NotPlainError
        written = {id(owner(arrays[name])) for name in self.site.written if name in arrays}
        copies = Copies()
        own = {name: copies(a) for name, a in arrays.items() if id(owner(a)) in written}
        return copies.shadows, inputs | own

    @property
    def is_active(self) -> bool:
        """Whether cotangents may flow through the region."""
        return bool(self.form.outputs or self.form.shadows)

    def as_terms(self, terms: SizedTerms) -> dict[str, Any]:
        """Return the tangents that are read and written as terms."""
        found: dict[str, Any] = {}
        lists: dict[int, Any] = {}
        for name in filter(is_tangent, self.before):
            a = self.before[name]
            if type(a) is ndarray:
                found[name] = terms.array(a)
            elif type(a) is Items:
                found[name] = lists.setdefault(id(a), terms.items(a.cells))
            else:
                self.given[name] = terms.number(self.given[name])
        return found

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
            if not is_tangent(name):
                self.compare_value(name, self.expected[name], y)
        for name in self.changed:
            if not is_tangent(name):
                self.compare_value(name, self.contents(name), self.now(name))
        self.compare_totals("tangent", self.tangent_totals())
        if not self.is_active:
            return
        self.items = {
            id(a): list(self.now(name))
            for name, a in self.source.items()
            if type(self.inputs[name]) is Items
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
        return a.contents if type(a) is Items else a

    def now(self, name: str) -> Any:
        """Return what an array or a list of the user holds, of the items that the region has."""
        a = self.inputs[name]
        return self.source[name][a.first :] if type(a) is Items else self.source[name]

    @property
    def changed(self) -> list[str]:
        """The arrays and lists that the region writes or appends to."""
        return [*self.site.written, *self.site.grown.difference(self.site.written)]

    def tangent_totals(self) -> list[Total]:
        """Return the tangents that the region has bound and written."""
        found = self.terms.found
        bound = [
            Total(name, *found(self.given[name]), as_plain(y))
            for name, y in self.bound.items()
            if is_tangent(name)
        ]
        return bound + [
            Total(name, *found(self.tangents[name]), as_plain(self.now(name)))
            for name in self.changed
            if is_tangent(name)
        ]

    def compare_totals(self, what: str, totals: list[Total]) -> None:
        """Raise if sums, which are called so, differ by more than rounding does."""
        for total in totals:
            self.compare_rounded(
                what, total.name, total.found, total.expected, total.size, self.close
            )

    # Cotangents.

    def note(self) -> None:
        """Note the cotangents of what there is after the loop."""
        self.noted = Noted(self)

    def check(self) -> None:
        """Compare what the loop has made of the cotangents with what the region makes of them."""
        noted, self.noted = self.noted, None
        if noted is None or not noted.is_finite:
            return
        totals = self.pulled(noted)
        if any(map(self.is_off, totals)):
            runs = zip(*[self.nudged().pulled(noted) for _ in range(SAMPLES)], strict=True)
            totals = [
                t.sized(found, self.close / MARGIN) for t, found in zip(totals, runs, strict=True)
            ]
        self.compare_totals("cotangent", totals)

    def is_off(self, total: Total) -> bool:
        """Return whether a sum differs by more than rounding of its terms does."""
        return bool(is_far(total.found, total.expected, total.size, self.close).any())

    def nudged(self) -> LoopBeside:
        """Return the loop as it runs from inputs that differ by rounding.

        It tells what rounding does to slopes, which are sums too: those of an iteration that has
        converged are nothing else, and so are their products.
        """
        run = copy(self)
        run.floats, run.ints = [], []
        given = self.site.given(self.form, self.inputs)
        given = {name: self.nudge(v) if type(v) is float else v for name, v in given.items()}
        arrays, lists = Copies(), dict[int, list[Any]]()

        def copied_beside(value: Any) -> Any:
            if type(value) is Items:
                return lists.setdefault(id(value), [self.nudge(v) for v in value.before])
            return arrays(value) if type(value) is ndarray else value

        inputs = {name: copied_beside(v) for name, v in self.before.items()}
        for own in {id(owner(a)): owner(a) for a in inputs.values() if type(a) is ndarray}.values():
            if own.dtype.kind == "f":
                own *= self.nudge(np.ones(own.shape))
        run.copies = self.before | {n: a for n, a in inputs.items() if type(a) is ndarray}
        values = [
            cells_of(v) if name in self.site.region.arrays else given[name]
            for name, v in (inputs | self.tangents).items()
        ]
        values += [given[n.name] for n in self.form.lengths]
        sweep = run.floats.append, run.ints.append, self.steps
        try:
            _, *results = self.form.forward(*sweep, *values)
        except UNUSUAL:
            return self
        run.given = given | dict(zip(self.form.results, results, strict=False))
        return run

    def nudge(self, value: Any) -> Any:
        """Return a number or an array with errors of rounding."""
        return value * (1.0 + 4 * EPS * self.ctx.random.uniform(-1.0, 1.0, np.shape(value) or None))

    def pulled(self, noted: Noted) -> list[Total]:
        """Return what the region makes of the cotangents after the loop."""
        terms = SizedTerms(Shadows(lambda own: copied(noted.blocks.view(own))))
        _, copies = self.copied(self.copies)
        cells = {name: terms.array(a) for name, a in noted.arrays.items()}
        items = {key: terms.items(list(found)) for key, found in noted.items.items()}
        shadows = cells | {name: items[id(self.source[name])] for name in self.lists()}
        numbers: dict[int, Any] = {key: terms.number(g) for key, (_, g) in noted.leaves.items()}
        form, given = self.form, self.given
        found = form.reverse(
            list(self.floats).pop,
            list(self.ints).pop,
            self.steps,
            *(given[name] for name in (*form.steady, *form.counts)),
            *(cells_of(copies[name]) for name in form.read),
            *(cells_of(shadows[name]) for name in form.shadows),
            *map(terms.number, noted.grads),
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
        totals = [
            Total(name, *terms.found(numbers[key]), noted.leaves[key][0].grad)
            for key, name in names.items()
        ]
        return totals + [
            Total(name, *terms.found(cells[name]), self.cotangent(noted.arrays[name]))
            for name in self.active
        ]

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
            now = Pairs(self.ctx, pair.source, pair.first)
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
