"""Calls of NumPy's functions in Python that have a shortcut: see `rules.shortcuts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.application.shortcut_calls import like
from mooncake_py.modes.forward.apply import finished
from mooncake_py.modes.forward.flat_operands import push_flat

if TYPE_CHECKING:
    from mooncake_py.modes.forward.context import ForwardContext
    from mooncake_py.rules.shortcuts import Shortcut
    from mooncake_py.runtime.mode import Handler

__all__ = ["pushed"]


def pushed(rule: Shortcut, general: Handler) -> Handler:
    """Return the handler ``(context, function, args, kwargs)`` that pushes tangents."""

    def run(ctx: ForwardContext, f: Any, args: Any, kwargs: Any) -> Any:
        found = push_flat(rule, ctx, f, args, kwargs)
        if found is None:
            return general(ctx, f, args, kwargs)
        return finished(rule, ctx, f, found)

    return like(general, run)
