"""Calls of functions whose rule is for some dtypes or layouts only."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodWrapperType
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.errors import MooncakeError, describe
from mooncake_py.rules.domains import RestrictedRule, misfit
from mooncake_py.rules.kinds import Rule
from mooncake_py.runtime.active import Active, primal_of

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["Within", "limited"]

METHODS = (type(list.append), type(object.__init__), MethodWrapperType)


class Within:
    """Makes the handlers of rules, of those too that are restricted.

    A mode says what it makes of a rule, and how it calls a function that has none.
    """

    def __init__(self, handler: Callable[[Any], Handler], otherwise: Handler) -> None:
        self.handler = handler
        self.otherwise = otherwise

    def __call__(self, rule: Rule) -> Handler:
        """Return the handler of a rule."""
        if type(rule) is not RestrictedRule:
            return self.handler(rule)
        return limited(rule, self.handler(rule.rule), self.otherwise)


def limited(rule: RestrictedRule, apply: Handler, otherwise: Handler) -> Handler:
    """Return the handler that applies a rule within its domain, and calls otherwise outside."""

    def run(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
        found = misfit(rule.domain, args, kwargs, innermost)
        if found is None:
            return apply(ctx, f, args, kwargs)
        why = f"the rule of {rule.name}, declared at {rule.origin}, is for {rule.domain};\n{found}"
        if type(f) in METHODS:  # by its name it would come back here
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


def innermost(value: Any) -> Any:
    """Return the number of an active scalar, however deeply derivatives nest."""
    while type(value) is Active:
        value = primal_of(value)
    return value
