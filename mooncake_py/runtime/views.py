"""Arrays that share the memory of an active block: their cotangents are views of the block's."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.dense import dense
from mooncake_py.runtime.memory import Memory

__all__ = ["IndexView", "View"]


class View:
    """An array that shares the memory of an active block, known by byte offset and strides.

    Its shadow is the same view of the block's shadow.
    """

    __slots__ = ("geometry", "memory", "overlaps", "ref")

    def __init__(
        self, reference: ref[ndarray], memory: Memory, geometry: tuple[Any, ...], overlaps: bool
    ) -> None:
        self.ref = reference
        self.memory = memory
        self.geometry = geometry  # shape, dtype, byte offset in the block, strides
        self.overlaps = overlaps  # whether two elements may be the same memory

    @property
    def grad(self) -> ndarray | None:
        """The part of the block's cotangent that belongs to this array, or None while zero."""
        return None if self.memory.grad is None else self.shadow()

    def protect(self) -> None:
        """Note that the tape refers to the present contents."""
        self.memory.protected = True

    def keep(self, a: ndarray) -> ndarray:
        """Return `a` itself, or a copy of it, for the tape to keep."""
        return self.memory.keep_part(a)

    def pin(self) -> ndarray:
        """Return the shadow; the block's cotangent stays the same array from now on."""
        self.memory.pin()
        return self.shadow()

    def shadow(self) -> ndarray:
        """Return the view of the block's cotangent that belongs to this array."""
        shape, dtype, offset, strides = self.geometry
        return ndarray(shape, dtype, dense(self.memory.like_owner()), offset, strides)

    def dtype(self) -> np.dtype[Any]:
        """Return the dtype of the array; float if it is the real part of a complex block."""
        return self.geometry[1]

    def positions(self) -> ndarray:
        """Return the position in the block, in units of the dtype, of each element."""
        shape, dtype, offset, strides = self.geometry
        itemsize = np.dtype(dtype).itemsize
        total = np.full(shape, offset // itemsize, dtype=np.intp)
        for axis, (n, stride) in enumerate(zip(shape, strides, strict=True)):
            steps = np.arange(n) * (stride // itemsize)
            total += steps.reshape([-1 if k == axis else 1 for k in range(len(shape))])
        return total

    def take(self) -> ndarray | None:
        """Return the cotangent and leave zero in its place; of a part of the block a copy."""
        memory = self.memory
        whole = memory.grad
        if whole is None:
            return None
        shadow = self.shadow()
        if shadow.nbytes == whole.nbytes and not self.overlaps and not memory.pinned:
            memory.grad = None  # as where the result of a function is a reshaped array
            return shadow
        grad = shadow.copy()
        shadow[...] = 0
        return grad

    def add(self, g: Any) -> None:
        """Add into the block's cotangent in place."""
        if self.overlaps:
            # Elements repeat (broadcast, sliding windows): a scatter that accumulates.
            everything: Any = ...
            np.add.at(self.shadow(), everything, g)
        else:
            self.add_once(g)

    add_shared = add

    def add_once(self, g: Any) -> None:
        """Add to elements that are all different memory."""
        untouched = self.memory.grad is None
        shadow = self.shadow()
        if untouched and type(g) is ndarray and g.dtype is shadow.dtype:
            shadow[...] = g  # to zeros, which need not be read: np.transpose 2.2 to 1.2
        else:
            shadow += g


class IndexView(View):
    """A view taken by a basic index, the commonest kind: its shadow is taken the same way.

    Views of an array that overlaps itself are not of this kind: each may or may not overlap.
    """

    __slots__ = ("index", "parent")
    overlaps = False

    def __init__(
        self, reference: ref[ndarray], memory: Memory, parent: Memory | View, index: Any
    ) -> None:
        self.ref = reference
        self.memory = memory
        self.parent = parent
        self.index = index

    def shadow(self) -> ndarray:
        """Return the view of the parent's shadow by the same index."""
        grad = self.memory.grad
        parent = self.parent
        if parent is self.memory and grad is not None:
            return grad[self.index]
        return parent.shadow()[self.index]

    add = add_shared = View.add_once
