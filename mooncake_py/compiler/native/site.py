"""Calls of functions that are compiled whole."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.native.beside import Beside
from mooncake_py.compiler.native.building.looked import found_at
from mooncake_py.compiler.native.building.types import (
    KnownType,
    Met,
    Type,
    UnservedType,
    itemized,
    met_in,
    type_of,
)
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.choices import takes_notes
from mooncake_py.compiler.native.entering_again import Quick
from mooncake_py.compiler.native.fingerprint import fingerprint, text_of_type
from mooncake_py.compiler.native.form import NUMPY, Compiler
from mooncake_py.compiler.native.giving_back import given_back
from mooncake_py.compiler.native.machine import notes
from mooncake_py.compiler.native.machine.background import is_busy
from mooncake_py.compiler.native.outcome import COMPILED, NOT_COMPILED, Outcome
from mooncake_py.compiler.native.postponed import Postponed
from mooncake_py.compiler.native.reading.loop_names import has_loops
from mooncake_py.compiler.native.reading.objects import put_at
from mooncake_py.compiler.native.reading.parameters import parameters_of
from mooncake_py.compiler.native.reading.reader import Reading, read_function
from mooncake_py.compiler.native.reading.stops import note_read, note_stop
from mooncake_py.compiler.native.refusals import OTHERWISE, Refusal, Refusals
from mooncake_py.compiler.native.regions.refused import NotYet
from mooncake_py.compiler.native.reread import Found, Reread
from mooncake_py.compiler.native.tasks import Tasks, warn_of
from mooncake_py.compiler.sites import pace
from mooncake_py.compiler.sites.callees import YIELDING, is_own
from mooncake_py.compiler.sites.elsewhere import Elsewhere, InParts, Other
from mooncake_py.compiler.sites.items import put_into
from mooncake_py.compiler.sites.pace import PLAINLY, TIMED, TIMED_PLAINLY, Pace, Paces
from mooncake_py.compiler.sites.spending import spending
from mooncake_py.compiler.sites.trials import is_repeated
from mooncake_py.errors import file_and_line
from mooncake_py.jitted import python_function
from mooncake_py.overriding import override
from mooncake_py.rules import registry
from mooncake_py.rules.steady import hold_functions, is_replaced
from mooncake_py.runtime.compilation import AUTO
from mooncake_py.runtime.limits import limits_raised
from mooncake_py.syntax.nodes import Place

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Site", "call", "known_site", "report"]

MOST = 16  # types of arguments for which a function is read
RECENT = 4  # readings that are asked first
NOTED = 0.01  # seconds that a reading took in vain, from which on later processes are told
ALIKE = 4  # readings for arguments of the same types, which differ in functions of one code
LEFT = " but left in the last call: it met something unusual, such as a number that is not finite"
IS_FIT = not is_replaced()
"""Whether the functions of NumPy were those of their names when tables of them were made: now."""
hold_functions()  # of what reads functions, which is there now


def call(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Return ``f(*args, **kwargs)`` as one compiled region; `Elsewhere` if it cannot be one.

    Every mode asks before it runs a Python function by its derived form, the outermost one of a
    differentiated call as well as those that it calls, also functions of libraries and those with
    which this package replaces built-in ones.  Where `Elsewhere` is returned, nothing has been
    done; `InParts` says besides that its loops may be compiled.
    """
    site = site_of(f)
    if site is None or site.paces[type(ctx)].rests(ctx):
        return Elsewhere
    return site.call(ctx, f, args, kwargs)


def report(f: Any) -> list[Outcome]:
    """Return the outcomes of compiling a function and its loops.

    For code that was not compiled, it says which line prevented it first, and why.
    """
    if not IS_FIT:
        why = "the program had replaced functions of NumPy or math before"
        return [Outcome("all functions", NOT_COMPILED, why)]
    site = known_site(getattr(f, "__code__", None))
    return [] if site is None else site.report()


Sites = dict[int, tuple[weakref.ref[CodeType], "FunctionSite | None"]]
_sites: Sites = {}
_by_others: dict[Compiler, Sites] = {}
"""By what their regions are made, where that is not what compiles."""


def known_site(code: CodeType | None) -> FunctionSite | None:
    """Return the site of a function that was called, by its code."""
    known = _sites.get(id(code))
    return None if known is None or known[0]() is not code else known[1]


def site_of(f: FunctionType, compiler: Compiler | None = None) -> FunctionSite | None:
    """Return the site of a function of the user's, None for any other.

    Parameters
    ----------
    compiler : Compiler, optional
        See `RegionSite`.
    """
    code = f.__code__
    sites = _sites if compiler is None else _by_others.setdefault(compiler, {})
    known = sites.get(id(code))
    if known is not None and known[0]() is code:
        return known[1]
    site = FunctionSite(f, compiler) if IS_FIT and is_own(f, YIELDING) else None
    key, forget = id(code), sites.pop  # the name is gone when the interpreter ends
    sites[key] = weakref.ref(code, lambda _: forget(key, None)), site
    return site


class Site:
    """A function or loop that is tried as one region, for values of each types.

    Parameters
    ----------
    name, where : str
        What it is, and where it stands.
    compiler : Compiler, optional
        See `RegionSite`.

    Attributes
    ----------
    refused : Refusals
        Why it could not be read.
    postponed : Postponed
    is_carried : bool
        Whether a function is made for each run, which carries the global names: see `Holding`.
    """

    is_carried = False

    def __init__(self, name: str, where: str, compiler: Compiler | None = None) -> None:
        self.name = name
        self.compiler = compiler
        self.where = where
        self.readings: dict[tuple[Type, ...], list[Reread]] = {}
        self.refused = Refusals()
        self.postponed = Postponed(has_loops=True)
        self.tasks: Tasks[Reread | None] = Tasks(where)
        self.alike: Counter[tuple[Any, ...]] = Counter()
        self.recent: list[Reread] = []  # the last one first
        self.quick = Quick()
        self.unserved = ""  # what an argument is
        self.paces = Paces(self.parts, self.hasten, self.pace_before, self.remember_pace)

    def hasten(self) -> bool:
        """Have better code made of all that was read; return whether that is new."""
        return sum([r.site.hasten() for r in self.read_so_far()]) > 0

    # Notes for other processes.

    def digest(self) -> str:
        """Return a digest that changes with the code, empty if nothing is noted."""
        return ""

    def key_of(self, *parts: Any) -> str:
        """Return the key of a note, empty if there is none."""
        own = self.digest() if self.compiler is None and takes_notes() else ""
        return own and notes.digest(own, self.name, parts)

    def pace_before(self, mode: type) -> float | None:
        """Return the timing that another process has noted."""
        key = self.key_of("pace", mode.__name__)
        before = notes.noted(key) if key else None
        return before if isinstance(before, float) else None

    def remember_pace(self, mode: type, limit: float) -> None:
        """Note it for other processes."""
        key = self.key_of("pace", mode.__name__)
        if key:
            notes.note(key, limit)

    def read_so_far(self) -> list[Reread]:
        """Return all readings, as other threads may add some meanwhile."""
        return [reading for known in list(self.readings.values()) for reading in list(known)]

    def read(
        self, f: FunctionType, types: tuple[Type, ...], met: Met, given: Sequence[Any]
    ) -> Reading:
        """Read what is compiled; raise `Unfit` where that cannot be."""
        raise NotImplementedError

    def parts(self, mode: type) -> Iterable[Pace]:
        """Return the paces of the loops that are tried where this is not, and were reached."""
        return ()

    def reading(
        self,
        f: FunctionType,
        types: tuple[Type, ...],
        given: Sequence[Any],
        ctx: Mode | None = None,
    ) -> Found | None:
        """Return the reading for values of these types, None if it cannot be compiled.

        Raises
        ------
        NotYet
            If nobody waits for it to be read.
        """
        found = self.known(f, types, given)
        if found is not None or not self.may_be_read(types) or not self.postponed.may_go_on(ctx):
            return found
        if self.compiler is not None:  # which takes no longer than to wait for it
            self.read_now(f, types, given)
        else:
            self.tasks.done(types, lambda: self.read_now(f, types, given))
        return self.known(f, types, given)

    def known(self, f: FunctionType, types: tuple[Type, ...], given: Sequence[Any]) -> Found | None:
        """Return the reading for these types if it fits such values."""
        try:
            known = self.readings.get(types, [])
        except TypeError:  # what cannot be hashed
            return None
        for reading in known:
            inputs = reading.inputs(f, given)
            if inputs is not None:
                return reading, inputs
        return None

    def may_be_read(self, types: tuple[Type, ...]) -> bool:
        """Return True if the function is to be read for these types, again perhaps."""
        try:
            return (
                not self.is_hopeless()
                and types not in self.refused
                and self.alike[tuple(map(by_code, types))] < ALIKE
                and not self.is_full()
            )
        except TypeError:  # what cannot be hashed
            return False

    def read_now(
        self, f: FunctionType, types: tuple[Type, ...], given: Sequence[Any]
    ) -> Reread | None:
        """Read for these types, and remember what comes of it, between processes too."""
        key = self.key_of("reading", text_of_type(types))
        before = notes.noted(key) if key else None
        if before is not None:
            why, place = before
            self.refused[types] = Refusal(why, None if place is None else Place(*place))
            return None
        begin = pace.clock()
        try:
            with limits_raised():  # Python's parser fails if another thread does it meanwhile
                reading = self.read(f, types, met_in(given), given)
                found = Reread(reading, types, self.name, self.compiler, self.is_carried)
        except Unfit as error:
            if error.within is not None:
                note_stop(error.within, error)
            self.refused.add(types, Refusal(error.why, error.place))
            if key and pace.clock() - begin > NOTED:
                notes.note(key, self.refused[types])
            return None
        except Exception as error:  # a failure to compile is never one of the derivative
            self.refused[types] = Refusal(repr(error), None)
            if self.compiler is None:  # else nobody has asked for it
                warn_of(self.name, repr(error))
            return None
        self.alike[tuple(map(by_code, types))] += 1
        note_read([callee.code() for callee in found.callees.every])
        self.readings.setdefault(types, []).append(found)
        return found

    def matching(self, f: FunctionType, given: Sequence[Any]) -> Found | None:
        """Return an earlier reading that fits such values, and its inputs."""
        for reading in self.recent:
            inputs = reading.inputs(f, given)
            if inputs is not None:
                return reading, inputs
        return None

    def served(self, reading: Reread) -> None:
        """Note the reading that is likely to fit the next values."""
        if reading not in self.recent:
            self.recent = [reading, *self.recent[: RECENT - 1]]

    def run(self, ctx: Mode, reading: Reread, inputs: dict[str, Any], given: Sequence[Any]) -> Any:
        """Run a reading as one region, or return `Elsewhere`.

        Parameters
        ----------
        given : sequence
            What was passed, where attributes of it are set afterwards.
        """
        result = reading.run(ctx, inputs, given)
        if result is Elsewhere:
            return Elsewhere
        if type(result) is not dict:
            return Beside(result, reading, inputs, given)
        reading.callees.enter(ctx)
        self.quick.ran(ctx, reading)
        for output, own in reading.grown:
            items = given_back(output, result, ctx)
            put_into(ctx, inputs[own], [*range(len(items))], items)
        for path, name, output in reading.set_after:
            put_at(ctx, found_at(given, path), name, given_back(output, result, ctx))
        return given_back(reading.output, result, ctx)

    def is_hopeless(self) -> bool:
        """Return True if readings for other types will hardly succeed."""
        return self.refused.is_hopeless and not self.readings

    def is_full(self) -> bool:
        """Return True if no more types are tried."""
        return len(self.readings) >= MOST or len(self.refused) >= 2 * MOST

    def report(self) -> list[Outcome]:
        """Return the outcomes: compiled code, or the line that prevented it and the reason."""
        found: list[tuple[str, str, int | None]] = []
        for readings in self.readings.values():
            for reading in readings:
                why, failed = reading.site.why, reading.site.trials.failed
                outcome = NOT_COMPILED if why else COMPILED
                found.append((outcome + LEFT if failed else outcome, why or "", None))
        for why, place in self.refused.values():
            if why:
                found.append((NOT_COMPILED, why, None if place is None else place.line))
        if not found and self.unserved:
            found.append((NOT_COMPILED, f"an argument: {self.unserved}", None))
        if any(own.is_slower for own in list(self.paces.values())):
            found.append(("left to its derived form, which was faster", "", None))
        return [Outcome(self.where, *outcome) for outcome in dict.fromkeys(found)]


class FunctionSite(Site):
    """A function that is tried as a whole.

    Attributes
    ----------
    loops : dict of Place to LoopSite
        Its loops, which are tried one by one where it cannot be compiled.
    """

    def __init__(self, f: FunctionType, compiler: Compiler | None = None) -> None:
        name, code = f.__qualname__, f.__code__
        where = file_and_line(code.co_filename, code.co_firstlineno)
        super().__init__(name, f"{name} ({where})", compiler)
        self.is_fit = not code.co_flags & YIELDING
        self.takes = parameters_of(code)
        self.parameters = self.takes.names
        self.function = weakref.ref(f)
        self._digest = ""
        self.loops: dict[Place, Any] = {}
        self.again: dict[Any, Any] = {}  # what is printed for calls of its derivatives
        self.has_loops = self.postponed.has_loops = has_loops(code)

    def call(self, ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
        """Run as one region, or return `Elsewhere`, `InParts`, or a `Pace`.

        That is as either of these, as it says, and is to be told how long the function takes then.
        """
        if ctx.compiles is AUTO and is_repeated(ctx):
            return Elsewhere  # code may be there the second time that was not the first
        own = self.paces[type(ctx)]
        if not self.readings and self.postponed.rests(ctx):
            return self.in_parts(own)
        way = own.way(ctx, is_busy())
        if way == PLAINLY:
            return self.in_parts(own)
        if way == TIMED_PLAINLY:
            own.in_parts = own.in_parts and self.has_loops
            return own
        if not self.readings and not self.postponed.may_begin(ctx):
            return self.in_parts(own)
        begin, made, outside = pace.clock(), spending.making, pace.met.outside
        try:
            result = self.run_whole(ctx, own, f, args, kwargs)
        except NotYet:
            return Elsewhere
        finally:
            spending.took(made)
        seconds = pace.clock() - begin
        if result is Elsewhere or result is InParts:
            own.missed(seconds)
            return result if result is Elsewhere else self.in_parts(own)
        own.ran(pace.met.outside - outside, seconds)
        if own.has_loops and seconds > pace.LONG:
            pace.met.loops = True
        if way == TIMED:
            own.took(seconds)
        return result

    @override
    def digest(self) -> str:
        f = self.function()
        if not self._digest and f is not None:
            self._digest = notes.digest(fingerprint(f))
        return self._digest

    def in_parts(self, own: Pace) -> Any:
        """Return `InParts` if loops are tried."""
        return Elsewhere if own.is_left or not self.has_loops else InParts

    @override
    def parts(self, mode: type) -> Iterable[Pace]:
        return (loop.paces[mode] for loop in list(self.loops.values()) if mode in loop.paces)

    def run_whole(self, ctx: Mode, own: Pace, f: FunctionType, args: Any, kwargs: Any) -> Any:
        """Run as one region, or return `Elsewhere` or `InParts`."""
        if self.quick.again is not None:
            arguments = self.arguments(f, args, kwargs)
            result = Other if arguments is None else self.quick(ctx, arguments, f)
            if result is not Other:
                return result
        found = self.matched(f, args, kwargs, ctx)
        if found is None:
            return InParts
        reading, inputs = found
        if reading.site.region.private or reading.is_small:
            return InParts
        given = self.arguments(f, args, kwargs) if reading.asks else ()
        assert given is not None
        own.has_loops = reading.has_loops
        result = self.run(ctx, reading, inputs, given)
        return InParts if result is Elsewhere and reading.site.why else result

    def matched(
        self, f: FunctionType, args: Any, kwargs: Any, ctx: Mode | None = None
    ) -> Found | None:
        """Return the function as it is read for such arguments, and the inputs of its region."""
        serves = self.is_fit and registry.are_first()
        given = self.arguments(f, args, kwargs) if serves else None
        if given is None:
            return None
        before = self.matching(f, given)
        if before is not None or self.is_hopeless():
            return before
        types: list[Type] = []
        met: Met = {}
        for k, value in enumerate(given):
            found = type_of(value, met, (k,))
            if isinstance(found, UnservedType):
                self.unserved = found.why
                return None
            types.append(found)
        key = tuple(types)
        made = spending.making
        result = self.reading(f, key, given, ctx) or self.itemized(f, key, given, ctx)
        if result is not None:
            self.served(result[0])
        elif ctx is None:
            spending.in_vain += spending.making - made
        return result

    def itemized(
        self, f: FunctionType, types: tuple[Type, ...], given: Sequence[Any], ctx: Mode | None
    ) -> Found | None:
        """Return the reading with items of lists of floats as arguments of their own."""
        items = tuple([itemized(*pair) for pair in zip(given, types, strict=True)])
        if None in items or items == types:
            return None
        found = self.reading(f, items, given, ctx)  # type: ignore[arg-type]
        refusal = self.refused.get(types)
        if refusal is not None and found is None:
            self.refused[items] = refusal  # type: ignore[index]
        elif refusal is not None:
            self.refused[types] = OTHERWISE
        return found

    @override
    def read(
        self, f: FunctionType, types: tuple[Type, ...], met: Met, given: Sequence[Any]
    ) -> Reading:
        return read_function(f, types, met, given, calls=self.compiler is not NUMPY)

    @override
    def report(self) -> list[Outcome]:
        loops = [self.loops[place] for place in sorted(self.loops)]
        own = super().report()
        return own + [outcome for loop in loops for outcome in loop.report()]

    def arguments(self, f: FunctionType, args: Any, kwargs: Any) -> Sequence[Any] | None:
        """Return the arguments in the order of the parameters, None where they do not fit."""
        return self.takes.arranged(f, args, kwargs)


def by_code(type_: Type) -> Any:
    """Return a type, of a function its code: a lambda may be made again in each call."""
    f = python_function(type_.value) if isinstance(type_, KnownType) else None
    return type_ if f is None else f.__code__
