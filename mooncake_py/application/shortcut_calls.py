"""Calls of NumPy's functions in Python for which a shortcut serves: see `rules.shortcuts`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mooncake_py.application.apply import vjp_of_flat
from mooncake_py.application.flat_operands import flat
from mooncake_py.rules.shortcuts import SHORTCUTS, Shortcut, are_finite

if TYPE_CHECKING:
    from collections.abc import Callable

    from mooncake_py.runtime.mode import Handler
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["shortcut_handlers"]


def shortcut_handlers() -> dict[Any, Callable[[Handler], Handler]]:
    """Return what makes handlers of functions with a shortcut, given those for other calls."""
    return {f: partial(handler, rule) for f, rule in SHORTCUTS.items()}


def handler(rule: Shortcut, general: Handler) -> Handler:
    """Return the handler ``(context, function, args, kwargs)`` of a function with a shortcut."""

    def run(ctx: ReverseMode, f: Any, args: Any, kwargs: Any) -> Any:
        given = flat(rule, ctx, f, args, kwargs)
        if given is None or not rule.takes(given.primals, given.nodes, given.kwargs):
            return general(ctx, f, args, kwargs)
        found = rule.rule(*given.primals, **given.kwargs)
        if not are_finite(found[:1]):
            return general(ctx, f, args, kwargs)
        return vjp_of_flat(rule, ctx, given, found)

    return run
