"""Checkpointed parts of a program, which run again instead of being recorded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mooncake_py.checkpointing import (
    checkpoint,
    checkpointed,
    checkpointed_loop,
    checkpointed_while,
    note_use,
)

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["HANDLERS"]


def run_checkpoint(ctx: Mode, _: Any, args: Any, kwargs: Any) -> Any:
    """Run ``checkpoint(f, *args, **kwargs)``."""
    f, *rest = args
    try:
        return ctx.repeatable(partial(ctx.call, f, *rest, **kwargs))
    except TypeError as error:
        if not rest and not kwargs:
            note_use(f, error)
        raise


def run_elsewhere(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``checkpointed(items)`` outside of a ``for`` statement."""
    items, *rest = args
    return f(items if type(items) is range else ctx.iter(items), *rest, **kwargs)


def run_loop(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``checkpointed_loop(step, state, items, slots)`` or the same with a condition."""
    from mooncake_py.recomputation import loop  # what few programs need

    def run(step: Any, state: Any, items: Any, /, slots: int = 10) -> Any:
        run_steps = loop.run_counted if f is checkpointed_loop else loop.run_while
        return run_steps(ctx, step, state, items, slots)

    return run(*args, **kwargs)


HANDLERS = {
    checkpoint: run_checkpoint,
    checkpointed: run_elsewhere,
    checkpointed_loop: run_loop,
    checkpointed_while: run_loop,
}
