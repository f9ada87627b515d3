"""Callbacks that can change nothing: functions that only read numbers, arrays, lists and objects.

What a function reads is looked at for each solve, as any of it may have changed.
"""

from __future__ import annotations

import functools
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.containers import beyond
from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import DISPATCHER, DRAWING, module_of
from mooncake_py.remembered import remembered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.solvers.effects import WRITERS, effects_of
from mooncake_py.solvers.held_still import has_own_memory
from mooncake_py.tangents.fields import instance_dict, slots
from mooncake_py.tangents.memory import is_writeable

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["DATA", "Reader", "is_named_tuple"]

DATA = INERT - {type, ModuleType}
NUMBERS = frozenset({int, float, Active})
CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__"})
"""Methods that are not run where nothing is made; a class that is named is not read."""
WITHOUT_STATE = ("abc", "typing")
"""Modules of classes that others are made of."""


class Reader:
    """Looks at all that callbacks read, and says whether they can change any of it.

    Attributes
    ----------
    arrays : list of ndarray
    numbers : int
        How many active ones were met.
    """

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx
        self.running = (ctx, *ctx.outers)
        self.arrays: list[ndarray] = []
        self.numbers = 0
        self.has_memory = False  # that could be written
        self.writes = False
        self.entered: set[int] = set()
        self.known: dict[int, int] = {}  # by id, how many active numbers are held
        self.classes: dict[int, type] = {}  # of objects, of which members are named
        self.names: set[str] = set()

    @property
    def is_active(self) -> bool:
        """Return whether anything that was met is."""
        return self.numbers > 0 or any(self.ctx.find(a) is not None for a in self.arrays)

    def is_quiet(self, values: Iterable[Any]) -> bool:
        """Return whether nothing that can be reached from arguments of a solver is changed."""
        for value in values:
            if type(value) in (list, tuple) and NUMBERS.issuperset(map(type, value)):
                if not all(map(self.reads, value)):  # a point, which the solver copies
                    return False
            elif not self.reads(value):
                return False
        if self.classes and not self.members_read():
            return False
        return not (self.writes and self.has_memory)

    def reads(self, value: Any) -> bool:
        """Return whether a value is data, or a function that only reads."""
        t = type(value)
        if t in DATA:
            return t is not slice or DATA.issuperset(
                map(type, (value.start, value.stop, value.step))
            )
        if t is Active:
            self.numbers += 1
            return self.is_of_these(value)
        if t is ndarray:
            self.has_memory = True
            self.arrays.append(value)
            return value.dtype.kind in "fcbiu" and (
                has_own_memory(value) or not is_writeable(value)
            )
        if t is FunctionType:
            return self.holder_reads(value, self.function_reads)
        if t in (tuple, list, dict):
            self.has_memory |= t is not tuple
            return self.holder_reads(value, self.container_reads)
        if t is ModuleType:
            return is_known_module(value)
        if t is MethodType:
            return self.reads(value.__func__) and self.reads(value.__self__)
        if t is functools.partial:
            parts = (value.func, value.args, value.keywords)
            return not value.__dict__ and all(map(self.reads, parts))
        if is_simple(t):
            return self.holder_reads(value, self.object_reads)
        if not computes_only(value):
            return False
        self.writes |= value.__name__ in WRITERS  # whatever the variable is called
        return True

    def is_of_these(self, value: Any) -> bool:
        """Return whether a number is one of a derivative that is running."""
        while type(value) is Active:
            if value.context not in self.running:
                return False
            value = value.primal
        return True

    def holder_reads(self, value: Any, reads: Callable[[Any], bool]) -> bool:
        """Return the same for what holds others, unless it holds itself."""
        key = id(value)
        if key in self.known:
            self.numbers += self.known[key]
            return True
        if key in self.entered:
            return False
        self.entered.add(key)
        before = self.numbers
        if not reads(value):
            return False
        self.known[key] = self.numbers - before
        return True

    def container_reads(self, value: Any) -> bool:
        """Return the same for a list, a tuple or a dict."""
        if type(value) is dict and not DATA.issuperset(map(type, value)):
            return False
        return all(map(self.reads, value.values() if type(value) is dict else value))

    def function_reads(self, f: FunctionType) -> bool:
        """Return the same for a function of the user's, and all that it reads by name."""
        code = effects_of(f.__code__)
        has_rule = self.ctx.handlers_at.get(id(f)) is not None
        if code.rebinds or f.__dict__ or f.__kwdefaults__ or has_rule:
            return False
        self.writes |= code.writes
        self.names.update(code.names)
        if f.__closure__ is not None:
            cells = zip(f.__code__.co_freevars, f.__closure__, strict=True)
            try:
                held = [cell.cell_contents for name, cell in cells if name != "__class__"]
            except ValueError:  # not bound yet
                return False
            if not all(map(self.reads, held)):
                return False
        if f.__defaults__ is not None and not all(map(self.reads, f.__defaults__)):
            return False
        return self.globals_read(f.__globals__, code.names)

    def object_reads(self, o: Any) -> bool:
        """Return the same for an object, of which methods are looked at in the end."""
        t = type(o)
        self.classes[id(t)] = t
        held = o if issubclass(t, tuple) else instance_dict(o)
        if type(held) is dict:
            held = held.values()
        elif held is None or not issubclass(t, tuple):
            return False
        return all(map(self.reads, held))

    def members_read(self) -> bool:
        """Return whether what code may find in the classes of objects only reads."""
        done: set[tuple[int, str]] = set()
        while True:
            found = [member for t in list(self.classes.values()) for member in self.members(t)]
            new = [(key, part) for key, part in found if key not in done]
            if not new:
                return True
            for key, part in new:
                done.add(key)
                before = self.numbers
                if not self.member_reads(part) or self.numbers > before:
                    return False

    def members(self, t: type) -> Iterator[tuple[tuple[int, str], Any]]:
        """Yield the members of a user's class that code names, or Python itself calls."""
        for base in t.__mro__:
            fields = getattr(base, "_fields", ()) if is_named_tuple(base) else ()
            for name, part in vars(base).items() if is_users(base) else ():
                if name in fields:
                    continue
                if name in self.names or (is_special(name) and is_users_function(part)):
                    yield (id(base), name), part

    def member_reads(self, part: Any) -> bool:
        """Return the same for a part of a class."""
        if type(part) is property:
            return part.fget is None or self.reads(part.fget)
        return self.reads(part.__func__ if type(part) in (staticmethod, classmethod) else part)

    def globals_read(self, scope: dict[str, Any], names: tuple[str, ...]) -> bool:
        """Return the same for global variables, which must not hold active numbers."""
        before = self.numbers
        for name in names:
            value = scope.get(name)
            if type(value) not in DATA and not self.reads(value):
                return False
        return self.numbers == before


@remembered
def is_simple(t: type) -> bool:
    """Return whether objects of a class of the user's hold attributes in a dict, and no more."""
    if is_named_tuple(t):
        return True
    bases = [base for base in t.__mro__ if base is not object and not is_without_state(base)]
    return bool(bases) and all(map(is_users, bases)) and not slots(t)


@remembered
def is_users(cls: type) -> bool:
    """Return whether a class is the user's, with the metaclass of most."""
    return type(cls) in (type, ABCMeta) and not beyond.is_of_library(cls)


def is_without_state(cls: type) -> bool:
    """Return whether a class is one of Python's that others are made of."""
    return module_of(cls) in WITHOUT_STATE


@remembered
def is_named_tuple(t: type) -> bool:
    """Return whether a class is that of named tuples."""
    return t.__bases__ == (tuple,) and hasattr(t, "_fields") and type(t) is type


def is_special(name: str) -> bool:
    """Return whether Python calls a method of this name, other than to make an object."""
    return name.startswith("__") and name.endswith("__") and name not in CONSTRUCTORS


def is_users_function(part: Any) -> bool:
    """Return whether something is a function that was not generated."""
    return type(part) is FunctionType and not is_library(part.__code__.co_filename)


@remembered
def is_known_module(module: ModuleType) -> bool:
    """Return whether the functions of a module compute only."""
    return not beyond.is_users_module(module) and not beyond.module_leads_beyond(module)


@remembered
def computes_only(value: Any) -> bool:
    """Return whether a value is a function or a class of a library that computes only."""
    is_function = type(value) in (BuiltinFunctionType, DISPATCHER)
    if is_function and value.__name__ in DRAWING:
        return False
    if type(value) is BuiltinFunctionType and type(value.__self__) is not ModuleType:
        return False
    is_class = type(value) is type and beyond.is_of_library(value)
    return (is_function or is_class) and not beyond.leads_beyond(value)
