"""All data that a call can reach, through arguments, captured variables, globals and objects."""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

from numpy import ndarray

from mooncake_py.containers.state import old_cell
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.places import is_library
from mooncake_py.jitted import is_jitted, is_of_numba
from mooncake_py.modules import held_by_module, module_of
from mooncake_py.remembered import remembered
from mooncake_py.rooms import ROOMS
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import CLOSED, INERT, holds_inert
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.tangents.contents import elements_of
from mooncake_py.tangents.fields import own_attributes
from mooncake_py.tangents.memory import owner

__all__ = [
    "CONTAINERS", "HEAP_TYPE", "HOLDERS", "LRU_WRAPPER", "Part", "StandIn", "Walk", "is_opaque",
    "joined", "names_read", "parts_of",
]  # fmt: skip

LRU_WRAPPER = type(functools.lru_cache(len))

Part = tuple[str, Any]
"""How something is reached from its holder, and what it is."""

CONTAINERS = (list, deque, dict)
# Whose objects change as they work.
ENGINE = ("mooncake_py.interface", *(f"mooncake_py.{room}" for room in ROOMS))
HEAP_TYPE = 1 << 9  # made by a class statement, or by compiled code that allows changes
WRAPPERS = (staticmethod, classmethod, LRU_WRAPPER)
METHODS = (FunctionType, property, staticmethod, classmethod)
BOUND_IN_C = (BuiltinFunctionType, MethodWrapperType)
HOLDERS = (  # of Python's own, with parts
    MethodType, *BOUND_IN_C, property, functools.partial, *WRAPPERS, BaseException,
)  # fmt: skip


class StandIn:
    """Called by iterators in C in place of a function of the program.

    Attributes
    ----------
    function : callable
    """

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function


class Walk:
    """Visits all data that can be reached from some values, each once, with a path to it."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}  # keeps the object whose id is the key
        self.todo: list[tuple[str, Any]] = []

    def follow(self, path: str, value: Any) -> None:
        """Visit all that can be reached from a value."""
        self.todo.append((path, value))
        while self.todo:
            self.keep(*self.todo.pop())

    def keep(self, path: str, value: Any) -> None:
        """Visit one value, and put what it holds on the list of what is to be visited."""
        if value is MISSING or is_opaque(value) or id(value) in self.known:
            return
        self.known[id(value)] = value
        self.meet(path, value)
        if issubclass(type(value), ndarray) and owner(value) is not value:
            self.todo.append((f"{path}.base", owner(value)))
        if not is_plain_container(value):
            parts = [part for part in parts_of(value) if type(part[1]) not in CLOSED]
            self.todo.extend((joined(path, text), part) for text, part in reversed(parts))

    def meet(self, path: str, value: Any) -> None:
        """Take note of a value that is visited for the first time."""


def joined(path: str, text: str) -> str:
    """Return the path to a part; variables are named by themselves."""
    return f"{text.strip()} of {path}" if text.startswith(" ") else path + text


def is_plain_container(value: Any) -> bool:
    """Return whether a container holds nothing that holds anything."""
    if type(value) not in CONTAINERS or not holds_inert(value):
        return False
    return type not in map(type, value.values() if type(value) is dict else value)


def is_opaque(value: Any) -> bool:
    """Return whether there is nothing to look at within a value."""
    t = type(value)
    if t is Active or t is ModuleType or (t in INERT and t is not type):
        return True
    if issubclass(type(value), type):
        return is_installed_class(value)
    if issubclass(type(value), (FunctionType, ndarray, list, dict, set, deque, tuple, frozenset)):
        return issubclass(type(value), FunctionType) and is_library(value.__code__.co_filename)
    if module_of(t).startswith(ENGINE):
        return True
    if is_of_numba(t):  # what it keeps changes as it compiles
        return not is_jitted(value)
    return is_native_module(module_of(t)) and not issubclass(t, HOLDERS)


@remembered
def is_installed_class(cls: type) -> bool:
    """Return whether a class is not one of the user's."""
    if not cls.__flags__ & HEAP_TYPE or type(cls.__module__) is not str:
        return True  # in C; of some the module is a descriptor
    module = sys.modules.get(module_of(cls))
    file = held_by_module(module, "__file__")
    if type(file) is str and not is_library(file):
        return False
    functions = [v for v in vars(cls).values() if type(v) is FunctionType]
    return (
        is_native_module(module_of(cls))
        or (module_of(cls).startswith(("numpy", "_")) and module_of(cls) != "__main__")
        or any(is_library(f.__code__.co_filename) for f in functions[:1])
    )


def parts_of(value: Any) -> Iterator[Part]:
    """Yield the parts of a value, each with the path that leads there from the value."""
    if issubclass(type(value), FunctionType):
        yield from parts_of_function(value)
    elif issubclass(type(value), type):
        yield from class_attributes(value)
    elif issubclass(type(value), MethodType) and isinstance(value.__self__, StandIn):
        yield "", value.__self__.function
    elif issubclass(type(value), MethodType):
        yield ".__self__", value.__self__
        yield "", value.__func__
    elif issubclass(type(value), BOUND_IN_C):
        yield ".__self__", value.__self__
    elif issubclass(type(value), functools.partial):
        yield ".func", value.func
        yield ".args", value.args
        yield ".keywords", value.keywords
    elif issubclass(type(value), property):
        yield from (("", f) for f in (value.fget, value.fset, value.fdel))
    elif issubclass(type(value), WRAPPERS):
        yield "", value.__wrapped__
    elif is_jitted(value):
        yield "", value.py_func
    else:
        yield from parts_of_object(value)


def parts_of_object(value: Any) -> Iterator[Part]:
    """Yield the items of a container, the attributes of an object, and its class."""
    if issubclass(type(value), dict):
        for key in list(dict.keys(value)):
            yield f"[{label(key)}]", dict.__getitem__(value, key)
    elif issubclass(type(value), (list, tuple, deque)):
        for i, part in enumerate(elements_of(value)):
            yield f"[{i}]", part
    elif issubclass(type(value), (set, frozenset)):
        yield from ((f"{{{label(part)}}}", part) for part in elements_of(value))
    elif issubclass(type(value), ndarray):
        if value.dtype == object:
            for i, part in enumerate(value.ravel().tolist()):
                yield f".flat[{i}]", part
        if type(value) is ndarray:
            return
    for name, part in own_attributes(value).items():
        if name != "__annotations__":  # compiled functions make a new one when they are asked
            yield f".{getattr(name, '__name__', name)}", part
    yield ".__class__", type(value)


def label(key: Any) -> str:
    """Return a text for a key, without running code of its class."""
    return repr(key) if type(key) in INERT else f"{type(key).__name__} at {id(key):#x}"


def class_attributes(cls: type) -> Iterator[Part]:
    """Yield the attributes of a class, except those that Python put there."""
    for name, part in list(vars(cls).items()):
        if not name.startswith("__") or type(part) in METHODS:
            yield f".{name}", part
    for base in cls.__bases__:
        yield ".__base__", base
    yield ".__class__", type(cls)


def parts_of_function(f: FunctionType) -> Iterator[Part]:
    """Yield the defaults and attributes of a function, and the variables that it may read."""
    for i, part in enumerate(f.__defaults__ or ()):
        yield f".__defaults__[{i}]", part
    for name, part in (f.__kwdefaults__ or {}).items():
        yield f".__kwdefaults__[{name!r}]", part
    for name, part in f.__dict__.items():
        yield f".{name}", part
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        yield f" captured variable {name!r}", old_cell(cell)
    yield from globals_of(f)


def globals_of(f: FunctionType) -> Iterator[Part]:
    """Yield the globals that a function may read, those of the user's modules that it names too."""
    names = names_read(f.__code__)
    for name in names:
        part = f.__globals__.get(name, MISSING)
        yield f" global {name!r}", part
        module: Any = sys.modules.get(name) if part is MISSING else part  # imported inside
        if issubclass(type(module), ModuleType):
            yield from attributes_of_module(module, names, {id(module)})


def attributes_of_module(module: ModuleType, names: list[str], seen: set[int]) -> Iterator[Part]:
    """Yield the attributes that code names of one of the user's modules, and of those in it."""
    if is_library(held_by_module(module, "__file__") or "<frozen >"):
        return
    for name in names:
        part = vars(module).get(name, MISSING)
        yield f" {module.__name__}.{name}", part
        if issubclass(type(part), ModuleType) and id(part) not in seen:
            seen.add(id(part))
            yield from attributes_of_module(part, names, seen)


@remembered
def names_read(code: CodeType) -> list[str]:
    """Return the names of globals and attributes in code, that of nested functions included."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(dict.fromkeys(names_read(constant)))
    return list(names)
