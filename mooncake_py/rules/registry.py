"""Where rules are kept: one table from function to rule."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from typing import Any

from mooncake_py.errors import Location, MooncakeError
from mooncake_py.rules import optional
from mooncake_py.rules.kinds import Rule, function_name

__all__ = ["DuplicateRuleError", "add", "calling_location", "find", "registered", "version"]

_rules: dict[Hashable, Rule] = {}
_version = 0


class DuplicateRuleError(MooncakeError, ValueError):
    """Two rules were registered for one function.

    Mend: remove one, or pass ``replace=True`` to the second.
    """


def add(rule: Rule, *, replace: bool = False) -> None:
    """Register `rule` for all its functions.

    Raises
    ------
    DuplicateRuleError
        If a function has a rule already and `replace` is false.
    """
    global _version
    for function in rule.functions:
        present = _rules.get(function)
        if present is not None and not replace:
            raise DuplicateRuleError(
                f"{function_name(function)} has a rule already",
                where=rule.origin,
                why=f"it was declared at {present.origin}",
                mend="remove one of the two, or pass replace=True to override the first",
            )
        _rules[function] = rule
    _version += 1


def find(function: Any) -> Rule | None:
    """Return the rule registered for `function`, or None (also for an unhashable callable)."""
    try:
        rule = _rules.get(function)
    except TypeError:
        return None
    if rule is None:
        optional.load_imported()
        rule = _rules.get(function)
    return rule


def registered() -> Iterator[tuple[Hashable, Rule]]:
    """Iterate over all functions that have a rule, with their rules."""
    optional.load_imported()
    yield from list(_rules.items())


def version() -> int:
    """Return a number that changes with each registration; caches of lookups depend on it."""
    optional.load_imported()
    return _version


def calling_location(depth: int) -> Location:
    """Return the file and line of the caller `depth` frames above the calling function."""
    frame = sys._getframe(depth + 1)
    return Location(frame.f_code.co_filename, frame.f_lineno)
