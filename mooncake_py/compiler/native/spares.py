"""Arrays that a compiled call leaves for the next one, which then needs no new memory.

The operating system hands out new memory page by page when it is touched, and that takes longer
than to compute with it.  What is kept is bounded for the process, and a full run of the garbage
collector drops what no one took since the one before.
"""

from __future__ import annotations

import gc
from threading import Lock
from weakref import WeakSet

import numpy as np
from numpy import ndarray

__all__ = ["STACK", "Spares", "Stack"]

MOST = 256 << 20
"""Bytes that are kept in the process."""
STACK = "stack of a sweep"
FEW = 4  # arrays of one purpose that a form keeps
FIRST = 64  # numbers on a new stack, which grows where it is too small


class Kept:
    """The spare memory of the process.

    Nobody waits for the lock: an array may be given back by the garbage collector, which runs
    anywhere.  Who does not get it goes without: a new array is made, or an old one dropped.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.all: WeakSet[Spares] = WeakSet()
        self.bytes = 0
        self.age = 0

    def drop_old(self) -> None:
        """Drop what was kept before the last call of this function, and is kept still."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            self.bytes = sum([spares.drop_before(self.age) for spares in list(self.all)])
            self.age += 1
        finally:
            self.lock.release()

    def collected(self, phase: str, info: dict[str, int]) -> None:
        """Drop what is old when all generations of objects were looked through."""
        if phase == "stop" and info["generation"] == 2:
            self.drop_old()


_kept = Kept()
gc.callbacks.append(_kept.collected)


class Spares:
    """The arrays that the calls of one form leave, by their purpose."""

    def __init__(self) -> None:
        self.arrays: dict[str, list[tuple[ndarray, int]]] = {}
        _kept.all.add(self)

    def taken(self, purpose: str) -> ndarray | None:
        """Return an array that nobody else has, if there is one."""
        if not self.arrays.get(purpose) or not _kept.lock.acquire(blocking=False):
            return None
        try:
            found = self.arrays[purpose]
            if not found:
                return None
            a, _ = found.pop()
            _kept.bytes -= a.nbytes
            return a
        finally:
            _kept.lock.release()

    def give(self, purpose: str, a: ndarray) -> None:
        """Take an array back that is no longer in use."""
        if not _kept.lock.acquire(blocking=False):
            return
        try:
            found = self.arrays.setdefault(purpose, [])
            if len(found) < FEW and _kept.bytes + a.nbytes <= MOST:
                found.append((a, _kept.age))
                _kept.bytes += a.nbytes
        finally:
            _kept.lock.release()

    def copied(self, purpose: str, a: ndarray) -> ndarray:
        """Return a copy in C order, in memory that was used before if there is some."""
        copy = self.taken(purpose)
        if copy is None or copy.shape != a.shape or copy.dtype != a.dtype:
            copy = np.empty(a.shape, a.dtype)
        np.copyto(copy, a)
        return copy

    def stack(self) -> ndarray:
        """Return a stack for a forward sweep, which may give back a larger one."""
        found = self.taken(STACK)
        return np.empty(FIRST) if found is None else found

    def zeros(self, purpose: str, a: ndarray) -> ndarray:
        """Return new memory, of zeros, for what is given back."""
        return np.zeros(a.shape, a.dtype)

    def keeps(self, a: ndarray) -> bool:
        """Return False: no one else has what is kept."""
        return False

    def drop_before(self, age: int) -> int:
        """Drop what is kept longer; return how many bytes are left."""
        left = 0
        for found in self.arrays.values():
            found[:] = [(a, since) for a, since in found if since >= age]
            left += sum([a.nbytes for a, _ in found])
        return left


class Stack:
    """Values that a forward sweep saved, until no one can run the reverse sweep any more.

    Attributes
    ----------
    array : ndarray
    top : int
        How many numbers are on it.
    """

    __slots__ = ("array", "spares", "top")

    def __init__(self, array: ndarray, top: int, spares: Spares) -> None:
        self.array = array
        self.top = top
        self.spares = spares

    def __del__(self) -> None:
        self.spares.give(STACK, self.array)
