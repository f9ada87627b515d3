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

__all__ = ["assign", "compute_into", "crosses", "refuse_crossing"]

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


def crosses(slot: Any, v: ndarray) -> bool:
    """Tell whether ``slot[...] = v`` reads elements of `v` that it has written already.

    NumPy copies what overlaps first, but not for vectors with strides of one sign.
    """
    if type(slot) is not ndarray or slot.ndim != 1 or v.shape != slot.shape:
        return False
    if slot.strides == v.strides or slot.dtype != v.dtype or not np.may_share_memory(slot, v):
        return False
    places = [a.__array_interface__["data"][0] for a in (slot, v)]
    ends = [place + a.strides[0] * (a.size - 1) for place, a in zip(places, (slot, v), strict=True)]
    low, unit = min(*places, *ends), slot.itemsize
    marks = np.arange((max(*places, *ends) - low) // unit + 1)
    into, of = (
        ndarray(a.shape, marks.dtype, marks, (place - low) // unit * marks.itemsize,
                (a.strides[0] // unit * marks.itemsize,))
        for place, a in zip(places, (slot, v), strict=True)
    )  # fmt: skip
    expected = of.copy()
    into[...] = of
    return not np.array_equal(into, expected)


def refuse_crossing(ctx: Any) -> None:
    """Raise for such an assignment."""
    raise ctx.failed(
        DerivativeDropError(
            "an assignment to elements of an array of others that it overwrites meanwhile",
            where=ctx.user_location(),
            why="NumPy does not copy vectors that overlap: some are read after they were written",
            mend="copy them before: x[i] = x[j].copy()",
        )
    )
