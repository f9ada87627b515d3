"""Streams that a program writes to in its own run, in evaluations beside it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.runtime.numpy_operands import has_buffer

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["use"]

READING = frozenset({
    "__next__", "getbuffer", "getvalue", "read", "read1", "readall", "readinto", "readinto1",
    "readline", "readlines", "seek", "tell", "truncate",
})  # fmt: skip


def use(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a method of such a stream: it writes nothing, and says what it would have written."""
    if f.__name__ == "write":
        return len(args[0]) if can_be_written(f.__self__, args) else f(*args, **kwargs)  # raises
    if f.__name__ in READING:
        raise dropped(
            ctx,
            f"the function reads a stream that it writes to: {f.__qualname__}",
            why="it is evaluated again for its derivative, which writes nothing, so that it would "
            "read\nsomething else than in the program's own run",
            fix="keep what is read in a list, or leave it out of the function",
        )
    return None if f.__name__ in ("writelines", "close") else f(*args, **kwargs)


def can_be_written(stream: Any, args: Any) -> bool:
    """Return whether a stream takes what its `write` is given: text, or bytes."""
    if len(args) != 1 or isinstance(stream, io.TextIOBase):
        return len(args) == 1 and isinstance(args[0], str)
    return has_buffer(args[0])
