"""A differentiated call in which every step is checked."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.application.lift import in_containers
from mooncake_py.application.rule_ways import RuleWays
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.diagnostics.notes import locate, note_adjoint
from mooncake_py.diagnostics.places import Position, place_at, positions_running
from mooncake_py.errors import InvalidRuleError, Location, MooncakeError, UntrackedWriteError
from mooncake_py.language.comparisons import COMPARISONS
from mooncake_py.modes.debug.beside import Change, compare
from mooncake_py.modes.debug.finite import Watch
from mooncake_py.modes.debug.handlers import CheckedHandlers
from mooncake_py.modes.debug.operands import Operand, changed, operands_of
from mooncake_py.modes.debug.regions import RegionBeside, beside
from mooncake_py.modes.debug.snapshot import CAUSES, FIX, Snapshot, untracked_write
from mooncake_py.modes.debug.statements import compare_statement
from mooncake_py.modes.debug.summaries import summary
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.inner import InnerContext
from mooncake_py.modes.reverse.inplace import BINARY_INPLACE
from mooncake_py.modes.reverse.settings import Settings
from mooncake_py.overriding import override
from mooncake_py.rules import registry
from mooncake_py.runtime.operators import BINARY, UNARY
from mooncake_py.runtime.quiet import is_strict

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["DebugContext", "InnerDebugContext"]


@dataclass(frozen=True, slots=True)
class Record:
    """The data about a tape entry that the entry itself does not hold.

    Attributes
    ----------
    operation : str
        What was being run.
    position : Position or None
        Where in the user's code.
    operands : list of Operand
        What the adjoint reads, as it was.
    """

    operation: str
    position: Position | None
    operands: list[Operand]

    @property
    def where(self) -> Location | None:
        """The place in the user's source."""
        return place_at(self.position)


class Checks(ReverseContext):
    """The additional checks of a reverse-mode call in debug mode: to be mixed into its class.

    Parameters
    ----------
    chosen : Settings
        What is checked.
    function : callable or None
        What will be called; None if only the arguments are to be watched.
    args, kwargs
        Its arguments, not yet active.
    *options
        Of the class that it is mixed into.
    """

    fuses = False
    has_gate = False

    def __init__(
        self, chosen: Settings, function: Any, args: Any, kwargs: Any, *options: Any
    ) -> None:
        self.compare_fused = chosen.compare_fused
        super().__init__(*options)
        self.check_finite = chosen.check_finite
        self.random = np.random.default_rng(0)  # of what quick ways are compared with
        self.function = function
        self.record_plainly = self.record
        self.record = self.record_with_place
        self.records: list[Record] = []
        self.operation = "a call"
        with in_containers:  # no other call's active scalars are in them
            self.before: Snapshot | None = Snapshot(function, args, kwargs)
        self.reverses = False
        self.loops_beside: list[RegionBeside] = []  # whose loops have not ended yet
        self.is_within_statement = False

    def load_handlers(self) -> None:
        """Take the tables of handlers, with checks around each rule."""
        super().load_handlers()
        self.handlers: Any = CheckedHandlers(self.handlers)
        self.handlers_at = self.handlers.values_at
        self.rule_ways = RuleWays()

    @override
    def heed_settings(self) -> None:
        super().heed_settings()
        self.peeks = self.compares

    def record_with_place(self, entry: tuple[Any, ...]) -> None:
        """Put an entry on the tape, and note what messages about it say."""
        del self.records[len(self.tape) :]  # entries may have been taken back
        self.record_plainly(entry)
        position = positions_running(2)[0]
        self.records.append(Record(self.operation, position, operands_of(entry)))

    def run_as(self, operation: str, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a function of the engine; entries recorded within are those of `operation`."""
        outer, self.operation = self.operation, operation
        try:
            return f(*args, **kwargs)
        finally:
            self.operation = outer

    @property
    def compares(self) -> bool:
        """Whether quick ways would run here without debug mode, and are to be compared."""
        return self.compare_fused and registry.are_first() and not is_strict()

    @override
    def run_region(self, site: Any, functions: Any, steps: Any, inputs: Any) -> Any:
        if not site.compares:
            return Elsewhere
        if not self.tries_loops or not self.compares:
            return Elsewhere
        run = beside(self, site, functions, steps, inputs)
        if run is not Elsewhere:
            self.loops_beside.append(run)
        return run

    @override
    def run_generally(self, site: Any, functions: Any, values: Any, ctx: Mode) -> Any:
        if self.compares and not self.loops_beside and not self.is_within_statement:
            compare_statement(self, ctx, site, functions, values)
        before, self.is_within_statement = self.is_within_statement, True
        try:
            return super().run_generally(site, functions, values, ctx)
        finally:
            self.is_within_statement = before

    def check_all_ended(self) -> None:
        """Raise if the statements of a loop have raised that ran to its end as one entry."""
        if self.loops_beside:
            raise self.failed(self.loops_beside[0].ends_otherwise())

    # The reverse pass.

    @override
    def run_backwards(self) -> None:
        self.check_all_ended()
        self.reverses = True
        del self.records[len(self.tape) :]
        if self.meter is None:
            self.reverse_until_due()
        else:
            before, self.postpones = self.postpones, True  # until all is compared
            super().run_backwards()
            self.postpones = before
        found = self.difference()
        if found is not None:
            raise untracked_write(found, self.function)
        self.end()

    @override
    def reverse_until_due(self) -> None:
        meter = self.meter
        with np.errstate(all="ignore"):
            while self.tape:
                with self.taking() as entry:
                    del self.records[len(self.tape) + 1 :]  # a part run again has taken its entries
                    record = self.records.pop()
                    if meter is not None:
                        meter.reversed += 1
                    self.reverse_entry(entry, record)
                if meter is not None and perf_counter() >= meter.due:
                    break

    def reverse_entry(self, entry: tuple[Any, ...], record: Record) -> None:
        """Reverse one entry, with its checks."""
        operand = changed(record.operands)
        if operand is not None:
            raise overwritten(record, operand)
        watch = Watch(self.find, entry) if self.check_finite else None
        try:
            entry[0](entry)
        except MooncakeError as error:
            locate(error, record.where)
            raise
        except Exception as error:
            note_adjoint(error, record.operation, record.where)
            raise
        if watch is not None:
            watch.check(record.operation, record.where)

    # Afterwards everything is as it was before.

    def difference(self) -> str | None:
        """Return once the parts that differ from before the call, in words."""
        before, self.before = self.before, None
        with in_containers:
            return None if before is None else before.difference()

    @contextmanager
    @override
    def outside(self) -> Iterator[None]:
        before = nullcontext() if self.before is None else self.before.leaving_out_changes()
        with super().outside(), before:
            yield

    @override
    def roll_back(self) -> None:
        super().roll_back()
        cause = sys.exception()
        if cause is None:
            self.check_all_ended()
        elif self.loops_beside and not isinstance(cause, MooncakeError):
            cause.add_note(f"mooncake_py: {self.loops_beside[-1].ends_otherwise()}")
        found = self.difference()
        if found is None:
            return
        # An adjoint that failed may have left its part undone.
        explained = self.reverses or isinstance(cause, (InvalidRuleError, UntrackedWriteError))
        if cause is None or (isinstance(cause, Exception) and not explained):
            raise untracked_write(found, self.function) from cause
        cause.add_note(f"mooncake_py: not everything was restored: {found}")


class DebugContext(Checks):
    """One reverse-mode call with checks of rules, memory and cotangents."""


class InnerDebugContext(Checks, InnerContext):
    """The same inside another call."""


def overwritten(record: Record, operand: np.ndarray) -> UntrackedWriteError:
    """Return the error for an operand that is not as it was when it was recorded."""
    return UntrackedWriteError(
        f"an operand of {record.operation} was overwritten, but the engine did not see the write",
        where=record.where,
        why=f"the derivative needs its value here; it now holds {summary(operand)}\n"
        f"likely causes: {CAUSES}",
        fix=FIX,
    )


Native = Callable[..., Any]
NUMERIC = int, float, complex, np.generic


def _define_operations() -> None:
    """Name the entries that operations record, and compare each with the plain operation."""
    for name, op in BINARY.items():
        _define(name, op.ufunc.__name__, op.function)
        _define_inplace(f"i{name.rstrip('_')}", f"{op.ufunc.__name__} in place", op.inplace)
    for name, (function, _, _) in UNARY.items():
        _define(name, function.__name__, function)
    for name, comparison in COMPARISONS.items():
        _define(name, f"the comparison {comparison.symbol!r}", comparison.function)
    _define("getitem", "a read of elements", operator.getitem)
    _define("len", "len", len)
    _define("contained", "the operator in", lambda item, container: item in container)
    _define("getattr", "a read of an attribute", read_attribute)
    _define("setattr", "a write of an attribute", None)
    _define_write("setitem", "a write of elements", operator.setitem, 0)
    _define_write("augitem", "a change of elements", change_element, 1)


def _define(name: str, operation: str, native: Native | None) -> None:
    """Define an operation that only computes."""
    method = getattr(ReverseContext, name)

    def run(self: Checks, *args: Any, **kwargs: Any) -> Any:
        y = self.run_as(operation, method, self, *args, **kwargs)
        if native is not None:
            compare(self, operation, native, args, kwargs, y)
        return y

    setattr(Checks, name, run)


def _define_inplace(name: str, operation: str, native: Native) -> None:
    """Define an operator that changes an array, and returns a new value for a number."""
    method = getattr(ReverseContext, name)

    def run(self: Checks, x: Any, v: Any) -> Any:
        change = Change(x, native, (v,))
        y = self.run_as(operation, method, self, x, v)
        if issubclass(type(x), (list, np.ndarray)):
            change.check(self, operation)
        else:
            compare(self, operation, native, (x, v), {}, y)
        return y

    setattr(Checks, name, run)


def _define_write(name: str, operation: str, native: Native, position: int) -> None:
    """Define a write to elements of the argument at a position."""
    method = getattr(ReverseContext, name)

    def run(self: Checks, *args: Any) -> Any:
        others = *args[:position], *args[position + 1 :]
        change = Change(args[position], native, others)
        self.run_as(operation, method, self, *args)
        change.check(self, operation)

    setattr(Checks, name, run)


def read_attribute(o: Any, name: str) -> Any:
    """Run ``o.name`` for an array or a number where the attribute is not a method."""
    value = getattr(o, name) if isinstance(o, (np.ndarray, *NUMERIC)) else len
    return NotImplemented if callable(value) else value


def change_element(o: np.ndarray, name: str, i: Any, v: Any) -> None:
    """Run ``o[i] op= v``."""
    o[i] = BINARY_INPLACE[name].inplace(o[i], v)


_define_operations()

if TYPE_CHECKING:  # that nothing which the mode promises is missing
    _checked: ReverseMode = DebugContext(Settings(), None, (), {})

    def _checked_inside(outer: Mode) -> ReverseMode:
        return InnerDebugContext(Settings(), None, (), {}, outer)
