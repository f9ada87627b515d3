"""How the elements of a message are taken out of arrays and put there, in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.integrations.mpi4py.buffers import Message
from mooncake_py.rules.declare import contextual
from mooncake_py.runtime.mode import Mode

__all__ = ["packed", "packed_inside", "unpack", "unpack_inside"]


def packed(message: Message) -> ndarray:
    """Return the elements of a message."""
    return flat(message)[message.positions]


def unpack(message: Message, rows: ndarray) -> None:
    """Write elements that have come, as many as there are, into the array of a message."""
    flat(message)[places(message, len(rows))] = rows


def flat(message: Message) -> ndarray:
    """Return the array of a message in the order of its memory: a view."""
    return np.reshape(message.array, -1, order=message.order)


def places(message: Message, count: int) -> slice | ndarray:
    """Return where the first elements of a message stand."""
    positions = message.positions
    if isinstance(positions, slice):
        return slice(positions.start, positions.start + count)
    return positions[:count]


# The same within a derivative: most messages are a vector as it is.


@contextual(packed)
def packed_inside(ctx: Mode, message: Message) -> Any:
    """Return the elements of a message within a derivative."""
    if message.is_vector:
        return message.array
    return ctx.getitem(ctx.call(flat, message), message.positions)


@contextual(unpack)
def unpack_inside(ctx: Mode, message: Message, rows: Any) -> None:
    """Write elements that have come within a derivative."""
    if not len(rows):
        return
    if message.is_vector and len(rows) == message.rows:
        ctx.assign(message.array, Ellipsis, rows)
    else:
        ctx.assign(ctx.call(flat, message), places(message, len(rows)), rows)
