"""Parts of a program that the user wants to be run again rather than recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.checkpointing import (
    checkpoint,
    checkpointed,
    checkpointed_loop,
    checkpointed_while,
)

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["HANDLERS"]


def run_checkpoint(ctx: Mode, _: Any, args: Any, kwargs: Any) -> Any:
    """Run ``checkpoint(f, *args, **kwargs)``."""
    f, *rest = args
    return ctx.repeatable(lambda: ctx.call(f, *rest, **kwargs))


def run_elsewhere(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``checkpointed(items)`` outside of a ``for`` statement."""
    items, *rest = args
    return f(items if type(items) is range else ctx.iter(items), *rest, **kwargs)


def run_loop(ctx: Mode, _: Any, args: Any, kwargs: Any) -> Any:
    """Run ``checkpointed_loop(step, state, items, slots)``."""
    from mooncake_py.recomputation.loop import run_counted  # what few programs need

    return run_counted(ctx, *_loop_arguments(*args, **kwargs))


def run_while(ctx: Mode, _: Any, args: Any, kwargs: Any) -> Any:
    """Run ``checkpointed_while(step, state, more, slots)``."""
    from mooncake_py.recomputation import loop

    return loop.run_while(ctx, *_loop_arguments(*args, **kwargs))


def _loop_arguments(step: Any, state: Any, items: Any, /, slots: int = 10) -> Any:
    return step, state, items, slots


HANDLERS = {
    checkpoint: run_checkpoint,
    checkpointed: run_elsewhere,
    checkpointed_loop: run_loop,
    checkpointed_while: run_while,
}
