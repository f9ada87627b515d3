"""Blocks of array memory: the engine's record of each, and its cotangent.

Arrays are not wrapped in differentiated code.  The engine looks up the activity and the cotangent
of an array by the array that owns the memory: see `registry`.  Cotangents are allocated late: a
block has no shadow until the reverse pass adds to it, and the first added temporary becomes the
shadow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.dense import dense, zeros
from mooncake_py.tangents.memory import address, fields_of, is_writeable
from mooncake_py.tangents.subclasses import plain

__all__ = ["Memory", "objects_overwritten", "undo_assign"]

Place = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""Address, shape, strides and bytes of an element."""


class Rows(NamedTuple):
    """The rows of a block from the first to the last that the tape refers to.

    Rows that are computed one after the other, each from those before, need no log: what the tape
    refers to is apart from what is written.
    """

    start: int
    stop: int

    def with_rows(self, other: Rows) -> Rows:
        """Return the rows from the first to the last of both."""
        return Rows(min(self.start, other.start), max(self.stop, other.stop))


class Memory:
    """One block of memory, known by the array that owns it.

    Attributes
    ----------
    ref : weakref to ndarray
        The owner; also guards against the reuse of its id.
    grad : ndarray or None
        The cotangent of the block, laid out like the owner; None while it is zero.
    protected : bool, set or Rows
        Whether a write must be logged: the caller can see the block, or the tape refers to its
        present contents.  A set holds the parts that were logged since the tape last referred to
        them, and that need not be logged again.  Rows are all that the tape refers to.
    logged : int
        Bytes logged since the last full copy; set when something is logged, and where the block
        was met as a constant.
    pinned : bool
        Whether a hand-written rule holds the shadow, which must then stay the same array.
    rewritten : bool
        Whether as much as the whole block was overwritten and logged.
    floats : set of tuple
        Of a block of bytes, the shape, dtype, byte offset and strides of views as floats.
    shape, dtype, strides, nbytes
        Of the owner; filled in when something may need them after the owner is gone.
    """

    __slots__ = (
        "dtype", "floats", "grad", "logged", "nbytes", "pinned", "protected", "ref", "rewritten",
        "shape", "strides",
    )  # fmt: skip
    overlaps = False

    grad: ndarray | None
    protected: bool | set[Place] | Rows
    pinned: bool
    shape: tuple[int, ...] | None

    @classmethod
    def of(cls, owner: ndarray) -> Memory:
        """Return the block of a new array.

        A class without a constructor makes objects quicker than one that has it in Python;
        generated code writes these lines where it needs them.  Measured: 190 -> 130 ns.
        """
        memory = cls()
        memory.ref = ref(owner)
        memory.grad = memory.shape = None
        memory.protected = memory.pinned = False
        return memory

    @classmethod
    def met(cls, owner: ndarray) -> Memory:
        """Return the block of an array that exists, which others may see: writes are logged."""
        memory = cls.of(owner)
        memory.protected = True
        memory.logged = 0
        return memory

    @property
    def memory(self) -> Memory:
        """The block itself; a view has the block it belongs to."""
        return self

    def describe(self, owner: ndarray) -> None:
        """Remember the layout of the owner, so that a shadow can be made without it."""
        self.shape = owner.shape
        self.dtype = owner.dtype
        self.strides = owner.strides
        self.nbytes = owner.nbytes
        self.rewritten = False
        if self.dtype.kind not in "fcV":
            self.floats: set[tuple[Any, ...]] = set()

    def protect(self) -> None:
        """Note that the tape refers to the present contents: later writes must be logged."""
        self.protected = True

    def keep(self, a: ndarray) -> ndarray:
        """Return an array with the contents of `a` for the tape: `a` itself, protected."""
        self.protected = True
        return a

    def was_logged(self, part: ndarray) -> bool:
        """Return whether a part was logged since the tape last referred to the block."""
        return type(self.protected) is set and place_of(part) in self.protected

    def is_apart(self, o: ndarray, index: Any) -> bool:
        """Return whether ``o[index]`` is apart from the rows that the tape refers to, if so few."""
        kept = self.protected
        if type(kept) is not Rows or self.ref() is not o:
            return False
        rows = rows_of(index, len(o))
        return rows is not None and (rows.start >= kept.stop or rows.stop <= kept.start)

    def note_shape(self) -> None:
        """Note that the owner has another shape, in which its rows are others."""
        if type(self.protected) is Rows:
            self.protected = True

    def was_overwritten(self) -> bool:
        """Return whether anything of the block was logged since it was met."""
        return getattr(self, "rewritten", False) or getattr(self, "logged", 0) > 0

    def note_all_logged(self) -> None:
        """Note that a full copy is logged: no write needs more until the tape refers here again."""
        self.protected = False
        self.rewritten = True
        self.logged = 0

    def note_logged(self, part: ndarray) -> None:
        """Note that a part is logged, whose entry must protect the block again when undone."""
        if type(self.protected) is not set:
            self.protected = set()
        self.protected.add(place_of(part))

    def keep_part(self, a: ndarray, o: ndarray | None = None, index: Any = None) -> ndarray:
        """Return the array that the tape may keep for a view of this block with a known layout.

        It is within ``o[index]``, if that is given.

        Protection is a matter of whole blocks: with a column of a matrix kept by reference,
        every later write to the matrix is logged.  Where a block is written again and again, a
        copy of the small part costs less.  Measured on LU at 200x200: 3 times the primal with
        copies, 9 with references.
        """
        if self.rewritten and a.nbytes * 8 <= self.nbytes:
            return a.copy()
        kept = self.protected
        if kept is False or type(kept) is Rows:
            has_rows = o is not None and o.ndim and self.ref() is o
            rows = rows_of(index, len(o)) if o is not None and has_rows else None
            self.protected = rows.with_rows(kept) if rows and kept else rows or True
        else:
            self.protected = True
        return a

    def shadow(self) -> ndarray:
        """Return the cotangent array, of zeros if nothing was added yet."""
        grad = self.grad
        if grad is None:
            assert self.shape is not None
            grad = self.grad = zeros(self.shape, self.dtype, self.strides)
        return grad

    def like_owner(self) -> ndarray:
        """Return the cotangent array with the very strides of the owner."""
        grad = self.shadow()
        if grad.strides != self.strides and grad.size:
            assert self.shape is not None
            grad = zeros(self.shape, self.dtype, self.strides)
            grad[...] = self.grad
            self.grad = grad
        return grad

    def take(self) -> ndarray | None:
        """Return the cotangent and leave zero: the operation that made the value is reversed."""
        grad = self.grad
        if self.pinned and grad is not None:
            grad = grad.copy()
            self.shadow()[...] = 0
            return grad
        self.grad = None
        return grad

    def pin(self) -> ndarray:
        """Return the shadow, which from now on stays the same array (a rule holds it)."""
        self.pinned = True
        return self.like_owner()

    def add(self, g: Any) -> None:
        """Add a temporary without other references; the first one becomes the shadow."""
        if self.grad is None:
            self.grad = g if type(g) is ndarray else np.array(g)
        else:
            self.grad += g

    def add_shared(self, g: Any) -> None:
        """Add an array that somebody else may hold."""
        if self.grad is None:
            self.grad = np.array(g)
        else:
            self.grad += g

    def add_block(self, other: Memory) -> None:
        """Add the cotangent of another block of this memory, which another call has."""
        g = other.like_owner()
        if self.grad is None or self.dtype.kind in "fc":
            self.add_shared(g)
        elif self.dtype.kind == "V":
            into, fields = fields_of(self.like_owner()), fields_of(g)
            for names, field in into.items():
                field += fields[names]
        else:
            into, of = dense(self.like_owner()).view(np.uint8), dense(g).view(np.uint8)
            for dtype, at in bytes_of(other.floats).items():
                total = into.reshape(-1)[at].view(dtype) + of.reshape(-1)[at].view(dtype)
                into.reshape(-1)[at] = total.view(np.uint8)


def bytes_of(views: Iterable[tuple[Any, ...]]) -> dict[np.dtype[Any], ndarray]:
    """Return for each dtype the places of the bytes of its numbers in a block, a row each."""
    found: dict[np.dtype[Any], list[ndarray]] = {}
    for shape, dtype, offset, strides in views:
        starts = np.full((1,), offset)
        for n, stride in zip(shape, strides, strict=True):
            starts = np.add.outer(starts, np.arange(n) * stride)
        parts = 1
        if dtype.kind == "c":
            dtype, parts = np.zeros(0, dtype).real.dtype, 2
        each = np.add.outer(starts, np.arange(parts) * dtype.itemsize)
        found.setdefault(dtype, []).append(each.ravel())
    return {
        dtype: np.unique(np.concatenate(starts))[:, None] + np.arange(dtype.itemsize)
        for dtype, starts in found.items()
    }


def undo_assign(entry: tuple[Any, ...]) -> None:
    """Reverse of a write: put the old contents back.

    Where later writes to what is restored were not logged, they must be from then on, as they were
    before: it may be that a part of the program is run again.
    """
    target, index, old = entry[1:4]
    if type(target) is not ndarray:  # whose class may have another meaning of a write
        target = plain(target)
    if len(entry) == 5:
        entry[4].protected = True
    if is_writeable(target):
        target[index] = old
    else:  # made read-only by the code itself, after the write or before one that failed
        target.flags.writeable = True
        target[index] = old
        target.flags.writeable = False


def objects_overwritten(o: ndarray, index: Any) -> tuple[Any, ...]:
    """Save the objects or the fields of records that a write to ``o[index]`` will overwrite.

    One object is kept as it is, whatever it is; one record would be a view of the array.
    """
    parts = index if type(index) is tuple else (index,)
    single = len(parts) == o.ndim and all(isinstance(i, (int, np.integer)) for i in parts)
    old = o[index]
    return undo_assign, o, index, old if single and o.dtype.kind == "O" else old.copy()


def rows_of(index: Any, count: int) -> Rows | None:
    """Return the rows, of so many, that an index is within; None if that is not known."""
    if type(index) is tuple and index:
        index = index[0]
    if type(index) is int:
        row = index if index >= 0 else index + count
        return Rows(row, row + 1)
    if type(index) is slice:
        found = range(count)[index]
        if not found:
            return Rows(count, 0)
        first, last = found[0], found[-1]
        return Rows(first, last + 1) if first <= last else Rows(last, first + 1)
    return None


def place_of(a: ndarray) -> Place:
    """Return where the elements of an array are in memory."""
    return address(a), a.shape, a.strides, a.itemsize
