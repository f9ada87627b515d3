"""What code may ask of the derivatives that are taken of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.mode_of import is_forward

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["is_active", "order"]


def order() -> int:
    """Return how many derivatives are taken, one of another: 0 outside of them."""
    return 0


@contextual(order)
def order_inside(ctx: Mode) -> int:
    """Count the calls under and round this one; forward mode by itself computes on a plain one."""
    calls = (ctx, *ctx.outers)
    return len(calls) - sum(is_forward(call) and call.is_last for call in calls)


def is_active(value: Any) -> bool:
    """Return whether a value depends on what a derivative is taken with respect to."""
    return False


@contextual(is_active)
def is_active_inside(ctx: Mode, value: Any) -> bool:
    """Return the activity inside a derivative."""
    return ctx.contains_active(value)
