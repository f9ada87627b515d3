"""Ways beyond all that a walk can reach, to objects that nothing it has met refers to.

Code may find objects through the interpreter (`globals`, `sys.modules`, ``f.__globals__``), through
libraries that keep what a program gave them (`logging`), and through classes in C whose objects do
not tell what they hold.  What is known to compute is listed, and all else may lead anywhere.
"""

from __future__ import annotations

import dis
import sys
import weakref
from _thread import RLock
from _thread import allocate_lock as Lock
from array import array
from collections import deque
from types import (
    BuiltinFunctionType,
    CellType,
    ClassMethodDescriptorType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    TracebackType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

from mooncake_py.containers.apart import OF_RAISED
from mooncake_py.diagnostics.places import is_library
from mooncake_py.jitted import is_of_numba
from mooncake_py.modules import held_by_module, module_of
from mooncake_py.remembered import remembered
from mooncake_py.runtime.activity import VIEWS, is_iterator
from mooncake_py.runtime.attribute_lookup import PROXIES

__all__ = [
    "OF_INTERPRETER",
    "has_unknown_parts",
    "is_of_library",
    "is_users_module",
    "leads_beyond",
    "module_leads_beyond",
    "names_in",
]

NAMES = """
    abc builtins cmath collections copy dataclasses decimal enum fractions functools itertools math
    mooncake_py numba numbers numpy operator scipy statistics types typing typing_extensions
"""
COMPUTING = frozenset(NAMES.split())
"""Packages whose functions return what is new, or what they were given."""
OF_INTERPRETER = frozenset({
    "__import__", "breakpoint", "compile", "eval", "exec", "globals", "input", "locals", "open",
    "vars",
})  # fmt: skip
"""Builtin functions that find objects by their names."""
INTROSPECTING = {
    "__subclasses__", "__wrapped__", "mro", *(
        name
        for t in (CodeType, FrameType, FunctionType, GeneratorType, MethodType, TracebackType, type)
        for name, part in vars(t).items()
        if type(part) in (GetSetDescriptorType, MemberDescriptorType)
    ),
} - {"__doc__", "__module__", "__name__", "__qualname__"}  # fmt: skip
"""Attributes of functions, frames and classes that are other objects: ``f.__globals__``."""
UNDERSTOOD = (
    list, tuple, dict, set, frozenset, deque, array, bytearray, bytes, str, int, float, complex,
    slice, range, BaseException, type, property, staticmethod, classmethod, super, CellType,
    CodeType, FunctionType, GeneratorType, MappingProxyType, MethodType, MethodWrapperType,
    BuiltinFunctionType, ModuleType, SimpleNamespace, MethodDescriptorType, WrapperDescriptorType,
    ClassMethodDescriptorType, GetSetDescriptorType, MemberDescriptorType, memoryview,
    weakref.ref, *VIEWS,
)  # fmt: skip
"""Classes in C whose objects have no other parts than a walk looks at, or none."""
SETTERS = frozenset({
    "__delattr__", "__delete__", "__set__", "__setattr__", "__setstate__", "add_note", "delattr",
    "flags", "getcontext", "localcontext", "register", "resize", "set_printoptions", "setattr",
    "setcontext", "seterr", "seterrcall", "setflags", "update_wrapper", "with_traceback", "wraps",
})  # fmt: skip
"""Names of what sets attributes and settings that the code does not name."""
LOCKS = (type(Lock()), type(RLock()))
GENERATED = "<string>"  # the file of methods of dataclasses and named tuples
HEAP_TYPE = 1 << 9


class Names(NamedTuple):
    """The names in code, those of nested functions included."""

    variables: frozenset[str]  # globals and builtins
    imported: tuple[str, ...]  # modules
    introspects: bool
    attributes: frozenset[str]  # that are set or deleted
    sets_others: bool  # perhaps, by functions


@remembered
def names_in(code: CodeType) -> Names:
    """Return the names in code by their roles."""
    variables: set[str] = set()
    imported: dict[str, None] = {}
    attributes: set[str] = set()
    introspects = False
    sets_others = not SETTERS.isdisjoint(code.co_names)
    sets_others |= "__init__" in code.co_names and code.co_name != "__init__"
    for instruction in dis.get_instructions(code):
        name, op = instruction.argval, instruction.opname
        if op in ("STORE_ATTR", "DELETE_ATTR"):
            attributes.add(name)
        elif op == "RAISE_VARARGS":
            attributes |= OF_RAISED
        if op == "IMPORT_NAME":
            imported[name] = None
        elif op.startswith("LOAD") and op.endswith(("GLOBAL", "NAME", "GLOBALS")):
            variables.add(name)
        elif "ATTR" in op or "METHOD" in op:
            introspects |= name in INTROSPECTING
        elif isinstance(name, CodeType):
            inner = names_in(name)
            variables.update(inner.variables)
            imported.update(dict.fromkeys(inner.imported))
            attributes.update(inner.attributes)
            introspects |= inner.introspects
            sets_others |= inner.sets_others
    return Names(
        frozenset(variables), tuple(imported), introspects, frozenset(attributes), sets_others
    )


def leads_beyond(value: Any) -> bool:
    """Return whether code that is given a value may find through it what no walk meets."""
    t = type(value)
    if t is FunctionType:
        if value.__code__.co_filename == GENERATED:
            return False
        if is_library(value.__code__.co_filename):
            return root(module_of(value)) not in COMPUTING
        return function_leads_beyond(value)
    if issubclass(t, type):
        return class_leads_beyond(value)
    if issubclass(t, BuiltinFunctionType):
        if type(value.__self__) is ModuleType or value.__self__ is None:
            is_of_interpreter = value.__name__ in OF_INTERPRETER
            return is_of_interpreter or root(module_of(value)) not in COMPUTING
        return False
    return has_unknown_parts(t)


@remembered
def class_leads_beyond(cls: type) -> bool:
    """Return whether a class is part of a library whose functions may lead anywhere."""
    return is_of_library(cls) and root(module_of(cls)) not in COMPUTING and cls not in LOCKS


def has_unknown_parts(t: type) -> bool:
    """Return whether objects of a class may hold what a walk does not meet."""
    if t in PROXIES:
        return True
    if is_iterator(t) or is_of_numba(t) or t in LOCKS:
        return False
    if not t.__flags__ & HEAP_TYPE and issubclass(t, UNDERSTOOD):
        return False
    if root(module_of(t)) in COMPUTING:
        return module_of(t) == "builtins" and not t.__flags__ & HEAP_TYPE and t is not object
    return is_of_library(t)


def function_leads_beyond(f: FunctionType) -> bool:
    """Return whether what the code of a function of the user's names leads beyond.

    The values of variables are met elsewhere.
    """
    names = names_in(f.__code__)
    if names.introspects:
        return True
    for name in names.imported:
        if module_leads_beyond(sys.modules.get(name)):
            return True
    scope = f.__globals__
    return any(name not in scope for name in OF_INTERPRETER.intersection(names.variables))


def module_leads_beyond(module: Any) -> bool:
    """Return whether a module, None if not yet loaded, is not part of the user's program."""
    if type(module) is not ModuleType:
        return True
    return root(module.__name__) not in COMPUTING and not is_users_module(module)


def is_users_module(module: ModuleType) -> bool:
    """Return whether a module was written by the user, or made by the program."""
    file = held_by_module(module, "__file__")
    if type(file) is str:
        return not is_library(file)
    return held_by_module(module, "__spec__") is None


def is_of_library(cls: type) -> bool:
    """Return whether a class is defined in C or in a library."""
    if not cls.__flags__ & HEAP_TYPE:
        return True
    module = sys.modules.get(module_of(cls))
    return type(module) is ModuleType and not is_users_module(module)


def root(module: str) -> str:
    """Return the package that a module belongs to; those in C are named after it."""
    return module.partition(".")[0].lstrip("_")
