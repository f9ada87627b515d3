"""Loops that are compiled by themselves, where their function cannot be."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from mooncake_py.compiler.native.building.findings import MOST, TooMuch
from mooncake_py.compiler.native.building.types import (
    GROWING,
    KnownType,
    ListType,
    Met,
    NumberType,
    Path,
    Type,
    UnservedType,
    list_type,
    type_of,
    unserved,
)
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.effort import Effort, PrintedEffort
from mooncake_py.compiler.native.entering_again import Quick
from mooncake_py.compiler.native.form import NUMPY, Compiler
from mooncake_py.compiler.native.machine.background import is_busy
from mooncake_py.compiler.native.reading.loop_names import Loop
from mooncake_py.compiler.native.reading.loop_reader import read_loop
from mooncake_py.compiler.native.reading.outputs import names_in
from mooncake_py.compiler.native.reading.reader import Reading
from mooncake_py.compiler.native.reading.stops import require_hope
from mooncake_py.compiler.native.refusals import Refusal
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.native.regions.refused import NotYet
from mooncake_py.compiler.native.reread import Found, Reread
from mooncake_py.compiler.native.site import FunctionSite, Site, known_site
from mooncake_py.compiler.sites import pace
from mooncake_py.compiler.sites.elsewhere import Elsewhere, Other
from mooncake_py.compiler.sites.pace import PLAINLY, TIMED, TIMED_PLAINLY, Pace
from mooncake_py.compiler.sites.spending import spending
from mooncake_py.compiler.sites.trials import Trials, is_repeated
from mooncake_py.errors import file_and_line
from mooncake_py.overriding import override
from mooncake_py.rules import registry
from mooncake_py.runtime.compilation import AUTO
from mooncake_py.syntax.names import MISSING
from mooncake_py.syntax.nodes import place_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["LoopSite", "PrintedLoopSite", "site_of_loop"]

AT_FIRST = 500  # statements, of which most loops have less than fifty in all attempts
MORE = 4  # times as many, where these were not enough
SHORT = "it has few passes, or copies far more than it computes"
EMPTY = ListType(NumberType(""))  # a list that may gain numbers of one type


class Unpassed(NamedTuple):
    """A description of a variable that cannot be passed; empty for one that is not bound."""

    what: str


def site_of_loop(code: CodeType, loop: Loop) -> LoopSite:
    """Return the site of a loop of a function, made when it is first met."""
    outer = known_site(code)
    if outer is None:
        return LoopSite(loop, code)
    found: LoopSite = outer.loops.setdefault(place_of(loop.node), LoopSite(loop, code))
    found.outer = outer
    return found


class LoopSite(Site):
    """A loop that is tried as a whole, with the functions that it calls.

    Parameters
    ----------
    loop : Loop
    code : CodeType
        Of the function that it is in; only that of functions which it makes is held.
    compiler : Compiler, optional
        See `RegionSite`.
    """

    is_carried = True
    effort: type[Effort] = Effort
    most: int | None = None  # statements to be read
    outer: FunctionSite | None = None  # of the function that it is in

    def __init__(self, loop: Loop, code: CodeType, compiler: Compiler | None = None) -> None:
        line = loop.node.lineno
        name = f"{code.co_qualname}, loop at line {line}"
        super().__init__(name, f"{name} ({file_and_line(code.co_filename, line)})", compiler)
        self.loop = loop
        self.within = weakref.ref(code)
        self.begun: tuple[Pace, float] | None = None  # a run as it is written, which is timed
        self.efforts: dict[int, Effort] = {}  # by the id of the region's site
        self.quick = Quick(self.efforts)
        for shared in sorted(loop.shared):
            why = f"{shared}, which stands for something outside of the loop too"
            self.refused[()] = Refusal(why, place_of(loop.node))
        self.code = (lambda: None).__code__.replace(
            co_filename=code.co_filename,
            co_name=code.co_name,
            co_firstlineno=line,
            co_consts=tuple([c for c in code.co_consts if isinstance(c, CodeType)]),
        )

    def __repr__(self) -> str:
        return f"LoopSite({self.name!r})"

    def tried(self, ctx: Mode, values: Sequence[Any]) -> Any:
        """Run the loop and return what is read afterwards, or `Elsewhere`.

        Parameters
        ----------
        values : tuple
            Of the variables that are given, `MISSING` for those that are not bound.
        """
        own = self.paces[type(ctx)]
        if own.rests(ctx) or (ctx.compiles is AUTO and is_repeated(ctx)):
            return Elsewhere
        way = own.way(ctx, is_busy())
        self.begun = None
        if way == PLAINLY:
            return Elsewhere
        begin, made, outside = pace.clock(), spending.making, pace.met.outside
        if way == TIMED_PLAINLY:
            self.begun = own, begin
            return Elsewhere
        if not self.readings and not self.postponed.may_begin(ctx):
            return Elsewhere
        try:
            result = self.run_whole(ctx, values, sys._getframe(1).f_globals)
        except NotYet:
            return Elsewhere
        finally:
            spending.took(made)
        seconds = pace.clock() - begin
        if result is Elsewhere:
            own.missed(seconds)
            return result
        own.ran(pace.met.outside - outside, seconds)
        if own.has_loops and seconds > pace.LONG:
            pace.met.loops = True
        if way == TIMED:
            own.took(seconds)
        return result

    def passed(self) -> None:
        """Note that a run of the loop as it is written has come to its end."""
        begun, self.begun = self.begun, None
        if begun is not None:
            own, begin = begun
            own.took_plainly(pace.clock() - begin)

    def run_whole(self, ctx: Mode, values: Sequence[Any], scope: dict[str, Any]) -> Any:
        """Run the loop as one region, or return `Elsewhere`."""
        if not registry.are_first():
            return Elsewhere
        f = FunctionType(self.code, scope)
        result = self.quick(ctx, values, f)
        if result is not Other:
            return result
        before = self.matching(f, values)
        if before is not None:
            reading, inputs = before
            return (
                self.run(ctx, reading, inputs, values)
                if self.pays(reading.site, inputs)
                else Elsewhere
            )
        types = self.types_of(values)
        given = [v for v, t in zip(values, types, strict=True) if type(t) is not Unpassed]
        result = self.reading(f, types, given, ctx)
        if result is None:
            return Elsewhere
        reading, inputs = result
        if len(given) == len(values):
            self.served(reading)
        if not self.pays(reading.site, inputs):
            return Elsewhere
        return self.run(ctx, reading, inputs, given)

    def types_of(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the types of all variables."""
        met: Met = {}
        found: list[Any] = []
        served = 0
        for name, value in zip(self.loop.given, values, strict=True):
            found.append(self.type_of(name, value, met, (served,)))
            served += type(found[-1]) is not Unpassed
        return tuple(found)

    def type_of(self, name: str, value: Any, met: Met, path: Path) -> Any:
        """Return the type of a variable; `met` are the objects among others."""
        if value is MISSING:
            return Unpassed("")
        t = type(value)
        if t is list and not value:
            return EMPTY
        if t is list:
            found = list_type(value) or unserved(value)
        else:
            found = unserved(value) if t in GROWING else type_of(value, met, path)
        if isinstance(found, UnservedType):
            return Unpassed(found.why)
        if isinstance(found, KnownType) and found.type is bool and name in self.loop.bound:
            return NumberType("bool")
        return found

    def pays(self, site: RegionSite, inputs: dict[str, Any]) -> bool:
        """Return True if the loop is to run as a region; the report says if it never was."""
        effort = self.efforts.get(id(site))
        if effort is None:
            effort = self.efforts[id(site)] = self.effort(site.region, site.written)
        found = effort.pays(inputs)
        if not found:
            site.why = site.why or SHORT
        elif site.why is SHORT:
            site.why = ""
        return found

    @override
    def digest(self) -> str:
        return "" if self.outer is None else self.outer.digest()

    @override
    def read(
        self, f: FunctionType, types: tuple[Type, ...], met: Met, given: Sequence[Any]
    ) -> Reading:
        named = dict(zip(self.loop.given, types, strict=True))
        served = {name: t for name, t in named.items() if not isinstance(t, Unpassed)}
        unserved = {name: t.what for name, t in named.items() if isinstance(t, Unpassed) and t.what}
        within = self.within()
        if within is not None:
            require_hope(within, self.loop.node)
        try:
            calls = self.compiler is not NUMPY
            return read_loop(f, self.loop, served, unserved, met, calls=calls, most=self.most)
        except Unfit as error:
            if error.within is self.code:
                error.within, error.is_of_loop = within, True
            raise


class PrintedLoopSite(LoopSite):
    """A loop that is tried as text of NumPy, which needs no compiler.

    Attributes
    ----------
    most : int
        How many statements may be read, as long as the loop has not run for longer.
    was_cut : bool
        Whether a reading of so many did not come to its end.
    """

    effort = PrintedEffort

    def __init__(self, loop: Loop, code: CodeType) -> None:
        super().__init__(loop, code, NUMPY)
        self.trials = Trials()
        self.most = AT_FIRST
        self.was_cut = False

    def run_printed(
        self, ctx: Mode, values: Sequence[Any], scope: dict[str, Any], trials: Trials
    ) -> Any:
        """Run the loop as one region, or return `Elsewhere`.

        Parameters
        ----------
        trials : Trials
            To find a region that is worth it, for such values.
        """
        self.trials = trials
        return self.run_whole(ctx, values, scope)

    @override
    def read_now(
        self, f: FunctionType, types: tuple[Type, ...], given: Sequence[Any]
    ) -> Reread | None:
        found = super().read_now(f, types, given)
        if self.was_cut:
            self.refused.forget(types)
        return found

    @override
    def read(
        self, f: FunctionType, types: tuple[Type, ...], met: Met, given: Sequence[Any]
    ) -> Reading:
        self.was_cut = False
        try:
            return super().read(f, types, met, given)
        except TooMuch:
            self.was_cut = self.most is not None and self.most < MOST
            raise

    def may_read_more(self) -> bool:
        """Return whether a reading was cut; the next one may be longer."""
        if not self.was_cut or self.most is None:
            return False
        self.was_cut = False
        self.most = min(MORE * self.most, MOST)
        return True

    def run_again(self, ctx: Mode, values: Sequence[Any], scope: dict[str, Any]) -> Any:
        """Run the loop as it ran before, or return `Other`."""
        if self.quick.again is None:
            return Other
        return self.quick(ctx, values, FunctionType(self.code, scope))

    @override
    def reading(
        self,
        f: FunctionType,
        types: tuple[Type, ...],
        given: Sequence[Any],
        ctx: Mode | None = None,
    ) -> Found | None:
        found = super().reading(f, types, given)
        if found is not None:
            site, output = found[0].site, found[0].output
            site.takes_views = site.is_loop = True
            for name, part in zip(self.loop.results, output.items, strict=True):
                site.user_names |= dict.fromkeys(names_in(part), name)
        return found

    @override
    def run(self, ctx: Mode, reading: Reread, inputs: dict[str, Any], given: Sequence[Any]) -> Any:
        self.trials.succeed(ctx)
        return super().run(ctx, reading, inputs, given)
