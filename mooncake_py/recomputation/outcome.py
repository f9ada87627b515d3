"""The outcome of a part of a program: its nodes, and the numbers that distinguish two runs.

The two runs of a part make different nodes for the same values.  The result of the first run, and
the places that it changed, hold its nodes; in a walk through both runs in the same order, the k-th
node of the first run matches the k-th of the second.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.application.walker import replace_parts
from mooncake_py.boundary.outgoing import unfinished
from mooncake_py.containers import containers
from mooncake_py.containers.state import restore_attribute
from mooncake_py.diagnostics.reporting import Reporting, dropped
from mooncake_py.errors import DerivativeDropError
from mooncake_py.language.weak_references import is_gone
from mooncake_py.modules import draws_numbers, module_of
from mooncake_py.recomputation.places import Place
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import CLOSED, INERT, contains_active, is_iterator, parts
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.classes import is_lasting
from mooncake_py.runtime.memory import Memory, undo_assign
from mooncake_py.runtime.views import View
from mooncake_py.tangents import subclasses as arrays
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.fields import own_attributes
from mooncake_py.tangents.memory import fields_of, objects_in
from mooncake_py.tangents.memory import owner as owner_of
from mooncake_py.words import with_article

if TYPE_CHECKING:
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Outcome", "same_state", "state_at"]

CONSTANTS = frozenset({int, bool, str, bytes, type(None)})
NUMBERS = frozenset({float, complex, np.float64, np.float32, np.complex128})
WHOLE = (None, replace_parts, undo_assign)
COLUMNS = 61
OWN_BYTES = 800  # of an outcome
TOKEN_BYTES = 100  # of a token and its node
OF_THE_CLOCK = frozenset({"asctime", "created", "msecs", "relativeCreated"})
"""Attributes of records of `logging` that say when they were made."""
PART = "a part that is checkpointed"  # and so is run again


class Outcome:
    """The nodes of numbers and arrays reachable from some values, in the order of the walk.

    Two runs are equal if the tokens are, which tell what else is met.  `refusal` makes the error
    for what cannot be matched, None if nothing was met.
    """

    def __init__(
        self,
        ctx: ReverseMode,
        roots: Sequence[Any],
        unchanged: dict[int, Any],
        known: frozenset[int] = frozenset(),
        holders: Sequence[Any] = (),
    ) -> None:
        self.ctx = ctx
        self.holders = holders  # of objects, for the second run
        self.unchanged = unchanged  # owners of arrays that are the same in both runs, by id
        self.nodes: list[Active | Memory | View | None] = []
        self.tokens: list[Any] = []
        self.known = known  # the ids of what was visited before, and is left out
        self.refusal: Callable[[], DerivativeDropError] | None = None
        self.seen: set[int] = set()
        self.todo: list[Any] = list(reversed(roots))
        while self.todo:
            self.visit(self.todo.pop())

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes."""
        return OWN_BYTES + TOKEN_BYTES * len(self.tokens)

    def require_matching(self) -> None:
        """Raise if something was met that cannot be matched with that of another run."""
        if self.refusal is not None:
            raise self.refusal()

    def equals(self, other: Outcome) -> bool:
        """Return whether a later run has brought forth the same.

        More may be active in it: of a loop that is one entry, all that may depend on something is.
        """
        return (
            self.tokens == other.tokens
            and len(self.nodes) == len(other.nodes)
            and not any(
                type(old) is Active and new is None
                for old, new in zip(self.nodes, other.nodes, strict=True)
            )
        )

    def is_spent(self, met: set[int]) -> bool:
        """Return whether no node has a cotangent left, except those seen elsewhere, by id."""
        return not any(
            node is not None and id(node) not in met and np.any(node.grad) for node in self.nodes
        )

    def hand_over(self, other: Outcome) -> None:
        """Move the cotangents of the nodes to those of another run."""
        for old, new in zip(self.nodes, other.nodes, strict=True):
            if old is new or old is None or new is None:
                continue
            g = old.take()
            if g is not None:
                if type(old) is Active:
                    old.grad = 0.0
                new.add(g)

    def visit(self, value: Any) -> None:
        """Note a value, and append its parts to the values to visit."""
        t = type(value)
        if t is Active:
            self.nodes.append(value)
            self.tokens.append((type(value.primal), plain(value.primal)))
        elif t in CONSTANTS:
            self.tokens.append((t, value))
        elif t in NUMBERS:
            self.nodes.append(None)
            self.tokens.append((t, plain(value)))
        elif t in CLOSED:
            self.tokens.append(t)
        elif value is MISSING:
            self.tokens.append(MISSING)
        elif id(value) not in self.seen and id(value) not in self.known:
            self.seen.add(id(value))
            if issubclass(type(value), ndarray):
                self.visit_array(value)
            else:
                self.visit_parts(value)

    def visit_array(self, a: ndarray) -> None:
        """Note an array; unwritten elements are the same in both runs."""
        owner = owner_of(a)
        same = self.unchanged.get(id(owner))
        if same is not None and same() is owner:  # ids are reused
            self.tokens.append(id(owner))
            return
        if arrays.is_instance(a):
            self.todo.append(own_attributes(a))
        node = self.ctx.find(a) if a.dtype.kind in "fc" else None
        self.nodes.append(None if node is None else node.memory)
        self.nodes += [self.ctx.find(field) for field in fields_of(arrays.plain(a)).values()]
        self.tokens.append((a.shape, a.dtype, checksum(a)))
        for place in objects_in(arrays.plain(a)):
            self.todo.extend(reversed(place.ravel().tolist()))

    def visit_parts(self, value: Any) -> None:
        """Note a container, an object or a function."""
        t = type(value)
        if self.is_gone(value):  # a collection has dropped it if its object was deleted
            self.tokens.append(MISSING)
            return
        if (t is GeneratorType or is_iterator(t)) and contains_active(self.ctx, value, set()):
            why = "how far it has run cannot be restored"
            self.refusal = partial(unfinished, self.ctx, value, PART, why)
            return
        held = list(self.parts_of(value))
        if t in (set, frozenset) and not all(type(v) in INERT or type(v) is Active for v in held):
            # Their order is that of addresses, another one in each run.
            if contains_active(self.ctx, held, set()):
                self.refusal = partial(unordered, self.ctx, value)
            held = []
        if t is set and not held:
            t = list  # as the contents of an empty one are read
        self.tokens.append((t if is_lasting(t) else t.__qualname__, len(held)))
        self.todo.extend(reversed(held))

    def parts_of(self, value: Any) -> Iterable[Any]:
        """Return the parts of a value; in weak collections, those of what still lives."""
        t = type(value)
        if t is dict and any(
            issubclass(type(part), ref) for item in value.items() for part in item
        ):
            value = {k: v for k, v in value.items() if not (self.is_gone(k) or self.is_gone(v))}
        elif t is set:
            return [part for part in parts(value) if not self.is_gone(part)]
        elif t.__name__ == "LogRecord" and module_of(t) == "logging":
            held = own_attributes(value)
            return [part for name, part in held.items() if name not in OF_THE_CLOCK]
        return parts(value)

    def is_gone(self, value: Any) -> bool:
        """Return whether a value is a weak reference to what only records hold."""
        return issubclass(type(value), ref) and is_gone(self.ctx, value, self.holders)


def state_at(place: Place) -> Any:
    """Return the state of a place, to see if it changes: its objects, or a checksum of an array."""
    contents = place.o if place.inverse is undo_assign else place.read()
    if place.inverse is restore_attribute and draws_numbers(type(place.o)):
        return type(contents), pickle.dumps(contents)  # its state, which it makes at each reading
    if place.inverse not in WHOLE:  # what an attribute or a variable holds has its own places
        return type(contents), [contents]
    is_array = issubclass(type(contents), ndarray)
    if is_array and contents.dtype.kind != "O":
        return checksum(contents)
    has_parts = is_array or containers.module_of(contents) is not None
    held = parts(contents) if has_parts else [contents]
    return type(contents), list(held)


def same_state(a: Any, b: Any) -> bool:
    """Return whether two states of a place are equal."""
    if type(a[1]) is not list:
        return a == b
    return a[0] is b[0] and len(a[1]) == len(b[1]) and all(map(operator.is_, a[1], b[1]))


def plain(number: Any) -> Any:
    """Return a number for comparison, in which nan equals nan."""
    return number if number == number else "nan"


def checksum(a: ndarray) -> Any:
    """Return a checksum that hardly any other array of this shape has: sums of columns of its bits.

    One pass over the memory; a change of the order changes it as well.
    """
    if a.dtype.names is not None:  # what is between the fields may be anything
        return tuple([checksum(arrays.plain(a)[name]) for name in a.dtype.names]), b""
    if a.dtype.kind in "OV":  # bytes that copies do not keep
        return None, b""
    a = arrays.plain(a)
    if a.dtype.char in "gG":
        return hash(bits_of(a)), b""
    if not a.flags.c_contiguous:
        a = a.T if a.T.flags.c_contiguous else np.ascontiguousarray(a)
    size = next(n for n in (8, 4, 2, 1) if a.dtype.itemsize % n == 0)
    bits = a.reshape(-1).view(f"u{size}")
    rows = bits.size // COLUMNS
    sums = bits[: rows * COLUMNS].reshape(rows, COLUMNS).sum(axis=0, dtype=np.uint64)
    return sums.tobytes(), bits[rows * COLUMNS :].tobytes()


def unordered(ctx: Reporting, value: Any) -> DerivativeDropError:
    """Return the error for a set of objects with active parts that leaves a checkpoint."""
    return dropped(
        ctx,
        f"{with_article(type(value).__name__)} of active objects leaves {PART}",
        why="its order changes in the second run, so the objects of the two runs\n"
        "cannot be matched",
        fix="keep the objects in a list or a dict",
    )
