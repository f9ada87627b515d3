"""Writes through views with several elements in the same memory (``as_strided``, windows).

Of several writes to one element the last one survives, which depends on NumPy's order of iteration.
The engine finds it by writing numbers to an array of the same layout, and compares the result with
NumPy's.  Then it writes the surviving values to the memory, each element once, with the derivative
of an ordinary write.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.reporting import Reporting, dropped
from mooncake_py.errors import DerivativeDropError, MooncakeError
from mooncake_py.runtime.active import primal_of
from mooncake_py.runtime.dense import dense
from mooncake_py.runtime.late_errors import refuse_if_written
from mooncake_py.runtime.pulls import BASIC, survivors
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import address, is_writeable
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

# fmt: off
__all__ = ["JOINS", "assign", "assign_parts", "copy_in_turn", "crosses", "crosses_at",
           "crossing", "holds_part_of", "join_into", "refuse_shared_outputs", "watched", "write"]
# fmt: on

JOINS = (np.concatenate, np.concatenate.__wrapped__, np.stack)  # type: ignore[attr-defined]

WARNS_ON_WRITE = 1 << 31  # NPY_ARRAY_WARN_ON_WRITE, of results of `np.broadcast_arrays`

Native = Callable[[ndarray], Any]


def assign(ctx: Mode, o: ndarray, node: Any, index: Any, v: Any) -> None:
    """Run ``o[index] = v``."""

    def assign_natively(view: ndarray) -> None:
        view[index] = primal_of(v)

    with watched(ctx, o, assign_natively):
        write(ctx, o, node, index, v, assign_natively)


@contextmanager
def watched(ctx: Mode, o: ndarray, native: Native) -> Iterator[None]:
    """Let the call not go on after an error within the block if ``native(o)`` has written by then.

    The block runs ``native(o)`` in another way, which raises before it writes.
    """
    if o.flags.num & WARNS_ON_WRITE:
        o[False] = o[False]  # NumPy warns of the write, and writes nothing
    try:
        yield
    except Exception as error:
        owner = ctx.registry.owner(o)

        def on_memory(memory: ndarray) -> None:
            native(twin(o, owner, in_a_row(ctx, o, owner, memory)))

        if not isinstance(error, MooncakeError):
            refuse_if_written(ctx, error, on_memory, owner.copy("K"))
        raise


def write(ctx: Mode, o: ndarray, node: Any, index: Any, v: Any, native: Native) -> None:
    """Write what survives of ``o[index] = v``; ``native(o)`` writes the same in NumPy's way."""
    owner = ctx.registry.owner(o)
    flat = in_a_row(ctx, o, owner, owner)
    expected = flat.copy()
    native(twin(o, owner, expected))
    places = node.positions()[index]
    last = np.asarray(survivors(twin(o, owner, np.empty(flat.size, np.intp)), index))
    if np.ndim(v):
        extra = (0,) * max(np.ndim(v) - last.ndim, 0)
        v = ctx.getitem(ctx.call(np.broadcast_to, ctx.getitem(v, extra), last.shape), last)
    ctx.assign(flat, np.asarray(places)[last], v)
    if bits_of(flat) != bits_of(expected):
        raise dropped(
            ctx,
            "a write through a view that overlaps itself",
            why="several elements of the view are the same memory, and it is unknown which "
            "value NumPy writes last",
            fix="write to the array that owns the memory of the view",
        )


def in_a_row(ctx: Mode, o: ndarray, owner: ndarray, memory: ndarray) -> ndarray:
    """Return the elements of memory like that which owns the memory of `o`, by the type of `o`.

    Those of a block of bytes begin where elements of `o` do.
    """
    if any(step % o.itemsize for step in o.strides):
        raise dropped(
            ctx,
            "a write through a view that overlaps itself",
            why=f"it is a view of a field of records of {owner.itemsize} bytes, not a row "
            f"of elements of {o.itemsize} bytes",
            fix="write to the field itself",
        )
    start = (address(o) - address(owner)) % o.itemsize
    count = (owner.nbytes - start) // o.itemsize
    return ndarray(count, o.dtype, dense(plain(memory)), start)


def crosses(slot: Any, v: ndarray) -> bool:
    """Return whether ``slot[...] = v`` reads elements of `v` that it has written already.

    NumPy copies what overlaps first, but not for vectors with strides of one sign.
    """
    if type(slot) is not ndarray or slot.ndim != 1 or v.shape != slot.shape:
        return False
    if slot.strides == v.strides or slot.dtype != v.dtype or not np.may_share_memory(slot, v):
        return False
    if meet_in_step(slot, v):
        return False
    into, of = marked(slot, v)
    expected = of.copy()
    into[...] = of
    return not np.array_equal(into, expected)


def crosses_at(o: ndarray, index: Any, v: ndarray) -> bool:
    """Return whether ``o[index] = v`` reads elements of `v` that it has written already."""
    if not is_whole_mask(o, index):
        try:
            slot = o[index]
        except IndexError:  # the write raises, for its values perhaps
            return False
        return crosses(slot, v)
    if not v.size or not np.may_share_memory(o, v):
        return False
    into, of = marked(o, v)  # NumPy never copies first
    expected = into.copy()
    expected[index] = of.copy()
    into[index] = of
    return not np.array_equal(into, expected)


def is_whole_mask(o: ndarray, index: Any) -> bool:
    """Return whether an index is a mask with all dimensions of an array."""
    if type(index) is tuple and len(index) == 1:
        (index,) = index
    if type(index) in BASIC or type(index) is tuple:
        return False
    mask = np.asarray(index)
    return mask.dtype.kind == "b" and 0 < mask.ndim == o.ndim


def marked(a: ndarray, b: ndarray) -> list[ndarray]:
    """Return two arrays of numbers, different for each place, that share memory as two others do.

    Offsets between fields of records need not be multiples of their size.
    """
    arrays = a, b
    bounds = [np.lib.array_utils.byte_bounds(c) for c in arrays]
    low, high = min(bounds)[0], max(end for _, end in bounds)
    unit = math.gcd(*(address(c) - low for c in arrays), *a.strides, *b.strides) or 1
    marks = np.arange((high - low) // unit + 1)
    wide = marks.itemsize
    return [
        ndarray(c.shape, marks.dtype, marks, (address(c) - low) // unit * wide,
                [stride // unit * wide for stride in c.strides])
        for c in arrays
    ]  # fmt: skip


def meet_in_step(slot: ndarray, v: ndarray) -> bool:
    """Return whether two vectors of one length hold their shared elements at equal positions.

    So do a row and a column of a matrix that begin at one element.
    """
    return not (np.shares_memory(slot[:-1], v[1:]) or np.shares_memory(slot[1:], v[:-1]))


def copy_in_turn(ctx: Mode, o: ndarray, v: ndarray, native: Callable[..., Any]) -> None:
    """Write elements of `v` to `o`, whose memory it shares, as ``native(o, v)`` does.

    Where NumPy reads what it has written before, it is seen by letting it move numbers about in an
    array of the same layout: each says which element of the memory it stands for.
    """
    owner = ctx.registry.owner(o)
    steps = *v.strides, address(v) - address(o)
    if (
        ctx.registry.owner(v) is not owner
        or o.dtype != v.dtype
        or any(step % o.itemsize for step in steps)
    ):
        raise crossing(ctx)
    flat = in_a_row(ctx, o, owner, owner)
    expected, marks = flat.copy(), np.arange(flat.size)
    for elements in expected, marks:
        native(twin(o, owner, elements), twin(v, owner, elements))
    ctx.assign(o, Ellipsis, ctx.getitem(flat, twin(o, owner, marks).copy()))
    if bits_of(flat) != bits_of(expected):
        raise crossing(ctx)


def twin(a: ndarray, owner: ndarray, elements: ndarray) -> ndarray:
    """Return the view of other elements that `a` is of those of the array that owns its memory."""
    unit, wide = a.itemsize, elements.itemsize
    offset = address(a) - address(owner)
    strides = [stride // unit * wide for stride in a.strides]
    view = ndarray(a.shape, elements.dtype, elements, offset // unit * wide, strides)
    view.flags.writeable = is_writeable(a)  # what may not be written raises
    return view


# Sequences of arrays, which NumPy copies one after the other.


def holds_part_of(o: ndarray, value: Any) -> bool:
    """Return whether a sequence holds, at any depth, an array that shares memory with another."""
    return any(
        np.may_share_memory(o, part)
        if type(part) is ndarray
        else (type(part) is list or type(part) is tuple) and holds_part_of(o, part)
        for part in value
    )


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of a sequence of sequences, arrays and numbers, by its first parts."""
    if type(value) is ndarray:
        return value.shape
    if type(value) is list or type(value) is tuple:
        return (len(value), *(shape_of(value[0]) if value else ()))
    return ()


def assign_parts(ctx: Mode, o: ndarray, index: Any, value: Any) -> bool:
    """Run ``o[index] = value`` part by part if NumPy does; it copies first what must be broadcast.

    By then the parts that are views of `o` hold what was written before them.
    """
    slot = o[index]
    shares = type(slot) is ndarray and np.may_share_memory(slot, o)
    if not shares or slot.shape != shape_of(value):
        return False
    for k, part in enumerate(value):
        if type(part) is not list and type(part) is not tuple:
            ctx.assign(slot, k, part)
        elif not assign_parts(ctx, slot, k, part):
            ctx.assign(slot, k, ctx.call(np.array, part))
    return True


def join_into(
    ctx: Mode, f: Any, out: ndarray, arrays: Any, axis: Any = 0, **options: Any
) -> ndarray:
    """Run ``np.concatenate(arrays, axis, out)``, or `np.stack`: one array after the other."""
    before = out.copy()
    f([primal_of(a) for a in arrays], axis, out, **options)
    expected = out.copy()
    out[...] = before
    where, start = (axis or 0) % out.ndim, 0
    for a in arrays:
        if f is np.stack:
            a = ctx.call(np.expand_dims, a, where)
        elif axis is None:
            a = ctx.call(np.ravel, a)
        stop = start + np.shape(a)[where]
        ctx.assign(out, (slice(None),) * where + (slice(start, stop),), a)
        start = stop
    if bits_of(out) != bits_of(expected):
        raise crossing(ctx)
    return out


def refuse_shared_outputs(ctx: Reporting, outputs: Any) -> None:
    """Raise if several outputs of one function share memory."""
    arrays = [a for a in outputs if issubclass(type(a), ndarray)]
    for k, a in enumerate(arrays):
        if any(np.shares_memory(a, b) for b in arrays[:k]):
            raise crossing(ctx)


def crossing(ctx: Reporting) -> DerivativeDropError:
    """Return the error for a write whose order NumPy alone knows."""
    return dropped(
        ctx,
        "an assignment reads elements of the same array that it overwrites",
        why="NumPy does not copy overlapping elements here, and reads some after writing them",
        fix="copy them first: x[i] = x[j].copy()",
    )
