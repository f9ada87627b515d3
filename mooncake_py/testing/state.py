"""State that a function reaches besides its arguments: work arrays, counters, global caches.

`test_rule` copies the arguments, with what functions among them captured.  Global variables, and
what hangs on them, are the user's: each call finds them as they were before, and the test leaves
them so.
"""

from __future__ import annotations

import dis
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

from numpy import ndarray

from mooncake_py.application.copying import copy_jointly
from mooncake_py.boundary.captured import captured_values, names_of
from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import module_of
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime.activity import INERT
from mooncake_py.tangents.contents import dict_base
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.memory import is_writeable
from mooncake_py.testing.sharing import overlap
from mooncake_py.testing.structure import walk

__all__ = ["call_alone", "keeping"]

PutBack = Callable[[], None]
MISSING = object()


class State:
    """The state that some functions reach, as it is now.

    Parameters
    ----------
    functions : iterable
        Functions, and objects that are called.
    """

    def __init__(self, functions: Any) -> None:
        self.arrays: list[ndarray] = []
        self.objects: list[Any] = []  # keeps those whose ids are known
        self.known: set[int] = set()
        self.undo: list[PutBack] = []
        for f in functions:
            for value in captured_values(f):
                if value is not f:
                    self.keep(value)
                if type(value) is FunctionType:
                    self.keep_globals(value)
            if issubclass(type(f), MethodType):
                f = f.__func__
            if issubclass(type(f), FunctionType):
                self.keep_globals(f)

    def keep_globals(self, f: FunctionType) -> None:
        """Keep the global variables that a function of the user's binds."""
        if is_library(f.__code__.co_filename) or f.__code__.co_filename.startswith(PACKAGE):
            return
        for name in names_of(f.__code__).found:
            if isinstance(f.__globals__.get(name), type):
                self.keep(f.__globals__[name])
        for name in bound_globals(f):
            self.undo.append(partial(bind, f.__globals__, name, f.__globals__.get(name, MISSING)))

    def keep(self, value: Any) -> None:
        """Keep what a value holds, at any depth."""
        waiting = [value]
        while waiting:
            value = waiting.pop()
            inert = type(value) in INERT and not issubclass(type(value), type)
            if inert or id(value) in self.known or is_foreign(value):
                continue
            self.known.add(id(value))
            self.objects.append(value)
            waiting += self.keep_one(value)

    def keep_one(self, value: Any) -> list[Any]:
        """Keep what one value holds; return the parts."""
        if issubclass(type(value), ndarray):
            if is_writeable(value):
                self.arrays.append(value)
                self.undo.append(partial(write, value, value.copy()))
            return []
        if issubclass(type(value), (list, deque)):
            self.undo.append(partial(refill, value, list(value)))
            return list(value)
        if issubclass(type(value), dict):
            self.undo.append(partial(refill_dict, value, dict(dict_base(value).items(value))))
            return list(dict.values(value))
        if issubclass(type(value), set):
            self.undo.append(partial(refill_set, value, set(value)))
            return []
        if issubclass(type(value), tuple):
            return list(value)
        if issubclass(type(value), type):
            return self.keep_class(value)
        if issubclass(type(value), FunctionType):
            return []
        fields = own_attributes(value)
        if fields:
            self.undo.append(partial(set_fields, value, dict(fields)))
        return [*fields.values(), type(value)]

    def keep_class(self, cls: type) -> list[Any]:
        """Keep the data among the attributes of a class."""
        found = {
            name: part
            for name, part in vars(cls).items()
            if not name.startswith("__") and not callable(part) and not hasattr(part, "__get__")
        }
        self.undo.append(partial(set_attributes, cls, found))
        return list(found.values())

    def put_back(self) -> None:
        """Bring all of it to what it was."""
        for undo in self.undo:
            undo()

    def held_by(self, output: Any) -> bool:
        """Return whether an output is, or holds, some of this state."""
        return any(
            any(overlap(part, a) for a in self.arrays)
            if issubclass(type(part), ndarray)
            else id(part) in self.known and not issubclass(type(part), type)
            for _, part in walk(output, "")
        )


_functions: ContextVar[list[Any] | None] = ContextVar("mooncake_py.testing.state", default=None)


@contextmanager
def keeping(functions: list[Any]) -> Iterator[None]:
    """Keep the state that functions reach: as it is now for afterwards, and around each call."""
    state = State(functions)
    token = _functions.set(functions if state.undo else None)
    try:
        yield
    finally:
        _functions.reset(token)
        state.put_back()


def call_alone(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function, and put back what it has changed besides its arguments.

    An output that is, or holds, part of that is copied.
    """
    functions = _functions.get()
    if functions is None:
        return f(*args, **kwargs)
    state = State(functions)
    try:
        output = f(*args, **kwargs)
        return copy_jointly(output) if state.held_by(output) else output
    finally:
        state.put_back()


def is_foreign(value: Any) -> bool:
    """Return whether a value is none of the user's data: of a library, or in compiled code."""
    if issubclass(type(value), ModuleType):
        return True
    cls = value if issubclass(type(value), type) else type(value)
    module = module_of(cls)
    if module == "builtins":
        return issubclass(type(value), type)
    if module == "collections" or cls is ndarray:
        return issubclass(type(value), type)
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return is_native_module(module) or is_library(file) or file.startswith(PACKAGE)


def bound_globals(f: FunctionType) -> list[str]:
    """Return the names of the global variables that a function assigns or deletes."""
    names = ("STORE_GLOBAL", "DELETE_GLOBAL")
    return [i.argval for i in dis.get_instructions(f.__code__) if i.opname in names]


# The ways back.


def bind(scope: dict[str, Any], name: str, value: Any) -> None:
    if value is MISSING:
        scope.pop(name, None)
    else:
        scope[name] = value


def write(a: ndarray, contents: ndarray) -> None:
    if a.shape != contents.shape:
        with suppress(AttributeError, ValueError):
            a.shape = contents.shape
    a[...] = contents


def refill(items: Any, contents: list[Any]) -> None:
    if len(items) != len(contents) or any(a is not b for a, b in zip(items, contents, strict=True)):
        items.clear()
        items.extend(contents)


def refill_dict(items: Any, contents: dict[Any, Any]) -> None:
    same = len(items) == len(contents) and all(
        a is c and b is d
        for (a, b), (c, d) in zip(dict_base(items).items(items), contents.items(), strict=True)
    )
    if not same:
        items.clear()
        items.update(contents)


def refill_set(items: Any, contents: set[Any]) -> None:
    set.clear(items)
    set.update(items, contents)


def set_fields(value: Any, fields: dict[Any, Any]) -> None:
    for name in own_attributes(value).keys() - fields.keys():
        if isinstance(name, str):
            value.__dict__.pop(name, None)
        else:
            name.__delete__(value)
    set_own_attributes(value, fields)


def set_attributes(cls: type, found: dict[str, Any]) -> None:
    for name, part in found.items():
        if vars(cls).get(name) is not part:
            setattr(cls, name, part)
