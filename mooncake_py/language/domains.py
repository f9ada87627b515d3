"""Calls of functions whose rule supports only some dtypes or layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.errors import MooncakeError, describe
from mooncake_py.rules.domains import RestrictedRule, misfit
from mooncake_py.rules.kinds import Rule
from mooncake_py.runtime.active import innermost
from mooncake_py.runtime.methods import DESCRIPTORS

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["limited", "within"]


def within(handler: Callable[[Any], Handler], otherwise: Handler) -> Callable[[Rule], Handler]:
    """Return a function that makes the handler of a rule, restricted or not.

    A mode says what it makes of a rule, and how it calls a function that has none.
    """

    def handler_of(rule: Rule) -> Handler:
        if type(rule) is not RestrictedRule:
            return handler(rule)
        return limited(rule, handler(rule.rule), otherwise)

    return handler_of


def limited(rule: RestrictedRule, apply: Handler, otherwise: Handler) -> Handler:
    """Return the handler that applies a rule within its domain, and calls otherwise outside."""

    def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        found = misfit(rule.domain, args, kwargs, innermost)
        if found is None:
            return apply(ctx, f, args, kwargs)
        why = f"the rule of {rule.name}, declared at {rule.origin}, is for {rule.domain};\n{found}"
        if type(f) in DESCRIPTORS:  # by its name it would come back here
            raise missing_rule(ctx, f, (*args, *kwargs.values()), why, kwargs)
        try:
            return otherwise(ctx, f, args, kwargs)
        except MooncakeError as error:
            explain(error, why)
            raise

    return run


def explain(error: MooncakeError, why: str) -> None:
    """Add to the reasons of an error that a rule was not used."""
    if why not in error.why:
        error.why = f"{error.why}\n{why}".strip()
        error.args = (describe(error.what, where=error.where, why=error.why, fix=error.fix),)
