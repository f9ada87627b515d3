"""Shadow memory by address: what the engine knows of each block of array memory.

Arrays flow through differentiated code as they are.  Whether one is active, and where its
cotangent lives, is looked up by the array that owns the memory.  Cotangents are deferred: a
block has no shadow until something is added to it on the reverse pass, and the first temporary
that is added becomes the shadow.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.places import current_place
from mooncake_py.errors import DerivativeDropError
from mooncake_py.runtime.dense import dense, zeros
from mooncake_py.runtime.drops import Reporter, refuse_other_bytes
from mooncake_py.runtime.originals import LookUp, Original
from mooncake_py.tangents.memory import has_overlaps
from mooncake_py.tangents.memory import owner as owner_of

__all__ = ["IndexView", "Memory", "Registry", "View", "undo_assign"]

Place = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""Address, shape, strides and bytes of an element."""


class Memory:
    """One block of memory, known by the array that owns it.

    Attributes
    ----------
    ref : weakref to ndarray
        The owner; also guards against the reuse of its id.
    grad : ndarray or None
        The cotangent of the block, laid out like the owner; None while it is zero.
    protected : bool or set
        Whether a write must be logged: the caller can see the block, or the tape refers to its
        present contents.  A set holds the parts that were logged since the tape last referred to
        them, and that need not be logged again.
    logged : int
        Bytes logged since the last full copy; set when something is logged, and where the block
        was met as a constant.
    pinned : bool
        Whether a hand-written rule holds the shadow, which must then stay the same array.
    rewritten : bool
        Whether as much as the whole block was overwritten and logged.
    shape, dtype, strides, nbytes
        Of the owner; filled in when something may need them after the owner is gone.
    """

    __slots__ = (
        "dtype", "grad", "logged", "nbytes", "pinned", "protected", "ref", "rewritten", "shape",
        "strides",
    )  # fmt: skip
    overlaps = False

    grad: ndarray | None
    protected: bool | set[Place]
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

    def protect(self) -> None:
        """Note that the tape refers to the present contents: later writes must be logged."""
        self.protected = True

    def keep(self, a: ndarray) -> ndarray:
        """Return what the tape may keep of the contents of `a`: the array itself, protected."""
        self.protected = True
        return a

    def was_logged(self, part: ndarray) -> bool:
        """Tell whether a part was logged since the tape last referred to the block."""
        return type(self.protected) is set and place_of(part) in self.protected

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

    def keep_part(self, a: ndarray) -> ndarray:
        """Return what the tape may keep of a view of this block, whose layout is known.

        Protection is a matter of whole blocks: with a column of a matrix kept by reference,
        every later write to the matrix is logged.  Where a block is written again and again, a
        copy of the small part costs less.  Measured on LU at 200x200: 3 times the primal with
        copies, 9 with references.
        """
        if self.rewritten and a.nbytes * 8 <= self.nbytes:
            return a.copy()
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
        """Add a temporary that nobody else holds; the first one becomes the shadow."""
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


class View:
    """An array that shares the memory of an active block, known by byte offset and strides.

    Its shadow is the same view of the block's shadow.

    Attributes
    ----------
    geometry : tuple
        Shape, dtype, byte offset in the block, strides.
    overlaps : bool
        Whether two elements may be the same memory (broadcast arrays, sliding windows).
    """

    __slots__ = ("geometry", "memory", "overlaps", "ref")

    def __init__(
        self, reference: ref[ndarray], memory: Memory, geometry: tuple[Any, ...], overlaps: bool
    ) -> None:
        self.ref = reference
        self.memory = memory
        self.geometry = geometry
        self.overlaps = overlaps

    @property
    def grad(self) -> ndarray | None:
        """The part of the block's cotangent that belongs to this array, or None while zero."""
        return None if self.memory.grad is None else self.shadow()

    def protect(self) -> None:
        """Note that the tape refers to the present contents."""
        self.memory.protected = True

    def keep(self, a: ndarray) -> ndarray:
        """Return what the tape may keep of the contents of `a`: the array itself, or a copy."""
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
        """Dtype of the array; float where it is the real part of a complex block."""
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
            flat = dense(self.memory.like_owner()).reshape(-1)
            np.add.at(flat.view(self.dtype()), self.positions(), g)
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


class Registry:
    """The blocks and views known to one differentiated call, by the id of the array.

    Parameters
    ----------
    report : callable
        Notes an error in the call, from :func:`drops.reporter`.

    Attributes
    ----------
    known : dict of int to Memory or View
        Nodes of active arrays.
    constants : dict of int to Memory
        Blocks without a derivative of which something must be remembered.
    """

    def __init__(self, report: Reporter) -> None:
        self.report = report
        self.known: dict[int, Memory | View] = {}
        self.constants: dict[int, Memory] = {}
        self.foreign: dict[int, tuple[Any, ndarray]] = {}
        self.look_up = LookUp()

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
            writeable = y.flags.writeable
            y = y.copy()
            y.flags.writeable = writeable
        return y

    def find(self, a: ndarray) -> Memory | View | None:
        """Return the node of an active array, or None if it is constant."""
        node = self.known.get(id(a))
        if node is not None and node.ref() is a:
            return node
        if a.base is None:
            return None
        owner = self.owner(a)
        block = self.block_of(a, owner)
        return None if block is None else self.view(a, owner, block.memory)

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
        return owner if owner.base is None else self.owner_ofdense(owner)

    def owner_ofdense(self, a: ndarray) -> ndarray:
        """Return the array that stands for memory that no array owns (``np.frombuffer``).

        One array may stand for a buffer; what another one shares with it cannot be told.
        """
        buffer: Any = a.base
        while isinstance(buffer, memoryview) and buffer.obj is not None:
            buffer = buffer.obj
        known = self.foreign.setdefault(id(buffer), (buffer, a))[1]
        if known is not a and np.may_share_memory(known, a):
            raise self.report(
                DerivativeDropError(
                    "two arrays are different views of one buffer that no array owns",
                    where=current_place()[0],
                    why="they were made from a buffer object, and how they overlap is not recorded",
                    fix="make one array from the buffer, and take views of that array",
                )
            )
        return a

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

    def protect(self, a: ndarray) -> None:
        """Note that the tape refers to the present contents of an array, active or not."""
        owner = a if a.base is None else self.owner(a)
        node = self.block_of(a, owner) or self.constants.get(id(owner))
        if node is not None and node.ref() is owner:  # else it is of an array that is gone
            node.protect()
        else:
            self.constants[id(owner)] = Memory.met(owner)

    def protect_all(self) -> set[Memory]:
        """Protect every block that is known and alive, and return these; forget the others."""
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
            block = self.constant(owner)
            self.constants.pop(id(owner), None)
            self.known[id(owner)] = block
        memory = block.memory
        if memory.shape is None:
            memory.describe(owner)
        node = self.find(a)
        assert node is not None
        return node

    def view(self, a: ndarray, owner: ndarray, memory: Memory) -> View:
        """Register an array that shares an active block, by byte offset and strides."""
        if memory.shape is None:
            memory.describe(owner)
        if a.dtype is not owner.dtype:
            refuse_other_bytes(self.report, a.dtype, owner.dtype)
        offset = _address(a) - _address(owner) if a.size else 0
        strides = a.strides
        node = View(
            ref(a),
            memory,
            (a.shape, a.dtype, offset, strides),
            has_overlaps(a),
        )
        self.known[id(a)] = node
        return node

    def change_shape(self, a: ndarray, shape: Any) -> None:
        """Run ``a.shape = shape``; the shadow keeps the layout that it had, and `a` is its view."""
        if self.find(a) is not None:
            self.activate(a)
        a.shape = shape
        node = self.known.get(id(a))
        if node is None or node.ref() is not a:
            return
        memory = node.memory
        if a.base is None and (a.shape, a.strides) == (memory.shape, memory.strides):
            self.known[id(a)] = memory
        else:
            self.view(a, self.owner(a), memory)


def undo_assign(entry: tuple[Any, ...]) -> None:
    """Reverse of a write: put the old contents back.

    Where later writes to what is restored were not logged, they must be from then on, as they were
    before: it may be that a part of the program is run again.
    """
    target, index, old = entry[1:4]
    if len(entry) == 5:
        entry[4].protected = True
    if target.flags.writeable:
        target[index] = old
    else:  # made read-only by the code itself, after the write or before one that failed
        target.flags.writeable = True
        target[index] = old
        target.flags.writeable = False


def place_of(a: ndarray) -> Place:
    """Return where the elements of an array are in memory."""
    return _address(a), a.shape, a.strides, a.itemsize


def _address(a: ndarray) -> int:
    return a.__array_interface__["data"][0]
