"""Calls of NumPy's functions in Python for which a shortcut serves: see `rules.shortcuts`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mooncake_py.application.shortcut_calls import like, viewing
from mooncake_py.modes.forward.apply import finished
from mooncake_py.modes.forward.flat_operands import push_flat
from mooncake_py.rules.shortcuts import SHORTCUTS, VIEWS, VIEWS_OF_CONTIGUOUS, Shortcut

if TYPE_CHECKING:
    from collections.abc import Callable

    from mooncake_py.modes.forward.context import ForwardContext
    from mooncake_py.runtime.mode import Handler

__all__ = ["shortcut_handlers"]


def shortcut_handlers() -> dict[Any, Callable[[Handler], Handler]]:
    """Return what makes handlers of functions with a shortcut, given those for other calls."""
    made = {f: partial(handler, rule) for f, rule in SHORTCUTS.items()}
    return {**made, **dict.fromkeys(VIEWS | VIEWS_OF_CONTIGUOUS, viewing)}


def handler(rule: Shortcut, general: Handler) -> Handler:
    """Return the handler ``(context, function, args, kwargs)`` of a function with a shortcut."""

    def run(ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
        found = push_flat(rule, ctx, f, args, kwargs)
        if found is None:
            return general(ctx, f, args, kwargs)
        return finished(rule, ctx, f, found)

    return like(general, run)
