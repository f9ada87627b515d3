"""Tangents of arrays, by the array that owns the memory: views share them as they share memory."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.drops import Reporter, read_as_bytes, refuse_other_bytes
from mooncake_py.runtime.registry import Registry
from mooncake_py.tangents.memory import is_in_other_field, shadow_view, zeros_like_owner
from mooncake_py.tangents.subclasses import set_shape

__all__ = ["Blocks"]

ROOM, SPARE = 16, 1 << 16  # tangents, and bytes of them, that may be of dead arrays in any case


class Block:
    """A tangent, and a reference to the owner of the memory that it belongs to.

    A class without a constructor makes objects quicker: each result has one.
    """

    __slots__ = ("ref", "tangent")

    ref: ref[ndarray]
    tangent: ndarray

    @classmethod
    def of(cls, owner: ndarray, tangent: ndarray) -> Block:
        """Return the block of an owner."""
        block = cls()
        block.ref = ref(owner)
        block.tangent = tangent
        return block


class Blocks:
    """The blocks of memory that have a tangent.

    Parameters
    ----------
    registry : Registry
        Of the context below: which array owns the memory of another.
    report : callable
        Notes an error in the call, from :func:`drops.reporter`.

    Attributes
    ----------
    constants : dict of int to Memory
        Those of the registry: generated code asks them whether a write must be logged.

    Notes
    -----
    Tangents of arrays that are gone are dropped before they take much: a loop over short-lived
    arrays keeps few.  They do not go by a callback of the reference.  Two levels would give an
    array two of them, and CPython 3.11 crashes if its collector frees references with callbacks
    while it calls those of an array that dies.
    """

    view = staticmethod(shadow_view)

    def __init__(self, registry: Registry, report: Reporter) -> None:
        self.owner = registry.owner
        self.constants = registry.constants
        self.look_up = registry.look_up
        self.report = report
        self.refuse_unowned = registry.refuse_unowned
        self.known: dict[int, Any] = {}  # blocks, and originals, which note that they are looked up
        registry.tangents.append(self.known)
        self.room = ROOM
        self.spare = SPARE

    def tangent_of(self, a: ndarray) -> ndarray | None:
        """Return the tangent of an array, a view of that of its block; None where it is zero."""
        known = self.known.get(id(a))
        if known is not None and known.ref() is a:
            if a.dtype.kind not in "fcV":
                raise self.report(read_as_bytes(a.dtype))
            return known.tangent
        if a.base is None:
            return None
        owner = self.owner(a)
        self.look_up.view = a
        known = self.known.get(id(owner))
        if known is not None and known.ref() is not owner:
            known = None
        self.look_up.view = None
        if known is None:
            return None
        if a.dtype is not owner.dtype:
            if is_in_other_field(a, owner):
                return None
            refuse_other_bytes(self.report, a.dtype, owner.dtype)
        return self.view(known.tangent, owner, a)

    def put(self, owner: ndarray, tangent: ndarray) -> None:
        """Register the tangent of a block, its own array with the layout of the owner."""
        self.spare -= tangent.nbytes
        if len(self.known) >= self.room or self.spare < 0:
            self.drop_dead()
        self.known[id(owner)] = Block.of(owner, tangent)

    def put_first(self, owner: ndarray, tangent: ndarray) -> bool:
        """Register a copy of the tangent that a block is given, unless there is one already.

        False where the block must be activated.
        """
        if self.of_id(id(owner)) is not None:
            return False
        copy = np.empty_like(owner, subok=False)
        if copy.strides != owner.strides:
            return False
        copy[...] = tangent
        self.put(owner, copy)
        return True

    def drop_dead(self) -> None:
        """Drop the tangents of arrays that are gone, and say when to look again.

        That is when there may be half as many again, or a quarter of their bytes.
        """
        blocks = [(key, block) for key, block in self.known.items() if type(block) is Block]
        alive = 0
        for key, block in blocks:
            if block.ref() is None:
                del self.known[key]
            else:
                alive += block.tangent.nbytes
        self.room, self.spare = len(self.known) * 3 // 2 + ROOM, alive // 4 + SPARE

    def of_id(self, key: int) -> Any:
        """Return the tangent data of the array with this id; None if it has no tangent."""
        known = self.known.get(key)
        return None if type(known) is Block and known.ref() is None else known

    def activate(self, a: ndarray) -> ndarray:
        """Return the tangent of an array, of zeros if it had none."""
        tangent = self.tangent_of(a)
        if tangent is None:
            owner = a if a.base is None else self.owner(a)
            self.refuse_unowned(owner)
            self.put(owner, zeros_like_owner(owner))
            tangent = self.tangent_of(a)
            assert tangent is not None
        return tangent

    def change_shape(self, a: ndarray, shape: Any) -> None:
        """Give an array and its tangent another shape in place."""
        tangent = self.tangent_of(a)
        set_shape(a, shape)
        if tangent is not None:
            self.put(a, tangent.reshape(a.shape))
