"""All state that native code can change when it calls back: solvers, hooks, methods of objects.

It is read before the call, compared afterwards, and put back.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.containers import containers, state
from mooncake_py.containers.holders import (
    Attributes,
    ClassAttributes,
    Contents,
    Elements,
    Global,
    Place,
    Variable,
)
from mooncake_py.containers.reach import LRU_WRAPPER, Walk, names_read
from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import draws_numbers, module_of
from mooncake_py.overriding import override
from mooncake_py.remembered import remembered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, is_iterator, unwrapped
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.tangents.fields import instance_dict, own_attributes, slots
from mooncake_py.tangents.memory import is_writeable, owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Bared", "Reachable", "State"]

KEEPING = frozenset({"queue", "threading", "unittest.mock"})
"""Modules in Python of objects that programs keep data in, whose methods run natively."""
SOLVERS = "mooncake_py.solvers"


def is_stream(value: Any) -> bool:
    """Return whether a value moves on as it is used, and cannot be put back from outside."""
    return moves_on(type(value)) or isinstance(value, io.IOBase)


@remembered
def moves_on(t: type) -> bool:
    """Return whether the class of values says that they move on."""
    return t is LRU_WRAPPER or is_iterator(t) or draws_numbers(t)


def may_have_attributes(value: Any) -> bool:
    """Return whether a value has a dict of its own, or slots."""
    return instance_dict(value) is not None or bool(slots(type(value)))


class Bared:
    """A block in which attributes of classes and functions hold plain numbers for active ones.

    What is bound there meanwhile stays.
    """

    def __init__(self, kept: list[tuple[Place, Any]]) -> None:
        self.replaced: list[tuple[Place, Any, Any]] = []
        for place, held in kept:
            if isinstance(place.holder, (type, FunctionType)) and isinstance(place, Attributes):
                bare = {name: unwrapped(v) if type(v) is Active else v for name, v in held.items()}
                if not place.is_same(bare, held):
                    self.replaced.append((place, held, bare))

    def __enter__(self) -> None:
        for place, _, bare in self.replaced:
            place.write(bare)

    def __exit__(self, *exception: object) -> None:
        for place, held, bare in self.replaced:
            now = place.read()
            same = {name for name, v in bare.items() if now.get(name, MISSING) is v}
            place.write({name: held[name] if name in same else v for name, v in now.items()})


def is_between(f: FunctionType) -> bool:
    """Return whether a function stands between a solver and the user's function, which it calls."""
    is_own = module_of(f).startswith(SOLVERS)
    return is_own or (f.__closure__ is not None and is_library(f.__code__.co_filename))


def is_object_of_library(value: Any) -> bool:
    """Return whether a class of the standard library keeps a program's data in attributes."""
    return type(value).__module__ in KEEPING and instance_dict(value) is not None


class Reachable(Walk):
    """Everything that can be reached from some values; nothing is read."""

    def __init__(self, ctx: Mode, values: Any) -> None:
        self.ctx = ctx
        self.places: list[Place] = []
        self.is_active = False  # whether anything that was met is
        self.streams: list[Any] = []  # what cannot be put back from outside
        self.cells: set[int] = set()
        super().__init__()
        for i, value in enumerate(values):
            self.follow(f"argument {i}", value)

    @override
    def keep(self, path: str, value: Any) -> None:
        t = type(value)
        if t in INERT and t is not type:
            return
        if t is Active:
            self.is_active = True
        elif id(value) in self.known:
            return
        elif isinstance(value, (bytearray, array)):
            self.known[id(value)] = value
            self.places.append(Contents(path, value))
        elif is_stream(value):
            self.streams.append(value)
        elif t is FunctionType and is_between(value):
            self.known[id(value)] = value
            self.todo.extend((path, state.old_cell(cell)) for cell in value.__closure__ or ())
            return
        elif is_object_of_library(value):
            self.known[id(value)] = value
            self.places.append(Attributes(path, value))
            self.todo.extend((f"{path}.{k}", v) for k, v in own_attributes(value).items())
            return
        super().keep(path, value)
        if id(value) in self.known:
            self.places.extend(self.places_of(path, value))

    def places_of(self, path: str, value: Any) -> Iterator[Place]:
        """Yield the places of a value."""
        if isinstance(value, ndarray):
            if owner(value) is value and is_writeable(value):
                yield Elements(path, value)
            if not self.is_active and value.dtype.kind in "fcO":
                self.is_active = self.ctx.contains_active(value)
        elif isinstance(value, FunctionType):
            yield from self.places_of_function(value)
        elif isinstance(value, type):
            yield ClassAttributes(path, value)
        elif containers.module_of(value) is not None and not isinstance(value, (bytearray, array)):
            yield Contents(path, value)
        if not isinstance(value, type) and may_have_attributes(value):
            yield Attributes(path, value)

    def places_of_function(self, f: FunctionType) -> Iterator[Place]:
        """Yield the variables that a function, or one within it, may bind."""
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            if id(cell) not in self.cells:
                self.cells.add(id(cell))
                self.known[id(cell)] = cell
                yield Variable(f"captured variable {name!r}", cell)
        if is_library(f.__code__.co_filename):
            return
        names = names_read(f.__code__)
        for name in names:
            part = f.__globals__.get(name, MISSING)
            if isinstance(part, ModuleType):
                file = getattr(part, "__file__", None)
                if file is not None and not is_library(file):
                    for attribute in names:
                        yield Global(f"{name}.{attribute}", vars(part), attribute)
            yield Global(f"global {name!r}", f.__globals__, name)


class State:
    """What can be reached from some values, as it is now."""

    def __init__(self, ctx: Mode, values: Any) -> None:
        found = Reachable(ctx, values)
        self.is_active, self.streams, self.known = found.is_active, found.streams, found.known
        self.kept = [(place, place.read()) for place in found.places]
        self.active_arrays = [
            place
            for place in found.places
            if isinstance(place, Elements) and ctx.find(place.holder) is not None
        ]

    def changes(self) -> list[tuple[Place, Any]]:
        """Return the places that have changed since, each with its former contents."""
        return [(p, old) for p, old in self.kept if not p.is_same(p.read(), old)]

    def put_back(self) -> list[tuple[Place, Any]]:
        """Undo changes made outside of the derivative; return the places and what they held."""
        changes = [(place, place.read(), old) for place, old in self.changes()]
        for place, _, old in changes:
            place.write(old)
        return [(place, new) for place, new, _ in changes]
