"""Queries about the derivatives of the running code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.mode_of import is_forward

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["is_active", "order"]


def order() -> int:
    """Return the number of nested derivatives: 0 outside of derivatives."""
    return 0


@contextual(order)
def order_inside(ctx: Mode) -> int:
    """Count the calls under and around this one; plain forward mode runs on an inactive call."""
    calls = (ctx, *ctx.outers)
    return len(calls) - sum(is_forward(call) and call.is_last for call in calls)


def is_active(value: Any) -> bool:
    """Return whether a value is active in a derivative."""
    return False


@contextual(is_active)
def is_active_inside(ctx: Mode, value: Any) -> bool:
    """Return the activity inside a derivative."""
    return ctx.contains_active(value)
