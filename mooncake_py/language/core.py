"""The shared base of a differentiated call: calls, errors, activity."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Self

from numpy import ndarray

from mooncake_py.application.arity import MISFITS, require_arguments
from mooncake_py.checkpointing import checkpointed
from mooncake_py.compiler.sites import pace
from mooncake_py.compiler.sites.elsewhere import Elsewhere, InParts
from mooncake_py.containers import hooks, state
from mooncake_py.diagnostics.notes import located, without_context
from mooncake_py.diagnostics.places import current_place, name_library
from mooncake_py.errors import Location, MooncakeError, SourceUnavailableError
from mooncake_py.frontend.load import derive, instantiate
from mooncake_py.language import array_protocols, array_subclasses, dispatch, object_arrays
from mooncake_py.language.compiled_ways import compiled_calls
from mooncake_py.language.stored_files import StoredFiles
from mooncake_py.language.ways import Ways
from mooncake_py.rules import epoch, registry
from mooncake_py.runtime import activity
from mooncake_py.runtime.allowance import LoopForm, all_passes
from mooncake_py.runtime.compilation import Compile
from mooncake_py.runtime.numerals import Numerals
from mooncake_py.runtime.quiet import error_hook, is_strict
from mooncake_py.runtime.sites import DECLINED, NO_SITE, Passing
from mooncake_py.tangents.subclasses import Met, named

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Error
    from mooncake_py.runtime.mode import Mode

__all__ = ["BoundNames", "Core"]

BoundNames = tuple[tuple[str, ...], tuple[str, ...]]
"""The local and the global names that the body of a loop binds."""


class Core(Ways):
    """The part of a context that the other parts build on; see `runtime.mode` for attributes."""

    rehearsal: Any = None
    repeats: bool = False
    numerals: Numerals | None = None
    meter: Any = None
    budget: Any = None
    fuses = False
    pushes = False
    several: bool = False
    compiles: Compile = False
    peeks = False

    def __init__(self) -> None:
        self.token = object()
        self.failure: MooncakeError | None = None
        self.rebound: dict[tuple[int, str], dict[str, Any]] = {}
        self.watches = False
        self.objects = False
        self.lifted: dict[int, tuple[Any, Any]] = {}
        self.made: dict[int, Any] = {}
        self.held: dict[int, ndarray] = {}
        self.kept: dict[int, Any] = {}
        self.ordered: Any = {}
        self.caches: dict[int, Any] = {}
        self.stored: StoredFiles | None = None
        self.load_handlers()

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # what a copied iterator calls belongs to the same call

    def share_traces(self, outer: Mode) -> None:
        """Take over the files that an outer call has written, and the arrays it has made."""
        self.stored = outer.stored
        self.objects = outer.objects
        self.watches = self.watches or outer.objects

    def load_handlers(self) -> None:
        """Take the tables of handlers for the rules that are registered now."""
        self.rules_version, self.handlers, self.rule_ways = dispatch.handlers()
        self.rules = self.rule_ways.token if self.has_gate else None
        self.set_look_up()
        self.heed_settings()

    def set_look_up(self) -> None:
        """Take what is quickest to look up, the handlers by the ids of functions."""
        self.gate, self.epoch, self.modules = None, epoch.number, len(sys.modules)
        self.handlers_at: Any = self.handlers.values_at

    def heed_settings(self) -> None:
        """Decide whether quick forms may run: rules are unchanged, and NumPy does not raise."""
        hook = error_hook()
        if hook is not None:
            hooks.refuse_if_changing(self, getattr(hook, "write", hook))
        self.fuses = type(self).fuses and registry.are_first() and not is_strict()
        self.peeks = self.fuses

    def failed(self, error: Error) -> Error:
        """Remember an error of the engine and return it, to be raised."""
        name_library(error)
        if self.failure is None:
            self.failure = error
        return error

    def user_location(self) -> Location | None:
        """Return the place in the user's source that is being run."""
        return current_place()[0]

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``f(*args, **kwargs)``."""
        way = self.rule_ways.get(id(f))
        if way is not None:
            y = way.serve(self, args, kwargs)
            if y is not DECLINED:
                return y
        return self.call_in_general(f, *args, **kwargs)

    def call_in_general(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a call that no quick way of a rule handles."""
        if self.watches and (self.objects or id(f) not in array_protocols.UNWATCHED):
            if array_subclasses.takes(self, f, args, kwargs):
                return array_subclasses.call(self, f, args, kwargs)
            if self.objects:
                y = object_arrays.call(self, f, args, kwargs)
                if y is not NotImplemented:
                    return y
            args, kwargs = array_protocols.arrays_for(self, f, args, kwargs)
        handler = self.handlers_at.get(id(f))
        if handler is None:  # of a method that is bound at each use?
            if type(f) is BuiltinFunctionType:
                handler = self.handlers_at.get(f)
            elif type(f) is MethodType:
                handler = self.handlers.get(f)
        if handler is None:
            if self.gate is None:
                if self.is_worth_a_gate():  # it may have taken new tables
                    return self.call(f, *args, **kwargs)
            else:
                way = self.ways.get(id(f)) or self.way_of(f)
                if way is not None and type(way) is not Passing:
                    return way.star(NO_SITE, self, f, *args, **kwargs)  # type: ignore[attr-defined]
            try:
                return dispatch.call_unregistered(self, f, args, kwargs)
            except Met:  # an operand that NumPy asks first
                return array_subclasses.answer(self, f, args, kwargs)
        try:
            return handler(self, f, args, kwargs)
        except Met:
            pass
        except MISFITS:
            require_arguments(f, args, kwargs)
            raise
        return array_subclasses.answer(self, f, args, kwargs)

    def call_unregistered(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run what has no rule, past the ways that are known."""
        return dispatch.call_unregistered(self, f, args, kwargs)

    def call_function(self, f: FunctionType, args: Any, kwargs: Any) -> Any:
        """Run a Python function: as one compiled region, or by its derived form.

        Where it cannot be compiled as one, each of its loops may be.
        """
        if self.rehearsal is not None:
            self.rehearsal.setting.entering(f)
        in_parts, timed, begin = False, None, 0.0
        if self.compiles and self.loop_form != "passes":
            y = compiled_calls().call(self, f, args, kwargs)
            if type(y) is pace.Pace:
                timed, begin, in_parts = y, pace.clock(), y.in_parts
            elif y is InParts:
                in_parts = True
            elif y is not Elsewhere:
                return y
        try:
            derived = derive(f.__code__, f.__globals__, in_parts, self.loop_form)
        except SourceUnavailableError as error:
            where = self.user_location() or error.where
            raise self.failed(
                SourceUnavailableError(error.what, where=where, why=error.why, fix=error.fix)
            ) from None
        except MooncakeError as error:
            raise self.failed(error) from None
        if derived.stored_globals or derived.stored_free:
            state.log_names(self, derived, f)
        try:
            y = instantiate(derived, f)(*args, **kwargs, _mk_ctx=self)
            if timed is not None:
                timed.took_plainly(pace.clock() - begin)
            return y
        except MooncakeError as error:  # raised by Python code that replaces a function
            located(self, error)
            raise
        except TypeError as error:
            without_context(error)
            raise

    @property
    def loop_form(self) -> LoopForm:
        """How loops are rewritten in the functions that are called now."""
        if self.watches_passes:
            return "passes"
        return "plain" if self.meter is None else "counted"

    @property
    def watches_passes(self) -> bool:
        """Whether loops that begin now are measured, so that some of their passes may run again."""
        return self.budget is not None and self.budget.watches and self.rehearsal is None

    def run_passes(self, body: Callable[..., Any], names: BoundNames, kind: str, items: Any) -> Any:
        """Run a loop that a function runs, for the passes that it is told: here for all of them."""
        return body(*all_passes(kind, items))

    def repeatable(self, run: Callable[[], Any]) -> Any:
        """Run a part of the call that may be run again instead of being recorded."""
        return run()

    def run_again(
        self, body: Callable[[Any], Any], names: BoundNames, items: Any, slots: int = 10
    ) -> Any:
        """Run a loop over ``checkpointed(items, slots)``, the body of which is a function.

        It binds `names`, and returns None if the loop goes on; what else it returns is returned.
        """
        if type(items) is not range:
            items = self.iter(items)  # of an active array natively the items would be constants
        for item in checkpointed(items, slots):
            exit_value = body(item)
            if exit_value is not None:
                return exit_value
        return None

    def contains_active(self, value: Any) -> bool:
        """Return whether a value is active or is a container with active parts."""
        return activity.contains_active(self, value, set())

    def refuse_if_active(self, f: Any, args: Iterable[Any]) -> None:
        """Raise if a function without a rule would receive active data."""
        if any(self.contains_active(a) for a in args):
            raise dispatch.missing_rule(self, f, tuple(args))

    def refuse(self, f: Any, args: Iterable[Any], why: str) -> None:
        """Raise because a function cannot be run in the engine's sight."""
        raise dispatch.missing_rule(self, f, tuple(args), why)

    def unsupported(self, refusal: Callable[[], MooncakeError]) -> None:
        """Refuse what cannot be rewritten, where it is reached."""
        raise self.failed(refusal())

    def refuse_subclass(self, *values: Any) -> None:
        """Raise if an instance of a subclass of ndarray meets active data."""
        if any(self.contains_active(v) for v in values):
            self.refuse_subclasses(values)

    def refuse_subclasses(self, values: Any) -> None:
        """Raise if an instance of a subclass of ndarray is among operands that are active.

        Where none was met before, the operation is run as its class has it: see `Met`.
        """
        if any(type(v) not in array_subclasses.PLAIN and named(v) for v in values):
            if not self.watches:
                raise Met
            array_subclasses.refuse(self, values)

    def run_statement(self, site: Any, functions: Any, values: Any) -> Any:
        """Run a statement operation by operation."""
        return site.otherwise(self, functions, values)

    def run_generally(self, site: Any, functions: Any, values: Any, ctx: Mode) -> Any:
        """Run a statement operation by operation in this context, or in one of those over it."""
        return site.otherwise(ctx, functions, values)

    def run_region(self, site: Any, functions: Any, steps: Any, inputs: Any) -> Any:
        """Run a region as one entry and return what it binds; `Elsewhere` says that it must not."""
        return Elsewhere
