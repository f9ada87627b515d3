"""Blocks of rules that differentiated code itself opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.rules.local import local_rules

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["HANDLERS"]


def enter_or_leave(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the beginning or the end of a block, and go by the rules that hold then."""
    result = f(*args, **kwargs)
    ctx.load_handlers()
    return result


HANDLERS: dict[Any, Any] = {
    local_rules.__enter__: enter_or_leave,
    local_rules.__exit__: enter_or_leave,
}
