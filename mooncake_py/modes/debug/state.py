"""All state that a function can reach: what callbacks of a solver may change.

It is read before the solver runs, compared afterwards, and put back.  Inside a derivative each
change that is made here is recorded, so that it is undone like those of the user's code.
"""

from __future__ import annotations

import io
import operator
import random
from array import array
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers import containers, dicts, state
from mooncake_py.containers.undo import note
from mooncake_py.diagnostics.places import is_library
from mooncake_py.language.caches import LRU_WRAPPER
from mooncake_py.modes.debug.reach import names_read
from mooncake_py.modes.debug.snapshot import Snapshot, first_difference
from mooncake_py.modules import module_of
from mooncake_py.overriding import override
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import is_iterator, unwrapped
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.tangents.fields import instance_dict, own_attributes, set_own_attributes, slots
from mooncake_py.tangents.memory import owner
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Attributes", "Bared", "Contents", "Elements", "Place", "State"]

STREAMS = (
    io.IOBase, np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random,
)  # fmt: skip
"""What moves on as it is used, and cannot be put back from outside; so do iterators."""


KEEPING = frozenset({"queue", "threading", "unittest.mock"})
"""Modules in Python of objects that programs keep data in, whose methods run natively."""
SOLVERS = "mooncake_py.solvers"


class Place:
    """Something that holds values, and how these are read and set.

    Parameters
    ----------
    path : str
        What messages call it.
    holder : object
        An array, a container, an object, a class, or a captured variable.
    """

    def __init__(self, path: str, holder: Any) -> None:
        self.path = path
        self.holder = holder

    def read(self) -> Any:
        """Return a copy of what the place holds."""
        raise NotImplementedError

    def write(self, contents: Any) -> None:
        """Set what was read."""
        raise NotImplementedError

    def record(self, ctx: Mode) -> None:
        """Record how to undo a change that is about to be made."""
        raise NotImplementedError

    def is_same(self, a: Any, b: Any) -> bool:
        """Return whether two readings hold the same objects."""
        return a is b

    def read_within(self, ctx: Mode) -> Any:
        """Return a copy with its derivatives."""
        return self.read()

    def put(self, ctx: Mode, contents: Any) -> None:
        """Set what was read, as a change of the derivative's own."""
        if not self.is_same(self.read(), contents):
            self.record(ctx)
            self.write(contents)


class Variable(Place):
    """A variable that functions have captured."""

    @override
    def read(self) -> Any:
        return state.old_cell(self.holder)

    @override
    def write(self, contents: Any) -> None:
        state.restore_cell(self.holder, contents)

    @override
    def record(self, ctx: Mode) -> None:
        ctx.note_cell(self.holder)
        note(ctx, state.restore_cell, self.holder, self.read())


class Global(Place):
    """A global variable that a function may bind, or an attribute of a module."""

    def __init__(self, path: str, holder: dict[str, Any], name: str) -> None:
        super().__init__(path, holder)
        self.name = name

    @override
    def read(self) -> Any:
        return dicts.value_at(self.holder, self.name)

    @override
    def write(self, contents: Any) -> None:
        dicts.restore_key(self.holder, self.name, contents)

    @override
    def record(self, ctx: Mode) -> None:
        ctx.rebound[id(self.holder), self.name] = self.holder
        note(ctx, dicts.restore_key, self.holder, self.name, self.read())


class Elements(Place):
    """The elements of an array, of all of its memory."""

    @override
    def read(self) -> Any:
        return plain(self.holder).copy()

    @override
    def write(self, contents: Any) -> None:
        plain(self.holder)[...] = contents

    @override
    def record(self, ctx: Mode) -> None:
        pass  # the assignment does

    @override
    def is_same(self, a: Any, b: Any) -> bool:
        if a.dtype == object:
            return len(a) == len(b) and all(map(operator.is_, a.ravel(), b.ravel()))
        return first_difference(a, b) is None

    @override
    def read_within(self, ctx: Mode) -> Any:
        a = self.holder
        if type(a) is ndarray and ctx.find(a) is not None:
            return ctx.method(a, "copy")
        return self.read()

    @override
    def put(self, ctx: Mode, contents: Any) -> None:
        a = self.holder
        if ctx.find(a) is None and ctx.find(contents) is None and self.is_same(plain(a), contents):
            return
        ctx.assign(a, Ellipsis, contents)


class Contents(Place):
    """The contents of a list, a dict, a set or the like."""

    def __init__(self, path: str, holder: Any) -> None:
        super().__init__(path, holder)
        self.module = containers.module_of(holder)

    @override
    def read(self) -> Any:
        return self.module.contents(self.holder)

    @override
    def write(self, contents: Any) -> None:
        self.module.restore(self.holder, contents)

    @override
    def record(self, ctx: Mode) -> None:
        self.module.snapshot(ctx, self.holder)

    @override
    def is_same(self, a: Any, b: Any) -> bool:
        if len(a) != len(b) or not all(map(operator.is_, a, b)):
            return type(a) in (bytearray, array, bytes) and a == b
        return not isinstance(a, dict) or all(map(operator.is_, a.values(), b.values()))


class Attributes(Place):
    """The attributes of an object, in its dict and its slots."""

    @override
    def read(self) -> Any:
        return own_attributes(self.holder)

    @override
    def write(self, contents: Any) -> None:
        restore_attributes(self.holder, contents)

    @override
    def record(self, ctx: Mode) -> None:
        note(ctx, restore_attributes, self.holder, self.read())

    @override
    def is_same(self, a: Any, b: Any) -> bool:
        return len(a) == len(b) and all(
            x is y and v is w for (x, v), (y, w) in zip(a.items(), b.items(), strict=True)
        )


class ClassAttributes(Attributes):
    """The attributes of a class of the user's."""

    @override
    def read(self) -> Any:
        return {name: v for name, v in vars(self.holder).items() if not name.startswith("__")}

    @override
    def write(self, contents: Any) -> None:
        now = self.read()
        for name in {**now, **contents}:
            if now.get(name, MISSING) is not contents.get(name, MISSING):
                state.restore_attribute(self.holder, name, contents.get(name, MISSING))

    @override
    def record(self, ctx: Mode) -> None:
        state.CHANGERS_OF_CLASSES.add(ctx)
        note(ctx, restore_class, self.holder, self.read())

    @override
    def put(self, ctx: Mode, contents: Any) -> None:
        super().put(ctx, contents)
        ctx.forget_lookups()


def may_have_attributes(value: Any) -> bool:
    """Return whether a value has a dict of its own, or slots."""
    return instance_dict(value) is not None or bool(slots(type(value)))


def restore_attributes(o: Any, contents: dict[Any, Any]) -> None:
    """Set the attributes of an object, and remove those that it did not have."""
    held = instance_dict(o)
    for name in own_attributes(o):
        if name not in contents:
            if isinstance(name, str):
                del held[name]
            else:
                name.__delete__(o)
    if held is not None and list(held) != [name for name in contents if isinstance(name, str)]:
        held.clear()
    set_own_attributes(o, contents)


def restore_class(cls: type, contents: dict[str, Any]) -> None:
    """Set the attributes of a class."""
    ClassAttributes("", cls).write(contents)


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


class Reachable(Snapshot):
    """Everything that can be reached from some values; nothing is read."""

    def __init__(self, ctx: Mode, values: Any) -> None:
        self.ctx = ctx
        self.places: list[Place] = []
        self.is_active = False  # whether anything that was met is
        self.streams: list[Any] = []  # what cannot be put back from outside
        self.cells: set[int] = set()
        super().__init__(None, values, {})

    @override
    def may_change(self, value: Any) -> bool:
        return False

    @override
    def keep(self, path: str, value: Any) -> None:
        t = type(value)
        if t is Active:
            self.is_active = True
        elif id(value) in self.known:
            return
        elif isinstance(value, (bytearray, array)):
            self.known[id(value)] = value
            self.places.append(Contents(path, value))
        elif t is LRU_WRAPPER or is_iterator(t) or isinstance(value, STREAMS):
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
            if owner(value) is value and value.flags.writeable:
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
