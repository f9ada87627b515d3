"""Records: the elements of structured arrays.

A record is a scalar that is a view: its fields are in the memory of the array.  So it is read and
written through an array without axes over the same memory, which the engine knows like any other
view.  What copies or writes whole records does so field by field.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.seen_calls import run_seen
from mooncake_py.runtime import drops
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.late_errors import refuse_part
from mooncake_py.runtime.overlapping import crossing
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.memory import owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = [
    "HANDLERS", "fields", "found", "is_names", "is_record", "item", "set_item", "store", "stores",
    "use_field",
]  # fmt: skip


def is_record(value: Any) -> bool:
    """Return whether a value is a record with fields."""
    return issubclass(type(value), np.void) and value.dtype.names is not None


def item(ctx: Mode, record: Any, i: Any) -> Any:
    """Run ``record[i]``: a number, or a view if the field is an array or a record."""
    part = ctx.getitem(np.asarray(record), field(record, i))
    return part if part.ndim else ctx.getitem(part, ())


def set_item(ctx: Mode, record: Any, i: Any, v: Any) -> None:
    """Run ``record[i] = v``."""
    ctx.setitem(np.asarray(record), field(record, i), v)


def field(record: Any, i: Any) -> Any:
    """Return the name of a field that is chosen by its position."""
    if not isinstance(i, (int, np.integer)):
        return i
    record[i]  # raises as NumPy does
    return (record.dtype.names or ())[i]


def fields(ctx: Mode, record: Any) -> Iterator[Any]:
    """Yield the fields of a record."""
    for i in range(len(record)):
        yield ctx.getitem(record, i)


def found(ctx: Mode, o: ndarray, i: Any, y: Any) -> Any:
    """Return ``y = o[i]``, not a number, read from an active array; raise if it cannot be."""
    if is_record(y) and y.base is not None:
        return y
    if type(y) is not ndarray or y.dtype.names is None:
        return drops.element(ctx, o, y)
    for name in y.dtype.names:
        part = ctx.getitem(ctx.getitem(o, name), i)
        if ctx.contains_active(part):
            ctx.setitem(ctx.getitem(y, name), Ellipsis, part)
    return y


# Fields by their place, as attributes of `recarray` and `record` read and write them.


def use_field(ctx: Mode, o: Any, method: str, args: Any, kwargs: Any) -> Any:
    """Run ``o.getfield(dtype, offset)`` or ``o.setfield(v, dtype, offset)`` of a whole field.

    NotImplemented for other methods, and for other parts of the elements.
    """
    if method == "getfield":
        name = field_at(o, *args, **kwargs)
        return NotImplemented if name is None else ctx.getitem(o, name)
    if method == "setfield" and args:
        name = field_at(o, *args[1:], **kwargs)
        return NotImplemented if name is None else ctx.setitem(o, name, args[0])
    return NotImplemented


def field_at(o: Any, dtype: Any = None, offset: Any = 0) -> str | None:
    """Return the name of the field of a dtype at an offset, None if there is none."""
    for name in o.dtype.names or ():
        kind, place = o.dtype.fields[name][:2]
        if place == offset and type(dtype) is type(kind) and kind == dtype:
            return name
    return None


def run_field(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run such a method of a record."""
    y = use_field(ctx, args[0], f.__name__, args[1:], kwargs)
    if y is not NotImplemented:
        return y
    ctx.refuse_if_active(f, args)
    return run_seen(ctx, f, args, partial(f, *args, **kwargs))


HANDLERS: dict[Any, Handler] = {np.void.getfield: run_field, np.void.setfield: run_field}


def is_names(i: Any) -> bool:
    """Return whether an index chooses some of the fields."""
    return type(i) is list and bool(i) and all(type(part) is str for part in i)


def stores(o: ndarray, i: Any, v: Any) -> bool:
    """Return whether ``o[i] = v`` writes whole records, given as a tuple or as records.

    The array is structured.
    """
    if type(i) is str and (i not in (o.dtype.names or ()) or o.dtype[i].names is None):
        return False
    if isinstance(i, tuple) and any(part is Ellipsis for part in i):
        return False  # what follows would mean another axis where a field is an array
    return type(v) is tuple or is_record(v) or (type(v) is ndarray and v.dtype.names is not None)


def store(ctx: Mode, o: ndarray, i: Any, v: Any) -> None:
    """Run ``o[i] = v`` for what `stores` accepts."""
    if type(i) is str:
        o, i = ctx.getitem(o, i), Ellipsis
    slot = np.asarray(o[i])
    check(ctx, o, i, v)
    crosses = shares(slot if np.may_share_memory(slot, o) else o, v)
    expected = written(o, i, v) if crosses else b""
    in_turn = not crosses or not slot.ndim  # NumPy copies before, except for one record
    if type(v) is tuple:
        parts = v if in_turn else [apart(ctx, part) for part in v]
    else:
        v = np.asarray(v) if in_turn else apart(ctx, v)
        parts = [ctx.getitem(v, name) for name in v.dtype.names]
    for name, part in zip(o.dtype.names or (), parts, strict=True):
        ctx.setitem(ctx.getitem(o, name), i, part)
    if crosses and bits_of(owner(o)) != expected:
        raise crossing(ctx)


def check(ctx: Mode, o: ndarray, i: Any, v: Any) -> None:
    """Raise NumPy's error if `v` is not a record of `o`."""
    trial = np.empty((), o.dtype)
    value = unwrapped(v) if type(v) is tuple else np.zeros((), v.dtype)
    try:
        trial[()] = value
    except Exception as error:
        refuse_part(ctx, error, o, i, value)
        raise


def shares(o: ndarray, v: Any) -> bool:
    """Return whether what is written to an array may share its memory."""
    if type(v) is tuple:
        return any(shares(o, part) for part in v)
    return (is_record(v) or type(v) is ndarray) and np.may_share_memory(o, np.asarray(v))


def written(o: ndarray, i: Any, v: Any) -> bytes:
    """Return the memory of `o` as ``o[i] = v`` leaves it, and leave it as it is."""
    before = o.copy()
    o[i] = unwrapped(v)
    after = bits_of(owner(o))
    o[...] = before
    return after


def apart(ctx: Mode, v: Any) -> Any:
    """Return a copy of an array or a record; anything else as it is."""
    if is_record(v):
        v = np.asarray(v)
    if type(v) is not ndarray:
        return v
    copy = np.empty_like(v)
    ctx.setitem(copy, Ellipsis, v)
    return copy
