"""Memory of arrays: its owner, and the corresponding view of the owner's shadow.

NumPy views share memory without sharing identity.  Tangents keep the sharing: the array that owns
the memory has one shadow, and every view of it gets the same view of that shadow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray

__all__ = [
    "WRITEABLE",
    "Shadows",
    "address",
    "are_laid_out_alike",
    "cells",
    "fields_of",
    "has_overlaps",
    "is_owned",
    "is_same_view",
    "is_writeable",
    "objects_in",
    "overlap",
    "owner",
    "shadow_view",
    "zeros_like_owner",
]  # fmt: skip

CONTIGUOUS = 3
"""The flags of arrays that are contiguous in C or Fortran order."""
WRITEABLE = 0x400  # NPY_ARRAY_WRITEABLE
MAX_WORK = 10_000  # of the exact test whether two arrays overlap: microseconds


def owner(a: ndarray) -> ndarray:
    """Return the array that owns the memory of `a`.

    Parameters
    ----------
    a : ndarray

    Returns
    -------
    ndarray
        The last array that is reached by following ``.base``, also through objects that stand
        between two arrays (``as_strided``, ``memoryview``).  Where the memory belongs to something
        that is not an array (bytes, a memory map), the last array before it.
    """
    base: Any = a.base
    while base is not None:
        if issubclass(type(base), ndarray):
            a = base
            base = a.base
        elif type(base) is memoryview:
            base = base.obj
        else:
            below = getattr(base, "base", None)
            base = None if below is base else below  # an array of Cython's is its own base
    return a


def address(a: ndarray) -> int:
    """Return the address of the first element."""
    return a.__array_interface__["data"][0]


def is_writeable(a: ndarray) -> bool:
    """Return the flag; NumPy warns where that of `np.broadcast_arrays` is asked by its name."""
    return bool(a.flags.num & WRITEABLE)


def fields_of(a: ndarray, kinds: str = "fc") -> dict[tuple[str, ...], ndarray]:
    """Return views of the fields of a structured array that hold numbers with a derivative.

    The keys are their names; those of records within records have more than one.  For the fields
    that hold objects, ``kinds`` is "O".
    """
    found: dict[tuple[str, ...], ndarray] = {}
    for name in a.dtype.names or ():
        field = a[name]
        inner = {(): field} if field.dtype.kind in kinds else fields_of(field, kinds)
        found.update(((name, *names), part) for names, part in inner.items())
    return found


def objects_in(a: ndarray) -> list[ndarray]:
    """Return an array of objects itself, or views of the fields of records that hold objects."""
    return [a] if a.dtype.kind == "O" else list(fields_of(a, "O").values())


def is_in_other_field(a: ndarray, owner: ndarray) -> bool:
    """Return whether a view is of fields of records that hold neither floats nor records."""
    record = owner.dtype
    if record.names is None or a.dtype.kind in "fcV":
        return False
    inner = [
        (step, n - 1)
        for n, step in zip(a.shape, a.strides, strict=True)
        if n > 1 and step % record.itemsize
    ]
    at = (address(a) - address(owner)) % record.itemsize
    start = at + sum(min(step, 0) * count for step, count in inner)
    stop = at + sum(max(step, 0) * count for step, count in inner) + a.itemsize
    if start < 0 or stop > record.itemsize:
        return False  # it leads from one record into the next
    met = [
        kind.base.kind
        for kind, at in _plain_fields(record)
        if at < stop and start < at + kind.itemsize
    ]
    return not set(met) & set("fcV")


def _plain_fields(record: np.dtype[Any], start: int = 0) -> Iterator[tuple[np.dtype[Any], int]]:
    """Yield the fields of records that are not records themselves, and where they start."""
    for kind, at, *_ in (record.fields or {}).values():
        if kind.names is None:
            yield kind, start + at
        else:
            yield from _plain_fields(kind, start + at)


def is_owned(a: ndarray, owners: list[ndarray]) -> bool:
    """Return whether one of some arrays owns the memory of `a`."""
    own = owner(a)
    return any(own is other for other in owners)


def is_same_view(a: ndarray, b: ndarray) -> bool:
    """Return whether two arrays are the same view of the same memory, for reading or writing."""
    same = a.__array_interface__["data"] == b.__array_interface__["data"]
    return same and are_laid_out_alike(a, b)


def are_laid_out_alike(a: ndarray, b: ndarray) -> bool:
    """Return whether the elements of two arrays are alike, and as far from the first one."""
    return a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype


def zeros_like_owner(owner: ndarray) -> ndarray:
    """Return a plain array of zeros with the shape, dtype and very strides of `owner`.

    It is aligned if `owner` is.
    """
    flags = owner.flags
    if not flags.aligned:
        return _misaligned_zeros(owner)
    zeros = np.zeros(owner.shape, owner.dtype, "F" if flags.fnc else "C")
    if zeros.strides == owner.strides:
        return zeros
    zeros = np.zeros_like(owner, order="K", subok=False)
    if zeros.strides == owner.strides or not owner.size:
        return zeros
    low, high = _extent(owner)
    # Of the same dtype, as the store owns what may become active.
    unit = owner.itemsize if (high - low) % owner.itemsize == 0 else 1
    store = np.zeros((high - low) // unit, owner.dtype if unit > 1 else np.uint8)
    return ndarray(owner.shape, owner.dtype, store, address(owner) - low, owner.strides)


def _misaligned_zeros(owner: ndarray) -> ndarray:
    """Return zeros laid out like an array, as far from addresses that its dtype is aligned to."""
    low, high = _extent(owner)
    start = low % owner.dtype.alignment
    store = np.zeros(start + high - low, np.uint8)
    return ndarray(owner.shape, owner.dtype, store, start + address(owner) - low, owner.strides)


def shadow_view(shadow: ndarray, owner: ndarray, view: ndarray) -> ndarray:
    """Return the view of `shadow` that `view` is of `owner`.

    Parameters
    ----------
    shadow : ndarray
        Laid out like `owner`; from :func:`zeros_like_owner`.
    owner, view : ndarray
        `view` lies within the memory of `owner`.

    Returns
    -------
    ndarray
        Shares the memory of `shadow`; has the byte offset, strides, shape and dtype of `view`, and
        may be written to even if `view` is read-only.  It is `shadow` itself if `view` covers all.
    """
    strides = view.strides
    if strides == owner.strides and view.shape == owner.shape and view.dtype == owner.dtype:
        return shadow
    if not view.size:
        return np.zeros(view.shape, view.dtype)
    store, start = _store(shadow)
    if view.nbytes != owner.nbytes or not view.flags.num & CONTIGUOUS:  # else it is the whole block
        start += address(view) - address(owner)
    return ndarray(view.shape, view.dtype, store, start, strides)


class Shadows:
    """The shadows of all the memory met during one operation, by its owner.

    Parameters
    ----------
    make : callable, optional
        Makes the shadow of an owner, laid out like it.
    """

    __slots__ = ("_foreign", "_make", "_shadows")

    def __init__(self, make: Callable[[ndarray], ndarray] = zeros_like_owner) -> None:
        self._make = make
        # The owner is kept along with its shadow: an id is valid only while its object lives.
        self._shadows: dict[int, tuple[ndarray, ndarray]] = {}
        self._foreign: list[ndarray] = []

    def view(self, a: ndarray) -> ndarray:
        """Return the shadow of `a`, overlapping other shadows as `a` overlaps other arrays."""
        own = self.block(a)
        entry = self._shadows.get(id(own))
        if entry is None:
            entry = self._shadows[id(own)] = (own, self._make(own))
        return shadow_view(entry[1], own, a)

    def block(self, a: ndarray) -> ndarray:
        """Return one and the same array for all arrays that share memory with `a`."""
        own = owner(a)
        if own.base is None:
            return own
        low, high = _extent(own)
        for known in self._foreign:
            first, last = _extent(known)
            if first <= low and high <= last:
                return known
        own = _whole_buffer(own)
        self._foreign.append(own)
        return own


def has_overlaps(a: ndarray) -> bool:
    """Return whether two indices of an array may be the same element (conservatively)."""
    if a.base is None or not a.size:
        return False
    reach = a.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach = stride * (n - 1) + reach
    return False


def overlap(a: ndarray, b: ndarray) -> bool:
    """Return whether two arrays share an element; True if an exact test would take too long."""
    try:
        return np.shares_memory(a, b, max_work=MAX_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def cells(a: ndarray) -> ndarray:
    """Return the addresses of the elements of `a`, an array of its shape."""
    found = np.full(a.shape, address(a), dtype=np.intp)
    for axis, (n, stride) in enumerate(zip(a.shape, a.strides, strict=True)):
        shape = [1] * a.ndim
        shape[axis] = n
        found += (np.arange(n) * stride).reshape(shape)
    return found


def _store(shadow: ndarray) -> tuple[ndarray, int]:
    """Return a dense array over the memory of a shadow, and the byte where the shadow begins."""
    flags = shadow.flags
    if flags.c_contiguous or flags.f_contiguous:
        return shadow, 0
    base = shadow.base
    if isinstance(base, ndarray):  # the byte store made by zeros_like_owner
        return base, address(shadow) - address(base)
    return shadow.ravel("K"), 0


def _extent(a: ndarray) -> tuple[int, int]:
    """Return the addresses of the first byte of `a` and of the byte after its last."""
    return np.lib.array_utils.byte_bounds(a)


def _whole_buffer(last: ndarray) -> ndarray:
    """Return the bytes of the object that a foreign array lies in, or the array itself."""
    root: Any = last.base
    while type(root) is memoryview and root.obj is not None:
        root = root.obj
    try:
        whole = np.frombuffer(root, np.uint8)
    except (TypeError, ValueError, BufferError):
        return last
    low, high = _extent(whole)
    first, end = _extent(last)
    return whole if low <= first and end <= high else last
