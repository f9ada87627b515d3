"""Objects that lend their memory to arrays: ``bytearray``, ``array.array``, ``mmap``, of `ctypes`.

The engine follows an array of such a buffer like any other, but not the buffer itself.  Reading
numbers from the buffer that an array has written would lose their derivative, and writing to it
would change memory that the reverse pass refers to.

Objects of `ctypes` lend memory, borrow that of arrays, or point to it: addresses tell which arrays
they reach.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator
from mmap import mmap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.runtime.originals import Original

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Tracking

__all__ = [
    "BUFFERS", "CDATA", "is_active", "is_lent", "lent", "read_attribute", "refuse_read",
    "refuse_write",
]  # fmt: skip

CDATA: Any = ctypes.Array.__base__
REFERENCE: Any = type(ctypes.byref(ctypes.c_int()))
BUFFERS = (bytearray, array, mmap, memoryview, CDATA, REFERENCE)


def lent(ctx: Tracking, buffer: Any) -> Any:
    """Return the array that uses the memory of a buffer, None if the engine knows of none."""
    while issubclass(type(buffer), memoryview) and buffer.obj is not None:
        buffer = buffer.obj
    if issubclass(type(buffer), ndarray):
        return buffer
    if issubclass(type(buffer), (CDATA, REFERENCE)):
        return next(arrays_reached(ctx, buffer), None)
    kept = ctx.registry.foreign.get(id(buffer))
    return None if kept is None else kept[1]()


def is_lent(ctx: Tracking, buffer: Any) -> bool:
    """Return whether there is an array over the memory of a buffer."""
    return issubclass(type(buffer), (bytearray, array)) and lent(ctx, buffer) is not None


def is_active(ctx: Tracking, buffer: Any) -> bool:
    """Return whether an array has put active data into a buffer."""
    if issubclass(type(buffer), (CDATA, REFERENCE)):
        return any(ctx.find(a) is not None for a in arrays_reached(ctx, buffer))
    owner = lent(ctx, buffer)
    return owner is not None and ctx.find(owner) is not None


def arrays_reached(ctx: Tracking, value: Any) -> Iterator[ndarray]:
    """Yield the arrays, of those that the engine has met, whose memory an object of ctypes reaches.

    A pointer leads to any element of the array that it points into.
    """
    where = place_of(value)
    if where is None:
        return
    low, high = where
    registry = ctx.registry
    for node in [*registry.known.values(), *registry.constants.values()]:
        # To look the original of an argument up would note that the program reads it.
        a: Any = node.block() if type(node) is Original else node.ref()
        if a is not None:
            begin, end = np.lib.array_utils.byte_bounds(a)
            if begin < high and low < end:
                yield a


def place_of(value: Any) -> tuple[int, int] | None:
    """Return the range of addresses of an object of ctypes, or what it points to; None if null."""
    if type(value) is REFERENCE:
        return place_of(value._obj)
    if issubclass(type(value), ctypes._Pointer):
        return place_of(value.contents) if value else None
    if issubclass(type(value), (ctypes.c_void_p, ctypes.c_char_p)):
        address = ctypes.cast(value, ctypes.c_void_p).value
        return None if address is None else (address, address + 1)
    begin = ctypes.addressof(value)
    return begin, begin + ctypes.sizeof(value)


def read_attribute(ctx: Tracking, o: Any, name: str) -> Any:
    """Read an attribute in C of an object of ctypes: a number, or another such object."""
    y = getattr(o, name)
    if not issubclass(type(y), CDATA):
        refuse_read(ctx, o)
    return y


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
