"""The handlers of forward mode: for rules, and for functions of Python itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mooncake_py.language import domains
from mooncake_py.language.dispatch import call_unregistered, table_of
from mooncake_py.modes.forward.apply import handler
from mooncake_py.modes.forward.dual_call import apply_dual
from mooncake_py.modes.forward.sequences import with_sequences
from mooncake_py.rules import local, registry

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler

__all__ = ["forward_handlers"]

_made: tuple[Any, dict[Any, Handler]] = (None, {})


def forward_handlers(version: Any) -> dict[Any, Handler]:
    """Return the table of handlers for the rules that are registered now."""
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


def make_handlers(replaced: dict[Any, Any]) -> dict[Any, Handler]:
    """Return a new table of handlers, with some rules replaced within a block."""
    table = with_sequences(table_of(handler, replaced, {}))
    for f, rule in registry.registered_forward():
        within = domains.within(
            lambda rule: partial(apply_dual, rule), table.get(f, call_unregistered)
        )
        table[f] = within(rule)
    return table
