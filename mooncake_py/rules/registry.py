"""The registry of rules: a table from functions to rules, and one for forward-mode rules."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from types import FunctionType
from typing import Any

from mooncake_py.by_identity import ByIdentity
from mooncake_py.errors import InvalidRuleError, Location, MooncakeError
from mooncake_py.rooms import is_engine
from mooncake_py.rules import elsewhere, epoch, local, optional
from mooncake_py.rules.kinds import DualRule, ElementwiseRule, Rule, function_name, is_hashable

__all__ = [
    "DuplicateRuleError", "add", "add_forward", "are_first", "arrives", "calling_location", "find",
    "find_forward", "registered", "registered_forward", "version",
]  # fmt: skip

_rules: ByIdentity[Rule] = ByIdentity()
_forward: ByIdentity[DualRule] = ByIdentity()
_version = 0
_replaced = False


class DuplicateRuleError(MooncakeError, ValueError):
    """Two rules were registered for one function.

    Fix: remove one, or pass ``replace=True`` to the second.
    """


def add(rule: Rule, *, replace: bool = False) -> None:
    """Register `rule` for all its functions.

    Raises
    ------
    DuplicateRuleError
        If a function has a rule already and `replace` is false.
    OperatorRuleError
        If one of Python's operators goes by the rule of a function.
    InvalidRuleError
        If a function cannot be hashed.
    """
    global _version
    block = local.current()
    for function in rule.functions:
        _require_hashable(rule, function)
        if rule.by_user:
            local.refuse_operator(function)
        present = _rules.get(function) if block is None else declared_in(block, function)
        _refuse_second(rule, function, None if replace else present, "rule")
        if block is None:
            _note_replaced(function, present)
            _rules[function] = rule
            elsewhere.mark(function, rule)
        else:
            block.put(function, rule)
    _version += 1
    epoch.advance()


def add_forward(rule: DualRule, *, replace: bool = False) -> None:
    """Register a rule of forward mode for all its functions, in addition to their rules.

    Raises
    ------
    DuplicateRuleError
        If a function has a forward rule already and `replace` is false.
    OperatorRuleError
        If one of Python's operators goes by the rule of a function.
    """
    global _version
    block = local.current()
    table = _forward if block is None else block.own_forward
    for function in rule.functions:
        _require_hashable(rule, function)
        local.refuse_operator(function)
        present = None if replace else table.get(function)
        _refuse_second(rule, function, present, "forward rule")
        if block is None:
            _note_preceded(function)
            _forward[function] = rule
        else:
            block.put_forward(function, rule)
    _version += 1
    epoch.advance()


def _require_hashable(rule: Rule, function: Any) -> None:
    """Raise if a function cannot be a key of the table, as those of ctypes cannot."""
    if not is_hashable(function):
        raise InvalidRuleError(
            f"{function_name(function)} cannot have a rule of its own",
            where=rule.origin,
            why=f"it is of class {type(function).__name__}, which cannot be hashed: "
            "the table of rules cannot hold it",
            fix="call it in a Python function, and declare the rule for that function",
        )


def _refuse_second(rule: Rule, function: Hashable, present: Rule | None, kind: str) -> None:
    """Raise if a function has a rule already."""
    if present is not None:
        raise DuplicateRuleError(
            f"{function_name(function)} has a {kind} already",
            where=rule.origin,
            why=f"it was declared at {present.origin}",
            fix="remove one of the two, or pass replace=True to override the first",
        )


def _note_replaced(function: Hashable, present: Rule | None) -> None:
    """Note that what was made with an earlier rule of a compiled function is out of date."""
    global _replaced
    if present is not None:
        local.refuse_operator(function)
        _forward.pop(function, None)  # it belongs to the rule that is replaced
        _replaced = _replaced or type(function) is not FunctionType
    elif function in WITHOUT_RULES:
        _replaced = True


WITHOUT_RULES = frozenset({int, float, bool, complex, max, min})
"""Expressions that are recorded as one entry convert and choose numbers, without a rule."""


def _note_preceded(function: Hashable) -> None:
    """Note that a forward rule goes before the rule of a compiled function that is fused."""
    global _replaced
    rule = _rules.get(function)
    if type(function) is FunctionType or rule is None:
        return
    _replaced = _replaced or rule.built_in or isinstance(rule, ElementwiseRule)


def are_first() -> bool:
    """Return whether all compiled functions use the rules that they got first, in all modes.

    Expressions that are recorded as one entry are made with these.
    """
    return not _replaced and local.current() is None


def declared_in(block: local.LocalRules, function: Hashable) -> Rule | None:
    """Return the rule that a block itself has declared for a function."""
    return block.rules[function] if function in block.own else None


def find(function: Any) -> Rule | None:
    """Return the rule registered for `function`, or None."""
    block = local.current()
    if block is not None and function in block.rules:
        return block.rules[function]
    rule = _rules.get(function)
    if rule is None:
        optional.load_imported()
        rule = _rules.get(function)
    while rule is None and arrives(function):
        rule = _rules.get(function)
    return rule


def arrives(function: Any) -> bool:
    """Return whether a rule that holds in another process has been declared here by now."""
    return elsewhere.look_for(function, _rules)


def find_forward(function: Any) -> DualRule | None:
    """Return the forward rule registered for `function`, or None."""
    block = local.current()
    if block is not None and function in block.forward:
        return block.forward[function]
    return _forward.get(function)


def registered_forward() -> Iterator[tuple[Hashable, DualRule]]:
    """Iterate over all functions that have a forward rule here, with these rules."""
    block = local.current()
    found = _forward.copy()
    found.update({} if block is None else block.forward)
    yield from [(function, rule) for function, rule in found.items() if rule is not None]


def registered() -> Iterator[tuple[Hashable, Rule]]:
    """Iterate over all functions that have a rule here, with their rules."""
    optional.load_imported()
    block = local.current()
    found = _rules.copy()
    found.update({} if block is None else block.rules)
    yield from [(function, rule) for function, rule in found.items() if rule is not None]


def version() -> int:
    """Return a number that changes with each registration; caches of lookups depend on it."""
    optional.load_imported()
    return _version


def calling_location() -> Location:
    """Return the file and line from which the calling function is called."""
    frame = sys._getframe(2)
    while (
        frame.f_back is not None
        and is_engine(frame.f_code.co_filename)
        and frame.f_code.co_name != "<module>"
    ):
        frame = frame.f_back  # between a rule that runs derived and what it calls
    return Location(frame.f_code.co_filename, frame.f_lineno)
