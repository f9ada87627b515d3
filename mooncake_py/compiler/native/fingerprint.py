"""A fingerprint of a function: its code and what that names, to detect changes between processes.

That is the code of the functions and classes that can be reached by names from it, as far as they
are the user's, and the constants among globals.  Where it does not tell two functions apart, a
reading is not tried that would succeed: the derivative is right, and takes longer.  No method of
the user's classes and metaclasses runs.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

from mooncake_py.compiler.native.building.types import KnownType
from mooncake_py.compiler.sites.callees import is_own
from mooncake_py.jitted import python_function

__all__ = ["fingerprint", "text_of_type"]

MOST = 300  # functions that are looked at
CONSTANTS = bool, int, float, str, type(None)


def fingerprint(f: FunctionType) -> list[str]:
    """Return strings that identify what a function does."""
    todo: list[FunctionType] = [f]
    met = {id(f.__code__)}
    found: list[str] = []
    while todo and len(found) < MOST:
        g = todo.pop()
        found.append(text_of_code(g.__code__))
        for name, value in named(g):
            found.append(f"{name} = {text_of(value)}")
            for inner in functions_in(value):
                if id(inner.__code__) not in met:
                    met.add(id(inner.__code__))
                    todo.append(inner)
    return found


def named(f: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the globals, captured variables and defaults of a function, by their names."""
    names = sorted(names_in(f.__code__))
    scope = f.__globals__
    yield from ((name, scope[name]) for name in names if name in scope)
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
    yield from (("a default", value) for value in f.__defaults__ or ())


def names_in(code: CodeType) -> set[str]:
    """Return the names in code, and in what is defined in it."""
    found = {*code.co_names}
    for constant in code.co_consts:
        if type(constant) is CodeType:
            found |= names_in(constant)
    return found


def text_of(value: Any) -> str:
    """Return the properties of a value that a reading may depend on, as a string."""
    t = type(value)
    if t in CONSTANTS:
        return repr(value)
    return f"{name_of_class(t)} {name_of(value)}"


def name_of(value: Any) -> str:
    """Return the name of a class or of a function, an empty text for other values."""
    if issubclass(type(value), type):
        return name_of_class(value)
    if type(value) is MethodType:
        return name_of(value.__func__)
    return value.__qualname__ if type(value) in (FunctionType, BuiltinFunctionType) else ""


def name_of_class(cls: type) -> str:
    """Return the name of a class, of which a metaclass may say something else."""
    return f"{attribute_of(cls, '__module__')}.{attribute_of(cls, '__qualname__')}"


attribute_of = type.__getattribute__


def functions_in(value: Any) -> Iterator[FunctionType]:
    """Yield the user's functions that a value stands for: itself, or the methods of its class."""
    f = python_function(value)
    if f is None and type(value) is MethodType:
        f = python_function(value.__func__)
    if f is not None:
        if is_own(f):
            yield f
        return
    cls: Any = value if issubclass(type(value), type) else type(value)
    yield from methods_of(cls)


def methods_of(cls: type) -> Iterator[FunctionType]:
    """Yield the methods of a class that are the user's."""
    for base in attribute_of(cls, "__mro__"):
        module = attribute_of(base, "__module__")
        if type(module) is str and (module == "builtins" or module.startswith("numpy")):
            continue
        for part in list(attribute_of(base, "__dict__").values()):
            inner: Any = part
            if type(part) in (staticmethod, classmethod):
                inner = part.__func__
            elif type(part) is property:
                inner = part.fget
            if type(inner) is FunctionType and is_own(inner):
                yield inner


def text_of_code(code: CodeType) -> str:
    """Return all of code but where it stands in memory."""
    constants = [text_of_constant(constant) for constant in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_kwonlyargcount, code.co_flags, code.co_firstlineno
    return repr((code.co_filename, code.co_qualname, code.co_code, names, counts, constants))


def text_of_constant(value: Any) -> str:
    """Return a constant, in the same way in each process."""
    if type(value) is CodeType:
        return text_of_code(value)
    if type(value) is frozenset:
        return repr(sorted(map(repr, value)))
    return repr(value)


def text_of_type(type_: Any) -> str:
    """Return a type of an argument, in the same way in each process."""
    if isinstance(type_, KnownType):
        f = python_function(type_.value)
        return text_of(type_.value) if f is None else "\n".join(fingerprint(f))
    if type(type_) is weakref.ref:
        return text_of_class(type_())
    if isinstance(type_, tuple):
        parts = ", ".join(map(text_of_type, type_))
        return f"{type(type_).__name__}({parts})"
    return repr(type_)


def text_of_class(cls: Any) -> str:
    """Return a string that identifies what a class does, None for one that is gone."""
    if cls is None:
        return str(cls)
    code = [text_of_code(f.__code__) for f in methods_of(cls)]
    return f"{name_of_class(cls)} {code}"
