"""Arrays of objects that hold active numbers by reference, like lists.

NumPy computes with their elements by the operators of the elements, which active numbers pass to
their derivative.  These arrays have no shadow; their elements have nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.pulls import pull_state
from mooncake_py.runtime.users_code import has_methods
from mooncake_py.runtime.values import NUMBERS
from mooncake_py.tangents.memory import owner
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["OBJECT", "PLAIN", "as_objects", "as_operand", "holds_numbers", "is_of_objects",
           "is_seen", "laid_out", "mark", "meet_objects", "overwritten", "places_in",
           "store"]  # fmt: skip

OBJECT = np.dtype(object)
PYTHON = {"f": float, "c": complex}  # what `astype(object)` makes of elements up to 64 bits
SIZES = {"f": 8, "c": 16}
PLAIN: tuple[type, ...] = (Active, *NUMBERS, type(None), str)


def is_of_objects(value: Any) -> bool:
    """Return whether a value is a plain array of objects."""
    return type(value) is ndarray and value.dtype is OBJECT


def holds_numbers(a: ndarray) -> bool:
    """Return whether an array of objects holds only numbers, no objects with methods or parts."""
    return all(isinstance(part, PLAIN) for part in a.ravel().tolist())


def meet_objects(ctx: Mode, a: Any, b: Any) -> bool:
    """Return whether an operand is an array of objects, whose operators may not run unseen.

    Something is active, or the operators are the user's.
    """
    if (type(a) is ndarray and a.dtype is OBJECT) or (type(b) is ndarray and b.dtype is OBJECT):
        return is_seen(ctx, a) or is_seen(ctx, b)
    return False


def is_seen(ctx: Mode, value: Any) -> bool:
    """Return whether a value is active, or an array of objects with operators in Python."""
    return ctx.contains_active(value) or (is_of_objects(value) and has_methods(value))


def mark(ctx: Mode) -> None:
    """Let a derivative, and those around it, look for such arrays among arguments from now on."""
    for context in (ctx, *ctx.outers):
        context.watches = context.objects = True


def as_objects(ctx: Mode, value: Any, depth: int | None = None) -> ndarray:
    """Return the elements of an array, of nested sequences or a number as they are stored.

    An array of objects is returned as it is.  Of sequences more than `depth` levels deep the inner
    ones, and arrays, are elements.  NumPy keeps its numbers, but not the elements of its arrays.
    """
    if is_of_objects(value):
        return value
    if issubclass(type(value), ndarray) and ctx.find(value) is None:
        return value.astype(object)
    if isinstance(value, ndarray):
        objects = np.empty_like(value, OBJECT, subok=False)  # in the order of its memory
    else:
        objects = np.empty(np.array(unwrapped(value), OBJECT).shape[:depth], OBJECT)
    for index in np.ndindex(objects.shape):
        objects[index] = element(ctx, value, index)
    return objects


def laid_out(a: ndarray, model: ndarray) -> ndarray:
    """Return an array of objects in the shape and the order of memory of another one."""
    if (a.shape, a.strides) == (model.shape, model.strides):
        return a
    made = np.empty_like(model, OBJECT, subok=False)
    made[...] = a
    return made


def as_operand(ctx: Mode, value: Any) -> ndarray:
    """Return the array of objects that a ufunc makes of an operand, by way of an array of numbers.

    So numbers of NumPy's are Python's in it, also those in sequences.
    """
    if type(value) in (list, tuple) and np.array(unwrapped(value)).dtype is not OBJECT:
        value = ctx.call(np.array, value)
    elif isinstance(number := unwrapped(value), np.generic):
        value = as_python(ctx, value, number.dtype)
    return as_objects(ctx, value)


def element(ctx: Mode, value: Any, index: tuple[int, ...]) -> Any:
    """Return an element of an array or of nested sequences, as an array of objects holds it."""
    if type(value) is ndarray and (index or not value.ndim):
        return as_python(ctx, ctx.getitem(value, index), value.dtype)
    return element(ctx, value[index[0]], index[1:]) if index else value


def as_python(ctx: Mode, number: Any, dtype: np.dtype[Any]) -> Any:
    """Return the result of `astype(object)` for an element of an array of a dtype."""
    if type(number) is not Active:
        return np.asarray(number).astype(object)[()]
    small = dtype.itemsize <= SIZES.get(dtype.kind, 0)
    return ctx.call(PYTHON[dtype.kind], number) if small else number


def store(ctx: Mode, o: ndarray, index: Any, value: Any) -> None:
    """Run ``o[index] = value`` for an array of objects, and record what it overwrites."""
    mark(ctx)
    places = places_in(o, index)
    if issubclass(type(places), ndarray):
        values = as_objects(ctx, value, places.ndim)
        while values.ndim > places.ndim and values.shape[0] == 1:
            values = values[0]
        new = np.broadcast_to(values, places.shape).ravel().tolist()
        numbers = places.ravel().tolist()
    else:
        new, numbers = [value], [int(places)]
    ctx.record(overwritten(o, numbers))
    put(o, numbers, new)


def places_in(o: ndarray, index: Any) -> Any:
    """Return the numbers, in the order of C, of the elements ``o[index]``."""
    return np.arange(o.size).reshape(o.shape)[index]


def overwritten(o: ndarray, numbers: list[int]) -> tuple[Any, ...]:
    """Return the entry that undoes a write to elements of an array, which is about to happen."""
    whole = owner(o)
    if whole is o:
        old = [o[np.unravel_index(n, o.shape)] for n in numbers]
        return pull_state, put, o, numbers, old
    # The view may be gone when this is undone.
    whole = plain(whole)
    return pull_state, put, whole, range(whole.size), whole.ravel().tolist()


def put(o: ndarray, places: Any, values: Any) -> None:
    """Write the elements of an array at some places, in the order of C, one by one.

    More at a time NumPy would ask for their parts.
    """
    for place, value in zip(places, values, strict=True):
        (o if o.ndim else o.reshape(1))[np.unravel_index(place, o.shape or 1)] = value
