"""The handlers of forward mode: for rules, and for functions of Python itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mooncake_py.derive.calls import natives
from mooncake_py.derive.calls.dispatch import table_of
from mooncake_py.derive.forward import pushforward
from mooncake_py.derive.forward.apply import handler
from mooncake_py.derive.forward.dual_call import apply_dual
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.recording.values import is_inexact
from mooncake_py.rules import local, registry

__all__ = ["forward_handlers"]

Handler = Callable[[Any, Any, Any, Any], Any]

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
    numbers = {f: run_number for f, h in natives.HANDLERS.items() if h is natives.run_number}
    table = table_of(handler, replaced, numbers)
    table.update({f: partial(apply_dual, rule) for f, rule in registry.registered_forward()})
    return table


def run_number(ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``float(x)``, ``complex(x)``, ``np.float64(x)``: a conversion keeps the tangent."""
    if len(args) != 1 or type(args[0]) is not Active:
        return natives.run_number(ctx, f, args, kwargs)
    x = args[0]
    if x.context is not ctx:
        return ctx.base.call(f, x)
    y = ctx.base.call(f, x.primal)
    if not is_inexact(y):
        return y
    return ctx.fresh(y, ctx.lower(pushforward.fitted, x.grad, y))
