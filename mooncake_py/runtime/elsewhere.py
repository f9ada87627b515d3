"""Arrays in memory that is another array's, which their ``base`` does not say.

``np.from_dlpack``, ``np.ctypeslib.as_array`` and ``__array_interface__`` make them.  The array that
owns the memory is found by what the base refers to, or by addresses.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Iterable, Iterator
from mmap import mmap
from types import FunctionType, ModuleType
from typing import Any

from numpy import ndarray
from numpy.lib.array_utils import byte_bounds

from mooncake_py.diagnostics.places import current_place
from mooncake_py.errors import DerivativeDropError
from mooncake_py.tangents.memory import address, is_writeable, overlap, owner

__all__ = ["BufferViews", "PartlySharedError", "array_behind", "buffer_of", "has_own_memory",
           "in_buffer", "owner_among", "view_like"]  # fmt: skip

OWNING = (bytes, bytearray, array, mmap, memoryview)
"""Buffers that have memory of their own, in which no array owns anything."""
NOTHING_BEHIND = (type, ModuleType, FunctionType, str, int, float)
HEAP_TYPE = 1 << 9
MOST = 256  # objects that are looked through


class PartlySharedError(Exception):
    """Two arrays overlap, and neither lies in the other."""


def has_own_memory(base: Any) -> bool:
    """Return whether the base of an array is a buffer, which no array can own."""
    return issubclass(type(base), OWNING)


def in_buffer(a: ndarray) -> bool:
    """Return whether an array lies in a buffer, as may others that are not views of it."""
    if a.base is None:
        return False
    root = owner(a)
    return root.base is not None and has_own_memory(buffer_of(root))


class BufferViews:
    """The arrays of one argument in buffers: each buffer must be seen through one of them."""

    what = "two arrays are different views of one buffer that no array owns"
    why = "they were made from a buffer object, and how they overlap is not recorded"
    fix = "make one array of the whole buffer, and take views of that array"

    def __init__(self, arrays: Iterable[ndarray] = ()) -> None:
        self.met: dict[int, list[ndarray]] = {}  # by the id of the buffer
        self.ends: dict[int, int] = {}
        for a in arrays:
            self.add(a)

    def add(self, a: ndarray) -> None:
        """Take an array; raise if what it shares with another one would not be known."""
        if not a.size or not in_buffer(a):
            return
        key = id(buffer_of(owner(a)))
        low, high = byte_bounds(a)
        met, end = self.met.setdefault(key, []), self.ends.get(key, 0)
        if low < end and any(share_unknown(a, b) for b in met):
            where = current_place()[0]
            raise DerivativeDropError(self.what, where=where, why=self.why, fix=self.fix)
        met.append(a)
        self.ends[key] = max(end, high)


def share_unknown(a: ndarray, b: ndarray) -> bool:
    """Return whether two arrays over a buffer share derivatives, or writes, by their addresses."""
    floats = a.dtype.kind in "fc" and b.dtype.kind in "fc"
    may_share = floats or is_writeable(a) or is_writeable(b)
    return may_share and owner(a) is not owner(b) and overlap(a, b)


def array_behind(a: ndarray) -> ndarray | None:
    """Return the array that owns the memory of another one, by what the base of that refers to."""
    return owner_among(a, arrays_from(a.base))


def arrays_from(base: Any) -> Iterator[ndarray]:
    """Yield the arrays that an object refers to, also through others."""
    todo, seen = [base, *read_by_class(base)], {id(base)}
    while todo and len(seen) < MOST:
        value = todo.pop()
        if issubclass(type(value), ndarray):
            yield value
        elif not issubclass(type(value), NOTHING_BEHIND):
            for part in gc.get_referents(value):
                if id(part) not in seen:
                    seen.add(id(part))
                    todo.append(part)


def read_by_class(base: Any) -> Iterator[Any]:
    """Yield the objects that an object's class may read under names other than the object's.

    They may give the memory of a global or a captured array as that of the object.
    """
    if not type(base).__flags__ & HEAP_TYPE:
        return
    for part in vars(type(base)).values():
        f = part.fget if type(part) is property else part
        if type(f) is FunctionType:
            yield from f.__closure__ or ()
            yield from (f.__globals__[n] for n in f.__code__.co_names if n in f.__globals__)


def buffer_of(a: ndarray) -> Any:
    """Return the buffer whose memory an array uses."""
    buffer: Any = a.base
    while issubclass(type(buffer), memoryview) and buffer.obj is not None:
        buffer = buffer.obj
    return buffer


def view_like(a: ndarray, other: ndarray) -> ndarray:
    """Return an array as a view of another one in whose memory it lies; as it is if it does not."""
    (low, high), (first, last) = byte_bounds(a), byte_bounds(other)
    may_write = is_writeable(a)
    if not first <= low or not high <= last or (may_write and not is_writeable(other)):
        return a
    if not other.flags.c_contiguous or not a.size:
        return a
    view = ndarray(a.shape, a.dtype, other, address(a) - first, a.strides)
    view.flags.writeable = may_write
    return view


def owner_among(a: ndarray, others: Iterable[ndarray]) -> ndarray | None:
    """Return the owner, of some arrays, in whose memory another array lies; None if there is none.

    Raises
    ------
    PartlySharedError
        If one of them has a part of the memory.
    """
    low, high = byte_bounds(a)
    for other in others:
        own = owner(other)
        if own is a or not a.size:
            continue
        first, last = byte_bounds(own)
        if first <= low and high <= last:
            return own
        if low < last and first < high:
            raise PartlySharedError
    return None
