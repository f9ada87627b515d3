"""The table of blocks and views of one differentiated call, by the id of the array."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.places import current_place
from mooncake_py.errors import DerivativeDropError
from mooncake_py.runtime import elsewhere
from mooncake_py.runtime.drops import Reporter, refuse_other_bytes
from mooncake_py.runtime.mapped import mapped
from mooncake_py.runtime.memory import Memory
from mooncake_py.runtime.originals import LookUp, Original
from mooncake_py.runtime.views import View
from mooncake_py.tangents.memory import (
    CONTIGUOUS,
    address,
    has_overlaps,
    is_in_other_field,
    is_writeable,
)
from mooncake_py.tangents.memory import owner as owner_of
from mooncake_py.tangents.subclasses import set_shape

__all__ = ["Registry"]

GROWING = (bytearray, array)
CAPSULE = "PyCapsule"
NO_NAME = "<capsule object NULL"
"""How a capsule without a name is shown.  It frees memory that a library made for one array; those
of DLPack, which may be another library's, have names."""


class Registry:
    """The blocks and views known to one differentiated call, by the id of the array."""

    def __init__(self, report: Reporter) -> None:
        self.report = report  # notes an error in the call
        self.known: dict[int, Memory | View] = {}  # nodes of active arrays
        self.constants: dict[int, Memory] = {}  # of which something must be remembered
        # By the ids of buffers what gives the array that stands for them, or None: those that may
        # grow cannot while there is an array, which is kept only if it is active.
        self.foreign: dict[int, tuple[Any, Callable[[], ndarray | None]]] = {}
        self.in_buffers: list[ndarray] = []  # that are active
        self.elsewhere: dict[int, tuple[ref[ndarray], ndarray]] = {}  # owners of others' memory
        self.tangents: list[dict[int, Any]] = []  # of forward modes upon this one
        self.look_up = LookUp()
        self.again = 0  # how often something was noted that runs code again on the way back
        self.files: list[str] = []  # that active values were written to through their maps

    def fresh(self, a: ndarray) -> Memory | View:
        """Register a newly computed active array."""
        if a.base is None:
            node = self.known[id(a)] = Memory.of(a)
            return node
        owner = owner_of(a)
        memory = self.known[id(owner)] = Memory.of(owner)
        return memory if owner is a else self.view(a, owner, memory)

    def independent(self, y: ndarray) -> ndarray:
        """Return an output whose elements are all different memory: a copy of a broadcast one."""
        if has_overlaps(y):
            writeable = is_writeable(y)
            y = y.copy()
            y.flags.writeable = writeable
        return y

    def is_unowned(self, y: ndarray) -> bool:
        """Return whether a named capsule has the memory of an array: it hides who sees it."""
        base = owner_of(y).base
        is_capsule = base is not None and type(base).__name__ == CAPSULE
        return is_capsule and not repr(base).startswith(NO_NAME)

    def find(self, a: ndarray) -> Memory | View | None:
        """Return the node of an active array, or None if it is constant."""
        node = self.known.get(id(a))
        if node is not None and node.ref() is a:
            return node
        if a.base is None:
            return None
        owner = self.owner(a)
        block = self.block_of(a, owner)
        if block is None or (a.dtype is not owner.dtype and is_in_other_field(a, owner)):
            return None
        return self.view(a, owner, block.memory)

    def block_of(self, a: ndarray, owner: ndarray) -> Memory | View | None:
        """Return the node of the block of an array, or None if it is constant."""
        self.look_up.view = a
        block = self.known.get(id(owner))
        if block is not None and block.ref() is not owner:
            block = None
        self.look_up.view = None
        return block

    def owner(self, a: ndarray) -> ndarray:
        """Return the array that owns the memory of `a`."""
        owner = owner_of(a)
        return owner if owner.base is None else self.owner_of_buffer(owner)

    def owner_of_buffer(self, a: ndarray) -> ndarray:
        """Return the array that stands for memory that no array owns (``np.frombuffer``).

        One array may stand for a buffer; what another one shares with it cannot be told.
        """
        buffer = elsewhere.buffer_of(a)
        if not elsewhere.has_own_memory(buffer):
            found = self.owner_elsewhere(a)
            if found is not None:
                return found
        known = self.standing_for(buffer, a)
        may_change = is_writeable(known) or is_writeable(a)
        if known is not a and may_change and np.may_share_memory(known, a):
            said = elsewhere.BufferViews
            raise self.dropped(said.what, said.why, said.fix)
        return a

    def standing_for(self, buffer: Any, a: ndarray) -> ndarray:
        """Return the array that stands for a buffer: the one given if there is none yet."""
        kept = self.foreign.get(id(buffer))
        known = None if kept is None else kept[1]()
        if known is None:
            grows = issubclass(type(buffer), GROWING)
            self.foreign[id(buffer)] = buffer, ref(a) if grows else lambda: a
        return a if known is None else known

    def made_of_buffer(self, a: ndarray) -> ndarray:
        """Return an array that was made of a buffer, as a view of the array that stands for it."""
        buffer = elsewhere.buffer_of(a)
        if not elsewhere.has_own_memory(buffer):
            return a
        known = self.standing_for(buffer, a)
        return a if known is a else elsewhere.view_like(a, known)

    def owner_elsewhere(self, a: ndarray) -> ndarray | None:
        """Return the array that owns the memory of one whose base does not say it, or None."""
        known = self.elsewhere.get(id(a))
        if known is not None and known[0]() is a:
            return known[1]
        try:
            found = elsewhere.array_behind(a)
            if found is None:
                found = elsewhere.owner_among(a, self.alive())
        except elsewhere.PartlySharedError:
            raise self.dropped(
                "two arrays share a part of their memory, which belongs to neither of them alone",
                "their bases do not say how they overlap",
                "make one array of all the memory, and take views of that array",
            ) from None
        if found is not None:
            self.elsewhere[id(a)] = ref(a), found
        return found

    def seen(self) -> list[ndarray]:
        """Return all arrays that code of the program has met: no tangents.

        Nor originals of arguments: to look one up means that the program does.
        """
        hidden = self.memory_of_tangents() | {
            id(node.block()) for node in self.nodes() if type(node) is Original
        }
        return [a for a in self.alive() if id(owner_of(a)) not in hidden]

    def memory_of_tangents(self) -> set[int]:
        """Return the ids of the arrays that own the tangents of forward modes upon this one."""
        nodes = [node for nodes in self.tangents for node in nodes.values()]
        return {id(owner_of(node.tangent)) for node in nodes if type(node) is not Original}

    def alive(self) -> list[ndarray]:
        """Return all arrays that the call has met and that still exist."""
        blocks = [n.block() if type(n) is Original else n.ref() for n in self.nodes()]
        return [block for block in blocks if block is not None]

    def nodes(self) -> list[Any]:
        """Return the nodes of arrays, including those of forward modes on top of this one."""
        return [n for t in (self.known, self.constants, *self.tangents) for n in t.values()]

    def refuse_unowned(self, owner: ndarray) -> None:
        """Raise if an array that is about to be active lies in memory of an unknown owner.

        One that stands for a buffer is kept from then on.
        """
        if self.is_unowned(owner):
            raise self.dropped(
                "an active value is written to an array in memory whose owner is not known",
                "it was made by the DLPack protocol, which does not say who else sees the write",
                "write to the array that owns the memory, or to a copy",
            )
        if owner.base is not None and issubclass(type(elsewhere.buffer_of(owner)), GROWING):
            self.in_buffers.append(owner)
        found = None if owner.base is None else mapped(owner)
        if found is not None and found.twice:
            raise self.dropped(
                "an active value is written to memory that is mapped twice",
                "reads through the other map of the file or of the shared memory are not recorded",
                "write to an array in memory of its own, or map the file once",
            )
        if found is not None and found.path is not None:
            self.files.append(found.path)

    def dropped(self, what: str, why: str, fix: str) -> BaseException:
        """Return an error in the call, at the line that is being run."""
        where = current_place()[0]
        return self.report(DerivativeDropError(what, where=where, why=why, fix=fix))

    def memory_of(self, a: ndarray) -> Memory:
        """Return the block of any array, registering it as constant and visible if unknown."""
        node = self.known.get(id(a))
        if node is not None and node.ref() is a:
            return node.memory
        owner = a if a.base is None else self.owner(a)
        node = self.block_of(a, owner)
        return self.constant(owner) if node is None else node.memory

    def constant(self, owner: ndarray) -> Memory:
        """Return a block that is not active, registering it as visible if unknown."""
        memory = self.constants.get(id(owner))
        if memory is None or memory.ref() is not owner:
            memory = self.constants[id(owner)] = Memory.met(owner)
        return memory

    def note_new(self, owner: ndarray) -> None:
        """Note that nobody else has seen an array yet: writes need no log."""
        known = self.constants.get(id(owner))
        if known is None or known.ref() is not owner:
            self.constants[id(owner)] = Memory.of(owner)

    def protect(self, a: ndarray) -> None:
        """Note that the tape refers to the present contents of an array, active or not."""
        owner = a if a.base is None else self.owner(a)
        node = self.block_of(a, owner) or self.constants.get(id(owner))
        if node is not None and node.ref() is owner:  # else it is of an array that is gone
            node.protect()
        else:
            self.constants[id(owner)] = Memory.met(owner)

    def protect_all(self) -> set[Memory]:
        """Protect every block that is known and alive, and return these; forget the others.

        Something is about to be noted that runs code again on the way back, or has been.
        """
        self.again += 1
        found: set[Memory] = set()
        for nodes in (self.known, self.constants):
            for key, node in list(nodes.items()):
                if type(node) is Original:
                    continue
                if node.ref() is None:
                    nodes.pop(key, None)
                else:
                    found.add(node.memory)
        for memory in found:
            memory.protected = True
        return found

    def activate(self, a: ndarray) -> Memory | View:
        """Make the memory of an array active and return the array's node, with its layout."""
        owner = a if a.base is None else self.owner(a)
        block = self.block_of(a, owner)
        if block is None:
            self.refuse_unowned(owner)
            block = self.constant(owner)
            self.constants.pop(id(owner), None)
            self.known[id(owner)] = block
        memory = block.memory
        if memory.shape is None:
            memory.describe(owner)
        if owner is a:
            return block
        node = self.find(a)
        assert node is not None
        return node

    def view(self, a: ndarray, owner: ndarray, memory: Memory) -> View:
        """Register an array that shares an active block, by byte offset and strides."""
        if memory.shape is None:
            memory.describe(owner)
        if a.dtype is not owner.dtype:
            refuse_other_bytes(self.report, a.dtype, owner.dtype)
        offset, overlaps = 0, False
        # The whole block in another shape or order is met most: its place needs no look-up.
        if a.nbytes != owner.nbytes or not a.flags.num & CONTIGUOUS:
            offset = address(a) - address(owner) if a.size else 0
            overlaps = has_overlaps(a)
        geometry = a.shape, a.dtype, offset, a.strides
        if owner.dtype.kind not in "fcV":
            memory.floats.add(geometry)
        node = View(ref(a), memory, geometry, overlaps)
        self.known[id(a)] = node
        return node

    def change_shape(self, a: ndarray, shape: Any) -> None:
        """Run ``a.shape = shape``; the shadow keeps the layout that it had, and `a` is its view."""
        if self.find(a) is not None:
            self.activate(a)
        set_shape(a, shape)
        node = self.known.get(id(a))
        if node is None or node.ref() is not a:
            return
        memory = node.memory
        memory.note_shape()
        if a.base is None and (a.shape, a.strides) == (memory.shape, memory.strides):
            self.known[id(a)] = memory
        else:
            self.view(a, self.owner(a), memory)
