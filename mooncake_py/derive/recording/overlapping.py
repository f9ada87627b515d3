"""Writes through a view two of whose elements are the same memory (``as_strided``, windows).

Of several writes to one place the last one survives.  Which one that is depends on the order in
which NumPy goes through the view; it is found by writing numbers to an array of the same layout,
and the result is compared with what NumPy writes.  What survives is then written to the memory
itself, each place once, and has the derivative of such a write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.recording.active import primal_of
from mooncake_py.derive.recording.memory import dense
from mooncake_py.errors import DerivativeDropError

__all__ = ["assign", "compute_into"]

Native = Callable[[ndarray], Any]


def assign(ctx: Any, o: ndarray, node: Any, index: Any, v: Any) -> None:
    """Run ``o[index] = v``."""

    def assign_natively(view: ndarray) -> None:
        view[index] = primal_of(v)

    write(ctx, o, node, index, v, assign_natively)


def compute_into(ctx: Any, o: ndarray, node: Any, y: Any, run: Native) -> None:
    """Write `y`, the result of a function that runs into `o`, as ``run(o)`` does."""
    write(ctx, o, node, Ellipsis, y, run)


def write(ctx: Any, o: ndarray, node: Any, index: Any, v: Any, native: Native) -> None:
    """Write what survives of ``o[index] = v``; NumPy's own way is `native`."""
    owner = ctx.registry.owner(o)
    flat = dense(owner).reshape(-1).view(o.dtype)
    offset = o.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    expected = flat.copy()
    view = ndarray(o.shape, o.dtype, expected, offset, o.strides)
    view.flags.writeable = o.flags.writeable  # what may not be written raises
    native(view)
    places = node.positions()[index]
    last = survivors(o, offset, flat.size, index)
    if np.ndim(v):
        extra = (0,) * max(np.ndim(v) - last.ndim, 0)
        v = ctx.getitem(ctx.call(np.broadcast_to, ctx.getitem(v, extra), last.shape), last)
    ctx.assign(flat, np.asarray(places)[last], v)
    if flat.tobytes() != expected.tobytes():
        raise ctx.failed(
            DerivativeDropError(
                "a write through a view that overlaps itself",
                where=ctx.user_location(),
                why="several elements of the view are the same memory, and which of the values "
                "NumPy leaves there could not be told",
                mend="write to the array that the view was made of",
            )
        )


def survivors(o: ndarray, offset: int, size: int, index: Any) -> ndarray:
    """Return which of the elements that ``o[index] = v`` writes are not overwritten by others."""
    unit, wide = o.itemsize, np.dtype(np.intp).itemsize
    marks = np.full(size, -1, dtype=np.intp)
    strides = [stride // unit * wide for stride in o.strides]
    view = ndarray(o.shape, np.intp, marks, offset // unit * wide, strides)
    shape = np.shape(view[index])
    order = np.arange(int(np.prod(shape))).reshape(shape)
    view[index] = order
    return np.asarray(view[index] == order)
