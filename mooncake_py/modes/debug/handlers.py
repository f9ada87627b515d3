"""Handlers of rules that check the effects of the rule and of the function."""

from __future__ import annotations

import functools
import operator
import os
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.apply import handler
from mooncake_py.application.out_argument import named_out
from mooncake_py.by_identity import ByIdentity, Types
from mooncake_py.diagnostics.notes import located
from mooncake_py.errors import MooncakeError, UntrackedWriteError
from mooncake_py.language import domains, imported_later
from mooncake_py.language.dispatch import call_unregistered, language_handlers
from mooncake_py.language.draws import noting
from mooncake_py.modes.debug.beside import compare
from mooncake_py.modes.debug.checked import checked
from mooncake_py.modes.debug.operands import arrays_in
from mooncake_py.modes.debug.snapshot import Snapshot, first_difference, restore
from mooncake_py.modules import module_of
from mooncake_py.overriding import override
from mooncake_py.rooms import PACKAGE
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import (
    BilinearRule,
    CoDualRule,
    ContextRule,
    ElementwiseRule,
    LinearRule,
    OverlayRule,
    Rule,
    ZeroDerivativeRule,
    function_name,
)
from mooncake_py.runtime.scatter import HANDLERS as SCATTER
from mooncake_py.runtime.values import INEXACT_SCALARS

if TYPE_CHECKING:
    from mooncake_py.diagnostics.reporting import Reporting
    from mooncake_py.modes.debug.context import Checks
    from mooncake_py.runtime.mode import Handler

__all__ = ["CheckedHandlers"]


class CheckedHandlers:
    """The table from function to handler, with checks around each rule that is used.

    Parameters
    ----------
    plain : ByIdentity
        The table without checks.
    """

    def __init__(self, plain: ByIdentity[Handler]) -> None:
        self.plain = plain
        self.made: ByIdentity[Handler] = ByIdentity()
        self.no_rules = language_handlers(imported_later.imported())
        self.values_at = CheckedAt(self)

    def __contains__(self, f: Any) -> bool:
        return f in self.plain

    def get(self, f: Any, default: Any = None) -> Any:
        """Return the handler of a function."""
        known = self.made.get(f)
        if known is not None:
            return known
        rule = registry.find(f)
        if f in BUILTINS and f in self.plain:
            self.made[f] = made = beside(self.plain[f])
            return made
        if f not in self.plain or rule is None or f in self.no_rules or f in scatters:
            return self.plain.get(f, default)
        within = domains.within(checked_handler, call_unregistered)
        self.made[f] = made = noting(rule, within(rule))
        return made


class CheckedAt:
    """The same table, by the ids of functions; functions in C may be bound at each use."""

    def __init__(self, handlers: CheckedHandlers) -> None:
        self.handlers = handlers

    def get(self, key: Any) -> Any:
        """Return the handler of the function with this id, or of this function in C."""
        if type(key) is not int:
            return self.handlers.get(key)
        function = self.handlers.plain.objects.get(key, self)
        return None if function is self else self.handlers.get(function)


scatters: ByIdentity[Any] = ByIdentity(SCATTER)
BUILTINS = Types({
    float, complex, int, bool, str, repr, ascii, format, len, isinstance, issubclass, list, tuple,
    ord, chr, bin, hex, oct, any, all, operator.index, operator.truth, operator.concat,
    *(t for t in INEXACT_SCALARS if issubclass(t, np.generic)),
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
})  # of Python itself, that only compute  # fmt: skip


def beside(handler: Handler) -> Handler:
    """Return a handler that also runs the function plainly."""

    def run(ctx: Checks, f: Any, args: Any, kwargs: Any) -> Any:
        y = handler(ctx, f, args, kwargs)
        compare(ctx, function_name(f), f, args, kwargs, y)
        return y

    return run


def checked_handler(rule: Rule) -> Handler:
    """Return the handler of a rule with checks."""
    apply = handler(checked(rule))
    pure = not isinstance(rule, (CoDualRule, ContextRule, OverlayRule))

    watched = rule.by_user and not isinstance(rule, (ContextRule, OverlayRule))

    def run(ctx: Checks, f: Any, args: Any, kwargs: Any) -> Any:
        kept = contents(f, args, kwargs) if pure else []
        held = Held(None, args, kwargs) if watched else None
        options = dict(kwargs)  # of which the engine may take some out
        comparable = computes(rule, f, *named_out(f, args, kwargs))
        if isinstance(rule, ZeroDerivativeRule) and is_others(f):
            f = unchanging(ctx, rule, f)
        try:
            y = ctx.run_as(function_name(f), apply, ctx, f, args, kwargs)
        except MooncakeError as error:
            located(ctx, error)
            raise
        if comparable:
            exact = is_exact(rule)
            compare(ctx, function_name(f), f, args, options, y, exactly=exact, pure=False)
        for label, a, old in kept:
            found = first_difference(a, old)
            if found is not None:
                restore(a, old)
                index, new, old_element = found
                text = f"argument {label}{index} is {new}, and was {old_element}"
                raise ctx.failed(impure(ctx, rule, f, text))
        found = None if held is None else held.difference()
        if found is not None:
            raise ctx.failed(impure(ctx, rule, f, found))
        return y

    return run


def is_others(f: Any) -> bool:
    """Whether a function is in Python and not our own, which may fill caches of its arguments."""
    return type(f) is FunctionType and not f.__code__.co_filename.startswith(PACKAGE)


class Held(Snapshot):
    """The contents of containers and objects: no rule may change them."""

    @override
    def may_change(self, value: Any) -> bool:
        return not issubclass(type(value), ndarray)


PURE = frozenset({"numpy", "scipy", "math", "cmath", "operator", "builtins", "statistics"})
IMPURE = frozenset({"numpy.random", "numpy.random.mtrand", "scipy.stats"})
CHANGES = frozenset(
    os.path.join(PACKAGE, "rules", name)
    for name in (
        "inplace.py", "shuffling.py", "random.py", "transformed_draws.py", "draws.py", "nditer.py"
    )
)  # the rules of functions that draw, and of those that write, which return None  # fmt: skip


UNSET = frozenset({np.empty, np.empty_like})  # return what was in memory


def computes(rule: Rule, f: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a function with a rule only computes, so that it may run once more."""
    if isinstance(rule, (CoDualRule, ContextRule)) or f in UNSET:
        return False
    if isinstance(rule, OverlayRule) and rule.by_user:
        return False  # replaced on purpose
    if kwargs.get("out") is not None or kwargs.get("where", True) is not True:
        return False
    if any(value for name, value in kwargs.items() if name.startswith("overwrite_")):
        return False  # whether it does is not said
    if type(f) is FunctionType and type(getattr(f, "__wrapped__", None)) is not FunctionType:
        return False  # in Python: its operations are compared
    module = module_of(getattr(f, "__objclass__", f))
    if type(f) is np.ufunc and f.__name__ in dir(np):
        module = "numpy"
    if isinstance(rule, OverlayRule) and "._" in module:
        return False  # a kernel: the replacement does what the library's own Python needs of it
    return (
        module.partition(".")[0] in PURE
        and module not in IMPURE
        and rule.origin.file not in CHANGES
    )


def is_exact(rule: Rule) -> bool:
    """Return whether a rule runs the very function that it is for."""
    return isinstance(rule, (ElementwiseRule, LinearRule, BilinearRule, ZeroDerivativeRule))


def contents(f: Any, args: Any, kwargs: Any) -> list[tuple[str, ndarray, ndarray]]:
    """Return the arrays among the arguments that must not change, with copies."""
    args, kwargs = named_out(f, args, kwargs)
    outputs = list(arrays_in(kwargs.get("out"), set()))
    named = [(str(i), a) for i, a in enumerate(args)]
    named += [(repr(name), a) for name, a in kwargs.items()]
    return [
        (label, a, np.array(a))
        for label, value in named
        for a in arrays_in(value, set())
        if a.dtype != object and not any(np.may_share_memory(a, out) for out in outputs)
    ]


def unchanging(ctx: Reporting, rule: Rule, f: FunctionType) -> Any:
    """Return a function of the user's that raises if it changes its arguments."""

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        before = Snapshot(None, args, kwargs)
        y = f(*args, **kwargs)
        found = before.difference()
        if found is not None:
            before.restore_arrays()
            raise impure(ctx, rule, f, found)
        return y

    return run


def impure(ctx: Reporting, rule: Rule, f: Any, found: str) -> UntrackedWriteError:
    """Return the error for a function that wrote into an argument."""
    return UntrackedWriteError(
        f"{function_name(f)} changed its arguments, and its rule does not declare it",
        where=ctx.user_location(),
        why=f"{found} before the call\n"
        f"the rule, declared at {rule.origin}, is for functions that change no memory",
        fix="declare it by an overlay in Python or, if it changes arrays only, with\n"
        "rrule.register(..., mutates=...)",
    )
