"""Ordinary code between buffers and primitives: it is differentiated like the user's."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from mooncake_py.distributed.buffers import Message

__all__ = ["packed", "unpack"]


def packed(message: Message) -> ndarray:
    """Return the elements of a message."""
    return np.reshape(message.array, -1, order=message.order)[message.positions]


def unpack(message: Message, rows: ndarray) -> None:
    """Write elements that have come, as many as there are, into the array of a message."""
    flat = np.reshape(message.array, -1, order=message.order)
    positions = message.positions
    if isinstance(positions, slice):
        start = positions.start
        flat[start : start + len(rows)] = rows
    else:
        flat[positions[: len(rows)]] = rows
