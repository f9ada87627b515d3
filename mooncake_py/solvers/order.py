"""How many derivatives the running code is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mooncake_py.runtime.mode_of import is_forward

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["order"]


def order(ctx: Mode) -> int:
    """Return the number of nested derivatives; plain forward mode runs on an inactive call."""
    calls = (ctx, *ctx.outers)
    return len(calls) - sum(is_forward(call) and call.is_last for call in calls)
