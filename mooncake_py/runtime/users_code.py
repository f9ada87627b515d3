"""The part of the program that is the user's, and has Python code that native code may run."""

from __future__ import annotations

import functools
from enum import EnumMeta, Flag
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

from numpy import ndarray

from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.modules import module_of
from mooncake_py.remembered import remembered
from mooncake_py.runtime.activity import INERT

__all__ = [
    "HEAP_TYPE", "has_methods", "is_of_library", "is_own", "is_users_function",
    "is_written_in_python", "runs_derived",
]  # fmt: skip

HEAP_TYPE = 1 << 9
LIBRARIES = ("numpy", "scipy")
OWN = "mooncake_py"
WRITTEN = (FunctionType, property, classmethod, staticmethod)

_written_in_python: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


@remembered
def is_of_library(cls: type) -> bool:
    """Return whether a class is not part of the program, but its objects may hold such parts."""
    if not cls.__flags__ & HEAP_TYPE:
        return True
    module = module_of(cls)
    return module.partition(".")[0] in LIBRARIES or is_native_module(module)


def is_own(cls: type) -> bool:
    """Return whether a class is one of this package."""
    return module_of(cls).startswith(OWN)


def runs_derived(function: Any) -> bool:
    """Return whether a function is a method of one of the engine's objects, which sees the rest."""
    if type(function) is functools.partial:
        function = function.func
    return type(function) is MethodType and is_own(type(function.__self__))


def is_users_function(f: FunctionType) -> bool:
    """Return whether a function is part of the program, or may call one that is."""
    if f.__closure__:
        return True
    return not is_native_module(module_of(f)) and not module_of(f).startswith(OWN)


def is_written_in_python(cls: type) -> bool:
    """Return whether a class has methods or properties in Python that are part of the program."""
    found = _written_in_python.get(cls)
    if found is None:
        bases = (base for base in cls.__mro__ if not is_of_library(base) and not is_own(base))
        found = _written_in_python[cls] = any(map(defines_code, bases))
    return found


def defines_code(cls: type) -> bool:
    """Return whether a class statement that is part of the program defines methods or properties.

    The functions that an enumeration is given change nothing, except for flags, whose combinations
    are remembered; what they call are methods of the values.
    """
    parts = [part for part in vars(cls).values() if type(part) in WRITTEN]
    if type(cls) is not EnumMeta or issubclass(cls, Flag):
        return bool(parts)
    if any(module_of(part) != "enum" for part in parts):
        return True
    members = vars(cls)["_member_map_"].values()
    return not INERT.issuperset(type(vars(member).get("_value_")) for member in members)


def has_methods(a: ndarray) -> bool:
    """Return whether an array of objects holds objects whose operators are the user's."""
    kinds = set(map(type, a.ravel().tolist())) - INERT
    return any(is_written_in_python(cls) for cls in kinds)
