"""The handlers of forward mode: for rules, and for Python builtins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mooncake_py.application.rule_ways import RuleWays, ways_of
from mooncake_py.application.shortcut_calls import shortcut_handlers
from mooncake_py.by_identity import ByIdentity
from mooncake_py.language import domains, intrinsics
from mooncake_py.language.dispatch import call_unregistered, table_of
from mooncake_py.modes.forward.apply import handler
from mooncake_py.modes.forward.dual_call import apply_dual
from mooncake_py.modes.forward.scatter import HANDLERS
from mooncake_py.modes.forward.sequences import with_sequences
from mooncake_py.modes.forward.shortcut_calls import pushed
from mooncake_py.rules import local, registry

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler

__all__ = ["forward_handlers"]


class ForwardHandlers(NamedTuple):
    """Forward mode's handlers of rules, and quick ways of common calls."""

    general: ByIdentity[Handler]
    ways: RuleWays


_made: tuple[Any, ForwardHandlers] = (None, ForwardHandlers(ByIdentity(), RuleWays()))


def forward_handlers(version: Any) -> ForwardHandlers:
    """Return the tables of handlers for the rules that are registered now."""
    global _made
    block = local.current()
    if block is not None:
        found = block.handlers.get("forward")
        if found is None or found[0] is not version:
            found = block.handlers["forward"] = version, make_handlers(block.rules)
        return found[1]
    if _made[0] is not version:
        _made = version, make_handlers({})  # at once: another thread sees the old or the new ones
    return _made[1]


def make_handlers(replaced: Mapping[Any, Any]) -> ForwardHandlers:
    """Return new tables of handlers, with some rules replaced within a block."""
    table = with_sequences(table_of(handler, replaced, HANDLERS, shortcut_handlers(pushed)))
    for f, rule in registry.registered_forward():
        within = domains.within(
            lambda rule: partial(apply_dual, rule), table.get(f, call_unregistered)
        )
        table[f] = within(rule)
    return ForwardHandlers(table, ways_of(table, registry.registered(), intrinsics.HANDLERS))
