"""Handlers of rules that check what the rule, and the function itself, do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.calls.draws import noting
from mooncake_py.derive.calls.natives import HANDLERS as NATIVES
from mooncake_py.derive.debug.checked import checked
from mooncake_py.derive.debug.operands import arrays_in
from mooncake_py.derive.debug.snapshot import Snapshot, first_difference, restore
from mooncake_py.derive.recording.apply import handler
from mooncake_py.derive.recording.out_argument import named_out
from mooncake_py.derive.recording.scatter import HANDLERS as SCATTER
from mooncake_py.derive.reports.notes import locate
from mooncake_py.errors import MooncakeError, UntrackedWriteError
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import (
    CoDualRule,
    ContextRule,
    OverlayRule,
    Rule,
    ZeroDerivativeRule,
    function_name,
)

__all__ = ["CheckedHandlers"]

Handler = Callable[[Any, Any, Any, Any], Any]


class CheckedHandlers:
    """The table from function to handler, with checks round each rule that is used.

    Parameters
    ----------
    plain : dict
        The table without checks.
    """

    def __init__(self, plain: dict[Any, Handler]) -> None:
        self.plain = plain
        self.made: dict[Any, Handler] = {}

    def __contains__(self, f: Any) -> bool:
        return f in self.plain

    def get(self, f: Any, default: Any = None) -> Any:
        """Return the handler of a function."""
        known = self.made.get(f)
        if known is not None:
            return known
        rule = registry.find(f)
        if f not in self.plain or rule is None or f in NATIVES or f in SCATTER:
            return self.plain.get(f, default)
        self.made[f] = made = noting(rule, checked_handler(rule))
        return made


def checked_handler(rule: Rule) -> Handler:
    """Return the handler of a rule with checks."""
    apply = handler(checked(rule))
    pure = not isinstance(rule, (CoDualRule, ContextRule, OverlayRule))

    def run(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
        kept = contents(f, args, kwargs) if pure else []
        if type(f) is FunctionType and isinstance(rule, ZeroDerivativeRule):
            f = unchanging(ctx, rule, f)
        try:
            y = ctx.run_as(function_name(f), apply, ctx, f, args, kwargs)
        except MooncakeError as error:
            locate(error, ctx.user_location())
            ctx.failed(error)
            raise
        for label, a, old in kept:
            found = first_difference(a, old)
            if found is not None:
                restore(a, old)
                index, new, old_element = found
                text = f"argument {label}{index} is {new}, and was {old_element}"
                raise ctx.failed(impure(ctx, rule, f, text))
        return y

    return run


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


def unchanging(ctx: Any, rule: Rule, f: FunctionType) -> Any:
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


def impure(ctx: Any, rule: Rule, f: Any, found: str) -> UntrackedWriteError:
    """Return the error for a function that wrote into an argument."""
    return UntrackedWriteError(
        f"{function_name(f)} changed what it was called with, and its rule does not say so",
        where=ctx.user_location(),
        why=f"{found} before the call\n"
        f"the rule, declared at {rule.origin}, is for functions that change no memory",
        mend="declare it with rrule.register(..., mutates=...), or by an overlay in Python",
    )
