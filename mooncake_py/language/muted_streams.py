"""Streams that a program writes to in its own run, muted in other evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.runtime import silence

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["HANDLERS", "METHODS", "use"]

READING = frozenset({
    "__next__", "getbuffer", "getvalue", "read", "read1", "readall", "readinto", "readinto1",
    "readline", "readlines", "seek", "tell", "truncate",
})  # fmt: skip
STORING = frozenset({"writelines", "close", "flush"})
METHODS = READING | STORING | {"write"}


def use(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a method of such a stream: it writes nothing, and says what it would have written."""
    if f.__name__ == "write":
        is_taken = len(args) == 1 and silence.can_be_written(f.__self__, args[0])
        return len(args[0]) if is_taken else f(*args, **kwargs)  # raises
    if f.__name__ in READING:
        raise dropped(
            ctx,
            f"the function reads a stream that it writes to: {f.__qualname__}",
            why="it is evaluated again for its derivative, which writes nothing, so that it would "
            "read\nsomething else than in the program's own run",
            fix="keep the data in a list, or leave the read out of the function",
        )
    return None if f.__name__ in STORING else f(*args, **kwargs)


def run_write(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run the ``write`` of a stream that is silent in some thread."""
    hook, *given = args
    if silence.is_silent():
        return hook(*given, **kwargs)
    return ctx.call(hook.original, *given, **kwargs)


HANDLERS = {silence.Write.__call__: run_write}
