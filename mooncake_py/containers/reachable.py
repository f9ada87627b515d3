"""All state that native code can change when it calls back: solvers, hooks, methods of objects.

It is read before the call, compared afterwards, and put back.
"""

from __future__ import annotations

import gc
import io
import itertools
import operator
import sys
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.containers import apart, containers, state
from mooncake_py.containers.beyond import (
    has_unknown_parts,
    is_users_module,
    leads_beyond,
    module_leads_beyond,
    names_in,
)
from mooncake_py.containers.decimals import is_of_contexts
from mooncake_py.containers.holders import (
    Attributes,
    ClassAttributes,
    Contents,
    Elements,
    Global,
    Place,
    Variable,
)
from mooncake_py.containers.reach import (
    CONTAINERS,
    HEAP_TYPE,
    HOLDERS,
    LRU_WRAPPER,
    Walk,
    names_read,
)
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import DRAWING, draws_numbers, is_of_solvers, module_of, package_of
from mooncake_py.overriding import override
from mooncake_py.remembered import remembered
from mooncake_py.rules.generator_states import shared_generators
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT, VIEWS, is_iterator, parts, unwrapped
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.tangents.contents import FACTORY
from mooncake_py.tangents.fields import instance_dict, own_attributes, slots
from mooncake_py.tangents.memory import is_writeable, owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["Reachable", "State"]

WITHOUT_DATA = frozenset({
    "_io", "importlib", "inspect", "linecache", "matplotlib", "pytest", "_pytest",
})  # fmt: skip
"""Modules that run natively whose objects are of the interpreter, or of what runs the program.

Streams of `_io` hold in their attributes only what silences them.
"""
REGISTRIES = frozenset({("logging", "Manager"), ("logging", "PlaceHolder")})
"""Classes of objects that lead to the loggers of all libraries."""
IN_PLACES = (list, dict)
HOLDERS_APART = (*HOLDERS, *CONTAINERS, tuple, set, frozenset, type, ndarray)
"""Objects that hold more than attributes."""
BY_NAME = frozenset({"getattr", "setattr", "delattr"})
"""With these, code may find other attributes of modules than those that it names."""


def may_have_attributes(value: Any) -> bool:
    """Return whether a value has a dict of its own, or slots."""
    return instance_dict(value) is not None or bool(slots(type(value)))


def is_between(f: FunctionType) -> bool:
    """Return whether a function stands between a solver and the user's function, which it calls."""
    return is_of_solvers(f) or (f.__closure__ is not None and is_library(f.__code__.co_filename))


def held_between(f: FunctionType) -> list[Any]:
    """Return the objects that such a function holds: SciPy's hold the user's in defaults too."""
    cells = [state.old_cell(cell) for cell in f.__closure__ or ()]
    return [*cells, *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]


class Kind(NamedTuple):
    """The properties of a value that its class determines."""

    moves: bool  # it moves on as it is used, and cannot be put back from outside
    keeps_data: bool  # of the program's, in attributes, though it is of the standard library
    leads: bool | None  # beyond all that is met; None if the value itself says it
    read: Callable[[Any], Any] | None  # what it holds in C


def keeps_data(t: type) -> bool:
    """Return whether objects of a class keep what programs give them, though they run natively."""
    module = module_of(t)
    return (
        is_native_module(module)
        and package_of(t) not in WITHOUT_DATA
        and (module, t.__name__) not in REGISTRIES
        and bool(t.__flags__ & HEAP_TYPE)
        and not issubclass(t, (type, FunctionType, *HOLDERS))
    )


@remembered
def kind_of(t: type) -> Kind:
    """Return the kind of the values of a class."""
    is_known = not issubclass(t, (FunctionType, BuiltinFunctionType, type))
    return Kind(
        t is LRU_WRAPPER or is_iterator(t) or draws_numbers(t) or issubclass(t, io.IOBase),
        keeps_data(t),
        has_unknown_parts(t) or is_of_contexts(t) if is_known else None,
        reader_of(t),
    )


class Reachable(Walk):
    """Everything that can be reached from some values; nothing is read.

    Attributes
    ----------
    is_active : bool
        Whether anything that was met is.
    has_numbers : bool
        Whether active numbers of a derivative that is running were met.
    may_hide : bool
        Whether any are met elsewhere than in variables, attributes of objects, lists and dicts,
        and tuples that are among the values themselves.
    has_given : bool
        Whether any are among the values themselves, in tuples there too, or in a dict of keywords.
    hides_active : bool
        Whether active numbers are where no plain ones can stand for them, as in an iterator.
    is_open : bool
        Whether code among the values may find objects that were not met, or set attributes that
        are not read.
    streams : list of object
        What cannot be put back from outside.
    draws : bool
        Whether any of the code may draw from a generator of random numbers that is not met.
    prints : bool
        Whether any of the code prints.
    """

    def __init__(self, ctx: Mode, values: Any) -> None:
        self.ctx = ctx
        self.places: list[Place] = []
        self.is_active = self.has_numbers = self.may_hide = False
        values = list(values)
        keywords = [part for d in values if type(d) is dict for part in d.values()]
        self.has_given = Active in map(type, values + keywords)
        self.given = tuples_in(values)
        self.running = (ctx, *ctx.outers)
        self.hides_active = False
        self.is_open = False
        self.streams: list[Any] = []
        self.prints = self.draws = False
        self.cells: set[int] = set()
        self.modules: dict[int, ModuleType] = {}  # of the user's
        self.names: dict[str, None] = {}  # in the code of functions
        self.set_by_name: set[str] = set()  # attributes
        self.plain_numbers: set[int] = set()  # by id, those that active ones stand for
        super().__init__()
        for i, value in enumerate(values):
            self.follow(f"argument {i}", value)
        if self.modules:
            self.follow_modules()
        self.is_open = self.is_open or apart.are_among(self.set_by_name, self.known.values())

    def follow_modules(self) -> None:
        """Visit the attributes of the user's modules that any of the code names."""
        done: dict[int, int] = {}  # how many of the names, of each module
        before = -1
        while sum(done.values()) > before:
            before = sum(done.values())
            names = list(self.names)
            for module in list(self.modules.values()):
                scope = vars(module)
                for name in names[done.get(id(module), 0) :]:
                    path = f"{module.__name__}.{name}"
                    self.places.append(Global(path, scope, name))
                    self.follow(path, scope.get(name, MISSING))
                done[id(module)] = len(names)
        self.is_open |= not BY_NAME.isdisjoint(self.names)

    @override
    def keep(self, path: str, value: Any) -> None:
        t = type(value)
        if t in INERT and t is not type:
            if t is ModuleType:
                self.meet_module(value)
            elif t is slice:
                self.put_off(path, (value.start, value.stop, value.step))
            return
        if t is Active:
            self.is_active = True
            self.has_numbers |= value.context in self.running
            self.plain_numbers.add(id(unwrapped(value)))
            return
        if t is dict and is_namespace_of_library(value):  # ``vars(sys)`` leads to all modules
            if id(value) not in self.known:
                self.known[id(value)] = value
                self.places.append(Contents(path, value))
            return
        if value is MISSING or value is sys.modules or id(value) in self.known:
            return
        kind = kind_of(t)
        if isinstance(value, (bytearray, array)):
            self.known[id(value)] = value
            self.places.append(Contents(path, value))
        elif kind.moves:
            self.streams.append(value)
        elif t is FunctionType and value.__name__ in DRAWING:
            self.draws = True
        elif t is FunctionType and is_between(value):
            self.known[id(value)] = value
            self.put_off(path, held_between(value))
            return
        elif kind.keeps_data and instance_dict(value) is not None:
            self.known[id(value)] = value
            self.places.append(Attributes(path, value))
            self.todo.extend((f"{path}.{k}", v) for k, v in own_attributes(value).items())
            return
        before = len(self.todo)
        super().keep(path, value)
        if not (self.may_hide or t in IN_PLACES):
            self.may_hide = self.holds_apart(value, before)
        if not self.is_open:
            self.is_open = leads_beyond(value) if kind.leads is None else kind.leads
        if id(value) in self.known:
            self.places.extend(self.places_of(path, value))
        if kind.read is not None:
            self.known[id(value)] = value
            held = list(kind.read(value))
            self.todo.extend((path, part) for part in held)
            self.hides_active |= holds_active_directly(held)

    def put_off(self, path: str, parts: Any) -> None:
        """Visit parts later that are in no place."""
        self.may_hide |= Active in map(type, parts)
        self.todo.extend((path, part) for part in parts)

    def holds_apart(self, value: Any, before: int) -> bool:
        """Return whether numbers are among what a value holds, other than in a place."""
        t = type(value)
        if t is FunctionType:
            named = value.__kwdefaults__ or {}
            return Active in map(type, (*(value.__defaults__ or ()), *named.values())) or (
                Active in map(type, value.__dict__.values())
            )
        if not issubclass(t, HOLDERS_APART):
            return False
        found = any(type(part) is Active for _, part in self.todo[before:])
        if id(value) not in self.given:
            return found
        self.has_given |= found
        return False

    def meet_module(self, module: ModuleType) -> None:
        """Take note of a module."""
        if is_users_module(module):
            self.modules[id(module)] = module
        elif not self.is_open:
            self.is_open = module_leads_beyond(module)

    def places_of(self, path: str, value: Any) -> Iterator[Place]:
        """Yield the places of a value."""
        if isinstance(value, ndarray):
            if owner(value) is value and is_writeable(value):
                yield Elements(path, value)
            if not self.is_active and value.dtype.kind in "fcOV":
                self.is_active = self.ctx.contains_active(value)
            if value.dtype.kind == "O":
                self.hides_active |= holds_active_directly(value.ravel().tolist())
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
        self.names.update(dict.fromkeys(names))
        self.draws = self.draws or not DRAWING.isdisjoint(names)
        named = names_in(f.__code__)
        self.set_by_name |= named.attributes
        self.is_open |= named.sets_others
        self.prints |= "print" in named.variables and "print" not in f.__globals__
        for name in named.imported:
            if type(sys.modules.get(name)) is ModuleType:
                self.meet_module(sys.modules[name])
        for name in names:
            yield Global(f"global {name!r}", f.__globals__, name)


def tuples_in(values: Any) -> set[int]:
    """Return the ids of the tuples in some values, also within lists and dicts."""
    found: set[int] = set()
    todo, seen = list(values), set()
    while todo:
        value = todo.pop()
        t = type(value)
        if t not in (tuple, list, dict) or id(value) in seen:
            continue
        seen.add(id(value))
        if t is tuple:
            found.add(id(value))
        todo.extend(value.values() if t is dict else value)
    return found


def is_namespace_of_library(d: dict[Any, Any]) -> bool:
    """Return whether a dict holds the names of a module that is not the user's."""
    name = d.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    return type(module) is ModuleType and vars(module) is d and not is_users_module(module)


def held_by_cache(cache: Any) -> list[Any]:
    """Return the results in a cache; its table itself only the cache may change."""
    held = gc.get_referents(cache)
    results = [v for table in held if type(table) is dict for v in table.values()]
    return [*(part for part in held if type(part) is not dict), *results]


def held_by_cycle(cycle: Any) -> Iterator[Any]:
    """Yield the items of a cycle; the list of its items only the cycle may change."""
    for part in gc.get_referents(cycle):
        yield from part if type(part) is list else (part,)


def held_by_stream(stream: Any) -> Iterator[Any]:
    """Yield the contents of a stream, except the output that it has yet to write, counted in C.

    To put back that list would leave the count, and the stream would write memory of others.
    """
    return (part for part in gc.get_referents(stream) if type(part) not in IN_PLACES)


def holds_active_directly(parts: list[Any]) -> bool:
    """Return whether an active number is among some parts, or in a tuple among them."""
    return any(
        type(part) is Active or (type(part) is tuple and Active in map(type, part))
        for part in parts
    )


READERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (LRU_WRAPPER, held_by_cache),
    (itertools.cycle, held_by_cycle),
    (io.IOBase, held_by_stream),
    (ContextVar, lambda variable: (copy_context().get(variable, MISSING),)),
    (GeneratorType, gc.get_referents),
    (np.nditer, lambda it: it.operands),
    (defaultdict, lambda d: (FACTORY.__get__(d),)),
    ((CellType, ref, BaseException, MappingProxyType, memoryview, *VIEWS), parts),
    ((np.flatiter, np.broadcast, np.void), parts),
    (operator.methodcaller, gc.get_referents),
)  # fmt: skip
"""How to read what objects hold that is neither an item nor an attribute."""


def reader_of(t: type) -> Callable[[Any], Any] | None:
    """Return how to read what objects of a class hold in C, None if nothing."""
    for kinds, read in READERS:
        if issubclass(t, kinds):
            return read
    return gc.get_referents if is_iterator(t) and not draws_numbers(t) else None


def holds_any(held: Any, ids: set[int]) -> bool:
    """Return whether one of some objects is what a place holds, or among it."""
    if isinstance(held, dict):
        return not ids.isdisjoint(map(id, held.values()))
    if isinstance(held, list):
        return not ids.isdisjoint(map(id, held))
    return id(held) in ids


class State:
    """The present state of all that can be reached from some values.

    Attributes
    ----------
    is_in_places : bool
        Whether all active numbers are in places.
    hides_writes : bool
        Whether a place holds the very number for which an active one stands, as an earlier plain
        call may have left it: to write it there once more would not be seen.
    shared : list of object
        Generators of random numbers that code may find without anything that refers to them.
    """

    def __init__(self, ctx: Mode, values: Any) -> None:
        found = Reachable(ctx, values)
        self.is_active, self.streams, self.known = found.is_active, found.streams, found.known
        self.is_open, self.hides_active = found.is_open, found.hides_active
        self.has_numbers, self.may_hide = found.has_numbers, found.may_hide
        self.is_in_places = not (found.may_hide or found.has_given)
        self.prints = found.prints
        self.shared = shared_generators() if found.draws else []
        self.streams.extend(self.shared)
        self.fills_caches = any(type(stream) is LRU_WRAPPER for stream in self.streams)
        self.kept = [(place, place.read()) for place in found.places]
        numbers = found.plain_numbers
        self.hides_writes = bool(numbers) and any(holds_any(held, numbers) for _, held in self.kept)
        self.active_arrays = [
            place
            for place in found.places
            if isinstance(place, Elements) and ctx.find(place.holder) is not None
        ]

    def keep(self, place: Place) -> None:
        """Add a place, as it is now."""
        self.kept.append((place, place.read()))

    def as_it_is(self) -> State:
        """Return the same places with what they hold now."""
        return self.with_kept([(place, place.read()) for place, _ in self.kept])

    def with_changes(self, changes: list[tuple[Place, Any]]) -> State:
        """Return the same places, some of them with other contents."""
        new = {id(place): held for place, held in changes}
        return self.with_kept([(place, new.get(id(place), held)) for place, held in self.kept])

    def with_kept(self, kept: list[tuple[Place, Any]]) -> State:
        """Return the same places with some contents."""
        found = object.__new__(State)
        vars(found).update(vars(self), kept=kept)
        return found

    def changes(self) -> list[tuple[Place, Any]]:
        """Return the places that have changed since, each with its former contents."""
        return [(p, old) for p, old in self.kept if not p.is_same(p.read(), old)]

    def put_back(self) -> list[tuple[Place, Any]]:
        """Undo changes made outside of the derivative; return the places and what they held."""
        changes = [(place, place.read(), old) for place, old in self.changes()]
        for place, _, old in changes:
            place.write(old)
        return [(place, new) for place, new, _ in changes]

    def let_go(self) -> None:
        """Hold nothing any more."""
        for held in (self.kept, self.known, self.streams, self.active_arrays):
            held.clear()
