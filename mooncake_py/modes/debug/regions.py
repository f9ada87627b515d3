"""Loops that run as one entry without debug mode, checked on copies.

The program runs the loop statement by statement, with all checks.  Two entries of the tape enclose
those of the loop::

    tape                    forward                         in the reverse pass
    check_cotangents        the region runs on copies       its adjoint gives the same cotangents?
    ...                     the loop runs
    note_cotangents         the same values?                those that the loop is about to take

Every kind of region is compared so: loops over numbers and comprehensions, and loops over arrays,
which run as text of NumPy.  A region runs in a context of its own (`mirror`), by what runs it
without debug mode, and in the reverse pass once more, for its adjoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.items import Pairs
from mooncake_py.errors import DifferentResultError, Location
from mooncake_py.modes.debug.beside import NotPlainError, as_plain
from mooncake_py.modes.debug.mirror import cotangents
from mooncake_py.modes.debug.quick_ways import QuickWay, is_far, spread
from mooncake_py.modes.debug.region_runs import REALS, Run
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.syntax.names import MISSING
from mooncake_py.tangents.memory import owner

if TYPE_CHECKING:
    from mooncake_py.modes.debug.context import Checks
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["RegionBeside", "beside"]

CLOSE = 4096  # errors of rounding of the terms of a derivative
MARGIN = 100.0  # how far a result may differ, where slopes cancel, for each that rounding moves it
CANCELLED = 256.0  # of the errors allowed for the largest element, in any other
SAMPLES = 3


def beside(
    ctx: Checks, site: Any, functions: Any, steps: Any, inputs: dict[str, Any]
) -> RegionBeside | Any:
    """Run a region on copies and return what compares the loop with it.

    `Elsewhere` if it would not run as one entry without debug mode either, or its arrays are too
    large to be copied.
    """
    if any(owner(a).base is not None for a in inputs.values() if type(a) is ndarray):
        return Elsewhere  # memory that no array owns
    try:
        run = RegionBeside(ctx, site, functions, steps, inputs)
    except NotPlainError:
        return Elsewhere
    if run.quick.found is Elsewhere:
        return Elsewhere
    if run.is_active:
        for a in inputs.values():
            if type(a) is ndarray:
                ctx.registry.protect(a)  # it runs again in the reverse pass
        ctx.record((check_cotangents, run))
    return run


class Total(NamedTuple):
    """A cotangent or a tangent, which is a sum.

    Attributes
    ----------
    name : str
        Of what it belongs to.
    found, expected
        What the region gives, and what the statements do.
    """

    name: str
    found: Any
    expected: Any


class RegionBeside(QuickWay):
    """A loop that has run as one entry, compared with the same loop statement by statement.

    Parameters
    ----------
    ctx : Checks
    site : Site or RegionSite
    functions, steps, inputs
        As the site is given them.
    """

    def __init__(
        self, ctx: Checks, site: Any, functions: Any, steps: Any, inputs: dict[str, Any]
    ) -> None:
        super().__init__(ctx, "a loop", "statements")
        self.site = site
        self.functions = functions
        self.steps = steps
        self.source = inputs
        self.inputs = {n: list(v) if type(v) is list else v for n, v in inputs.items()}
        self.place = ctx.user_location()
        self.active = [name for name, v in inputs.items() if self.has_cotangent(v)]
        self.noted: Noted | None = None
        self.given: Any = self.run() if site.tangents else None  # as they are before the loop
        self.quick: Any = self.run().forward()  # until it is compared
        self.changed: list[str] = site.changed

    def run(self) -> Run:
        """Return the region with copies of what there is now."""
        return Run(self.ctx, self.site, self.functions, self.steps, self.inputs)

    def has_cotangent(self, value: Any) -> bool:
        """Whether a value of the program has one, or an item of it."""
        if type(value) is ndarray:
            return self.ctx.find(value) is not None
        return type(value) is Active or (
            type(value) in (list, tuple) and any(type(v) is Active for v in value)
        )

    @property
    @override
    def where(self) -> Location | None:
        return self.place

    @property
    def is_active(self) -> bool:
        """Whether cotangents may flow through the region."""
        return bool(self.active)

    # Values.

    def compare(self, *values: Any) -> None:
        """Compare what the loop has bound and written.

        Parameters
        ----------
        *values
            What the names are bound to that the region gives back, in their order.
        """
        self.ctx.loops_beside.remove(self)
        found = [list(v) if type(v) is list else v for v in values]  # as they are now
        self.bound = dict(zip(self.site.outputs, found, strict=True))
        tangents: list[Total] = []
        for name, found, expected in self.pairs(self.quick):
            if name in self.site.tangents:
                tangents.append(Total(name, numbers(found), numbers(expected)))
            else:
                self.compare_value(name, found, expected)
        self.compare_totals("tangent", tangents, self.nudged_tangents)
        self.lists = {n: list(v) for n, v in self.source.items() if type(v) is list}
        self.quick = self.given = None
        if self.is_active:
            self.ctx.record((note_cotangents, self))

    def pairs(self, run: Run) -> Iterator[tuple[str, Any, Any]]:
        """Yield the outputs and writes of a run, with those of the loop, by name."""
        for name, expected in self.bound.items():
            if expected is not MISSING:
                yield name, run.found[name], expected
        for name in self.changed:
            found, expected = run.inputs[name], self.source[name]
            if type(found) is list:
                yield name, *others(found, expected)
            else:
                yield name, found, expected

    def nudged(self, ctx: ReverseMode, inputs: dict[str, Any]) -> Iterator[Run]:
        """Yield runs from values of a context with errors of rounding."""
        for _ in range(SAMPLES):
            run = Run(ctx, self.site, self.functions, self.steps, inputs, self.nudge).forward()
            if run.found is not Elsewhere:
                yield run

    def nudged_tangents(self) -> list[list[Any]]:
        """Return the tangents of runs that begin with errors of rounding."""
        return [
            [numbers(y) for name, y, _ in self.pairs(run) if name in self.site.tangents]
            for run in self.nudged(self.given.own, self.given.inputs)
        ]

    def above(
        self, ctx: ForwardMode, names: Iterable[str], tangents: dict[str, str], pairs: list[Pairs]
    ) -> LoopAbove:
        """Return a comparison of the same loop under forward mode: see `LoopAbove`."""
        return LoopAbove(self, ctx, names, tangents, pairs)

    def compare_totals(
        self,
        what: str,
        totals: list[Total],
        others: Callable[[], list[list[Any]]],
    ) -> None:
        """Raise if sums, which are called so, differ by more than rounding does.

        Parameters
        ----------
        others : callable
            Returns these sums as runs find them that begin with errors of rounding: these tell what
            rounding does to slopes, which are sums too. Those of an iteration that has converged
            are nothing else, and so are their products. There may be none.
        """
        off = [
            k
            for k, t in enumerate(totals)
            if is_far(t.found, t.expected, np.abs(t.expected), self.close).any()
        ]
        runs = others() if off else []
        for k in off:
            name, y, expected = totals[k]
            size = MARGIN * np.abs(expected)
            if runs:
                size = spread(y, [run[k] for run in runs], self.close / MARGIN)
            # Where an element cancels, its rounding is of the size of the others.
            finite = np.abs(expected)[np.isfinite(expected)]
            size = np.maximum(size, np.max(finite, initial=0.0) / CANCELLED)
            self.compare_rounded(what, name, y, expected, size, self.close)

    # Cotangents.

    def note(self) -> None:
        """Note the cotangents of what there is after the loop."""
        self.noted = Noted(self)

    def check(self) -> None:
        """Compare what the loop has made of the cotangents with what the region makes of them."""
        noted, self.noted = self.noted, None
        if noted is None or not noted.is_finite:
            return
        run = self.run().forward()
        if run.found is Elsewhere:
            return
        found = noted.pulled(run)
        blocks = cotangents(self.ctx)
        expected = [
            leaf.grad if type(leaf) is Active else blocks.view(leaf) for _, leaf in noted.leaves
        ]
        names = [name for name, _ in noted.leaves]
        totals = [Total(*each) for each in zip(names, found, expected, strict=True)]
        for name in self.changed:
            if name not in self.site.tangents:
                self.compare_value(f"{name}, undone,", run.inputs[name], self.inputs[name])

        def nudged() -> list[list[Any]]:
            runs = self.nudged(self.ctx, self.inputs)
            return [noted.pulled(each, self.nudge) for each in runs]

        self.compare_totals("cotangent", totals, nudged)

    def nudge(self, value: Any) -> Any:
        """Return a number or an array with errors of rounding."""
        errors = self.ctx.random.uniform(-1.0, 1.0, np.shape(value))
        y = np.asarray(value) * (1.0 + 4 * self.eps * errors)
        return y.astype(value.dtype) if type(value) is ndarray else type(value)(y)

    @property
    def eps(self) -> float:
        """The error of the least precise of the numbers."""
        arrays = [v.dtype for v in self.inputs.values() if type(v) is ndarray]
        kinds = [t for t in arrays if t.kind in "fc"]
        kinds += [np.dtype(np.float32)] * any(map(is_single, self.inputs.values()))
        return max([float(np.finfo(t).eps) for t in kinds], default=float(np.finfo(float).eps))

    @property
    def close(self) -> float:
        """How much of the terms of a sum rounding may change."""
        return self.eps * (CLOSE + len(self.steps or ()))

    @override
    def differs(
        self, what: str, name: str, got: str, expected: str, index: Any = ()
    ) -> DifferentResultError:
        name, comma, rest = name.partition(",")
        return super().differs(what, self.site.called(name) + comma + rest, got, expected, index)


def numbers(value: Any) -> Any:
    """Return tangents without derivatives, those of a list as an array."""
    plain = as_plain(value)
    return np.array(plain) if type(plain) is list else plain


def is_single(value: Any) -> bool:
    """Whether a number is of half of the precision."""
    return type(value.primal if type(value) is Active else value) is np.float32


def others(found: list[Any], expected: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return two lists without the objects that both have in one place."""
    same = {k for k, (a, b) in enumerate(zip(found, expected, strict=False)) if a is b}
    first, second = ([v for k, v in enumerate(a) if k not in same] for a in (found, expected))
    return first, second


class Noted:
    """The cotangents after a loop, from which its adjoint computes those before it.

    A number that is bound to several names, or was there before, has one cotangent: a region takes
    it for the first of these that is active there.

    Attributes
    ----------
    leaves : list of (str, Active or ndarray)
        What was active before the loop, by name.
    """

    def __init__(self, beside: RegionBeside) -> None:
        self.beside = beside
        blocks = cotangents(beside.ctx)
        after = [*beside.bound.values(), *beside.lists.values(), *beside.inputs.values()]
        self.numbers: dict[int, Any] = {id(v): v.grad for v in each_number(after)}
        self.arrays = {
            id(a): np.array(blocks.view(a))
            for a in after
            if type(a) is ndarray and beside.ctx.find(a) is not None
        }
        leaves: dict[int, tuple[str, Any]] = {}
        for name in beside.active:
            value = beside.inputs[name]
            for v in (value,) if type(value) is ndarray else each_number([value]):
                leaves.setdefault(id(v), (name, v))
        self.leaves = list(leaves.values())

    @property
    def is_finite(self) -> bool:
        """Whether all are finite numbers."""
        return all(type(g) in REALS and math.isfinite(g) for g in self.numbers.values()) and all(
            np.isfinite(a).all() for a in self.arrays.values()
        )

    def pulled(self, run: Run, nudge: Callable[[Any], Any] | None = None) -> list[Any]:
        """Return the cotangents that the region computes for the leaves."""
        beside = self.beside
        taken: set[int] = set()

        def seed(value: Any, copy: Any) -> None:
            if type(value) in (list, tuple):
                for pair in zip(value, copy, strict=False):
                    seed(*pair)
            elif type(value) is type(copy) is Active and id(value) not in taken:
                taken.add(id(value))
                copy.grad += nudged(self.numbers[id(value)])
            elif type(copy) is ndarray and id(value) in self.arrays and run.is_active(copy):
                run.own.registry.activate(copy).shadow()[...] = nudged(self.arrays[id(value)])

        def nudged(g: Any) -> Any:
            return g if nudge is None else nudge(g)

        for name, value in beside.bound.items():
            if value is not MISSING:
                seed(value, run.found[name])
        for name, value in beside.lists.items():
            seed(value, run.inputs[name])
        for name, value in beside.inputs.items():
            seed(value, run.before[name])
        run.own.run_backwards()
        blocks = cotangents(run.own)
        copies: dict[int, Any] = {}
        for name in beside.active:
            match_leaves(beside.inputs[name], run.before[name], copies)
        found = [copies[id(leaf)] for _, leaf in self.leaves]
        return [c.grad if type(c) is Active else np.array(blocks.view(c)) for c in found]


def match_leaves(value: Any, copy: Any, found: dict[int, Any]) -> None:
    """Note the copies of what is active in a value, by its id."""
    if type(value) in (list, tuple):
        for pair in zip(value, copy, strict=True):
            match_leaves(*pair, found)
    elif type(value) in (Active, ndarray):
        found.setdefault(id(value), copy)


def each_number(values: Iterable[Any]) -> Iterator[Active]:
    """Yield the active numbers among values, and among the items of lists."""
    for v in values:
        if type(v) is Active:
            yield v
        elif type(v) in (list, tuple):
            yield from each_number(v)


class LoopAbove:
    """A loop under forward mode: its tangent runs alongside, one level below.

    Parameters
    ----------
    below : RegionBeside or LoopAbove
    ctx : ForwardMode
    names : iterable of str
        What the region gives back.
    tangents : dict of str to str
        For each active name what its tangent is called below.
    pairs : list of Pairs
        The lists among the inputs, as they were.
    """

    def __init__(
        self,
        below: RegionBeside | LoopAbove,
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
        """Return a comparison of the same loop one level higher."""
        return LoopAbove(self, ctx, names, tangents, pairs)

    def compare(self, *values: Any) -> None:
        """Compare primals and tangents of what the loop has bound and written."""
        for pair in self.pairs:
            now = Pairs(self.ctx, pair.source)
            pair.primals[:], pair.tangents[:] = now.primals, now.tangents
        primals: list[Any] = []
        tangents: list[Any] = []
        for name, y in zip(self.names, values, strict=True):
            if type(y) is list:
                pair = Pairs(self.ctx, y)
                p, t = pair.primals, pair.tangents
            else:
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
