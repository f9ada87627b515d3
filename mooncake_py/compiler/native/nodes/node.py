"""Calls of functions of Python as statements on arrays: see `Node`.

    w, v = np.linalg.eigh(a)        h = node(a)             h[0] is the ticket, then lengths
                                    w = take 0 of h
                                    v = take 1 of h

    on the way back                 give v of h, give w of h
                                    g = gradient 0 of h     for d_a += g

Each of these is what an `Apply` calls: it writes its first argument, an array, and returns whether
all went well; else the region is left, and the plain call raises what the function raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from time import perf_counter as clock
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.nodes import ledger
from mooncake_py.compiler.native.nodes.derivatives import Function
from mooncake_py.compiler.native.nodes.ledger import Entry
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT
from mooncake_py.compiler.sites.pace import met
from mooncake_py.overriding import override

__all__ = [
    "COMPLEX",
    "DTYPES",
    "NUMBERS",
    "Give",
    "Gradient",
    "Leaf",
    "Node",
    "Outside",
    "Recording",
    "Take",
    "require_apart",
]

COMPLEX = "complex128"
DTYPES = {
    FLOAT: np.dtype(np.float64), INT: np.dtype(np.int64), BOOL: np.dtype(np.bool_),
    COMPLEX: np.dtype(np.complex128),
}  # fmt: skip
NUMBERS = {
    "float": float, "float64": np.float64, "int": int, "int64": np.int64, "bool": bool,
    "bool_": np.bool_,
}  # fmt: skip
OF_NUMBERS = {
    "float": FLOAT, "float64": FLOAT, "int": INT, "int64": INT, "bool": BOOL, "bool_": BOOL,
}  # fmt: skip


class Leaf(NamedTuple):
    """A number or an array that a function takes or returns.

    Attributes
    ----------
    type : str
        Of a number its type; of an array the kind of its elements, or complex128.
    axes : int or None
        The number of axes; None for a number.
    """

    type: str
    axes: int | None

    @property
    def kind(self) -> str:
        """The kind of the array in the region: numbers have one of length one."""
        if self.axes is None:
            return OF_NUMBERS[self.type]
        return FLOAT if self.type == COMPLEX else self.type

    @property
    def memory_axes(self) -> int:
        """The number of axes of that array."""
        return 1 if self.axes is None else self.axes + (self.type == COMPLEX)

    @property
    def is_real(self) -> bool:
        """Whether it may have a derivative."""
        return self.kind == FLOAT

    def value(self, a: ndarray) -> Any:
        """Return the argument that an array of the region stands for: a copy, not to be written."""
        if self.axes is None:
            return NUMBERS[self.type](a[0])
        found = (a.view(np.complex128)[..., 0] if self.type == COMPLEX else a).copy()
        found.flags.writeable = False  # the region would not see it
        return found

    def checked(self, value: Any) -> Any:
        """Return a result; raise if it is of another type than expected."""
        if self.axes is None:
            if type(value) is not NUMBERS[self.type]:
                raise TypeError(f"{type(value)} in place of {self.type}")
            return value
        if type(value) is not ndarray or value.dtype != DTYPES[self.type]:
            raise TypeError(f"{type(value)} in place of an array of {self.type}")
        if value.ndim != self.axes:
            raise TypeError(f"{value.ndim} axes in place of {self.axes}")
        return value

    def store(self, target: ndarray, value: Any) -> None:
        """Write a number or an array of its form to the array in the region."""
        if self.axes is None:
            target[0] = value
            return
        own = target.view(np.complex128)[..., 0] if self.type == COMPLEX else target
        if own.shape != np.shape(value):
            raise ValueError("an array of another shape")
        own[...] = value

    def size(self, value: Any) -> int:
        """Return how many bytes a value of it takes."""
        return value.nbytes if type(value) is ndarray else 8


def require_apart(results: Sequence[Any], values: Sequence[Any]) -> None:
    """Raise for results that share memory with arguments or with one another.

    A region has each as an array of its own, and may write them.
    """
    own = [y for y in results if type(y) is ndarray]
    others = [v for v in values if type(v) is ndarray]
    for k, y in enumerate(own):
        if any(np.may_share_memory(y, other) for other in (*others, *own[:k])):
            raise ValueError("a result that shares memory with an argument or another result")


class Outside:
    """What compiled text calls in Python.

    Attributes
    ----------
    calls : dict
        Functions of C that stand for it.
    """

    def __init__(self) -> None:
        self.calls: dict[Any, Any] = {}

    def run(self, target: ndarray, *operands: ndarray) -> None:
        """Write the target; raise where that cannot be."""
        raise NotImplementedError

    def __call__(self, target: ndarray, *operands: ndarray) -> bool:
        """Write the target; return whether all went well."""
        before, begin = met.outside, clock()
        try:
            self.run(target, *operands)
        except Exception:  # the plain call raises it
            return False
        finally:  # with what was outside meanwhile
            met.outside = before + clock() - begin
        return True


class Node(Outside):
    """A function of Python that a region calls.

    Attributes
    ----------
    function : Function
    takes, gives : tuple of Leaf
        Its arguments, and the items of the tuple that it returns.
    """

    def __init__(self, function: Function, takes: Sequence[Leaf], gives: Sequence[Leaf]) -> None:
        super().__init__()
        self.function = function
        self.takes = tuple(takes)
        self.gives = tuple(gives)
        self._along: dict[tuple[bool, ...], Node] = {}
        self._recording: dict[tuple[bool, ...], Recording] = {}
        self._taking: dict[int, Take] = {}

    @property
    def lengths(self) -> int:
        """How many lengths of results there are."""
        return sum([leaf.axes or 0 for leaf in self.gives])

    def values(self, operands: Sequence[ndarray]) -> list[Any]:
        """Return the arguments, in memory of their own."""
        return [leaf.value(a) for leaf, a in zip(self.takes, operands, strict=True)]

    def enter(self, header: ndarray, results: Sequence[Any], pullback: Any, held: int) -> None:
        """Leave the results, and write the ticket and their lengths."""
        pairs = zip(self.gives, results, strict=True)
        found = [leaf.checked(value) for leaf, value in pairs]
        held += sum([leaf.size(v) for leaf, v in zip(self.gives, found, strict=True)])
        lengths = [n for v in found if type(v) is ndarray for n in v.shape]
        header[1:] = lengths
        header[0] = ledger.entered(Entry(found, pullback, held))

    @override
    def run(self, target: ndarray, *operands: ndarray) -> None:
        values = self.values(operands)
        results = self.function.value(values)
        require_apart(results, values)
        self.enter(target, results, None, 0)

    def recording(self, active: tuple[bool, ...]) -> Recording:
        """Return the function that calls it, and keeps the pullback for some operands."""
        return self._recording.setdefault(active, Recording(self, active))

    def take(self, k: int) -> Take:
        """Return the function that copies a result into the region."""
        return self._taking.setdefault(k, Take(self, k))

    @cached_property
    def moving(self) -> list[int]:
        """The positions of the results that have tangents."""
        return [k for k, leaf in enumerate(self.gives) if leaf.is_real]

    def along(self, active: tuple[bool, ...]) -> Node:
        """Return its tangent: takes the operands, then the tangents of those that are active."""
        found = self._along.get(active)
        if found is None:
            more = [leaf for leaf, on in zip(self.takes, active, strict=True) if on]
            gives = [self.gives[k] for k in self.moving]
            function = self.function.along(active, self.moving)
            found = self._along.setdefault(active, Node(function, [*self.takes, *more], gives))
        return found


class Recording(Outside):
    """Calls a node, and keeps its pullback.

    Attributes
    ----------
    node : Node
    active : tuple of bool
        Which operands are.
    """

    def __init__(self, node: Node, active: tuple[bool, ...]) -> None:
        super().__init__()
        self.node = node
        self.active = active

    def recorded(self, operands: Sequence[ndarray]) -> tuple[Sequence[Any], ledger.Pullback, int]:
        """Return the results, the pullback, and about how many bytes that holds."""
        values = self.node.values(operands)
        results, pullback = self.node.function.with_pullback(values, self.active)
        require_apart(results, values)
        return results, pullback, sum([a.nbytes for a in operands])

    @override
    def run(self, target: ndarray, *operands: ndarray) -> None:
        self.node.enter(target, *self.recorded(operands))


class Take(Outside):
    """Copies a result of a node into the region."""

    def __init__(self, node: Node, position: int) -> None:
        super().__init__()
        self.node = node
        self.position = position

    @override
    def run(self, target: ndarray, *operands: ndarray) -> None:
        ticket = int(operands[0][0])
        entry = ledger.found(ticket)
        if entry is None:
            raise LookupError("a result that is there no more")
        node, k = self.node, self.position
        node.gives[k].store(target, entry.results[k])
        if k == len(node.gives) - 1:
            if entry.pullback is None:
                ledger.removed(ticket)
            entry.results = ()


class Give(Outside):
    """Brings the cotangent of a result on the way back; the target is not read."""

    def __init__(self, node: Node, position: int) -> None:
        super().__init__()
        self.node = node
        self.position = position

    @override
    def run(self, target: ndarray, *operands: ndarray) -> None:
        header, cotangent = operands
        target[0] = 0.0
        back = ledger.back(int(header[0]))
        back.gradients = None  # of a way back that was left
        value = self.node.gives[self.position].value(cotangent) if cotangent.any() else None
        back.cotangents[self.position] = value


class Gradient(Outside):
    """Writes the cotangent of an operand, of which the others are for later statements.

    Attributes
    ----------
    recording : Recording
    position : int
        Of the operand.
    is_last : bool
        Whether no other statement takes one.
    """

    def __init__(self, recording: Recording, position: int, *, is_last: bool) -> None:
        super().__init__()
        self.recording = recording
        self.position = position
        self.is_last = is_last

    @override
    def run(self, target: ndarray, *operands: ndarray) -> None:
        header, *rest = operands
        ticket = int(header[0])
        back = ledger.back(ticket)
        if back.gradients is None:
            back.gradients = self.gradients(ticket, back.cotangents, rest)
        found = back.gradients[self.position]
        if self.is_last:
            ledger.ended(ticket)
        if found is None:
            target[...] = 0.0
        else:
            self.recording.node.takes[self.position].store(target, found)

    def gradients(
        self, ticket: int, given: Mapping[int, Any], operands: Sequence[ndarray]
    ) -> Sequence[Any]:
        """Return the cotangents of all operands."""
        node = self.recording.node
        cotangents = [given.get(k) for k in range(len(node.gives))]
        if all(c is None for c in cotangents):
            return [None] * len(node.takes)
        entry = ledger.found(ticket)
        pullback = None if entry is None else entry.pullback
        if pullback is None:
            _, pullback, _ = self.recording.recorded(operands)
        return pullback(cotangents)
