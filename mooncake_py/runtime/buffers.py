"""Objects that lend their memory to arrays: ``bytearray``, ``array.array``, ``mmap``.

The engine follows an array of such a buffer like any other, but not the buffer itself.  Reading
numbers from the buffer that an array has written would lose their derivative, and writing to it
would change memory that the reverse pass refers to.
"""

from __future__ import annotations

from array import array
from mmap import mmap
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.diagnostics.reporting import dropped

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Tracking

__all__ = ["BUFFERS", "is_active", "lent", "refuse_read", "refuse_write"]

BUFFERS = (bytearray, array, mmap, memoryview)


def lent(ctx: Tracking, buffer: Any) -> Any:
    """Return the array that uses the memory of a buffer, None if the engine knows of none."""
    while issubclass(type(buffer), memoryview) and buffer.obj is not None:
        buffer = buffer.obj
    if issubclass(type(buffer), ndarray):
        return buffer
    known, owner = ctx.registry.foreign.get(id(buffer), (None, None))
    return owner if known is buffer else None


def is_active(ctx: Tracking, buffer: Any) -> bool:
    """Return whether an array has put active data into a buffer."""
    owner = lent(ctx, buffer)
    return owner is not None and ctx.find(owner) is not None


def refuse_read(ctx: Tracking, buffer: Any) -> None:
    """Raise if numbers that are read from a buffer would lose their derivative."""
    if is_active(ctx, buffer):
        raise dropped(
            ctx,
            f"an array has put active data into its buffer, of type {type(buffer).__name__}",
            why="direct reads give plain numbers, which carry no derivative",
            fix="read from the array that uses it",
        )


def refuse_write(ctx: Tracking, buffer: Any) -> None:
    """Raise if a write to a buffer would change an array unseen."""
    if lent(ctx, buffer) is not None:
        raise dropped(
            ctx,
            f"a write to a buffer of type {type(buffer).__name__}, whose memory an array uses",
            why="it changes memory that the reverse pass refers to, and the engine cannot see it",
            fix="write through the array that uses it",
        )
