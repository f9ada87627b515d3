"""The mode of a context, without importing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["is_forward", "is_reverse"]


def is_forward(ctx: Mode) -> TypeGuard[ForwardMode]:
    """Return whether a context carries tangents."""
    return hasattr(ctx, "blocks")


def is_reverse(ctx: Mode) -> TypeGuard[ReverseMode]:
    """Return whether a context records on a tape."""
    return not hasattr(ctx, "blocks")
