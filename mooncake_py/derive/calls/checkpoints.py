"""Parts of a program that the user wants to be run again rather than recorded."""

from __future__ import annotations

from typing import Any

from mooncake_py.checkpointing import checkpoint

__all__ = ["HANDLERS"]


def run_checkpoint(ctx: Any, _: Any, args: Any, kwargs: Any) -> Any:
    """Run ``checkpoint(f, *args, **kwargs)``."""
    f, *rest = args
    return ctx.repeatable(lambda: ctx.call(f, *rest, **kwargs))


HANDLERS = {checkpoint: run_checkpoint}
