"""Values that a function reaches by names: captured and global variables, and defaults.

Arguments are copied so that other names for them refer to constants.  If there can be no other
name, large arrays need no copy.  Measured on a million elements: the gradient of ``np.sum`` takes
0.7 ms without the copy, 2.5 ms with it.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from mooncake_py import modules
from mooncake_py.jitted import python_function
from mooncake_py.remembered import remembered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.tangents.fields import instance_dict

__all__ = ["captured_values", "is_closed", "names_of"]

LIBRARIES = frozenset({
    "builtins", "cmath", "functools", "itertools", "math", "numpy", "operator", "scipy",
})  # fmt: skip
REACHING = frozenset({"__import__", "compile", "eval", "exec", "globals", "locals", "open", "vars"})

OWN = __name__.partition(".")[0]
CONTAINERS = frozenset({list, tuple, dict})
PLAIN = (INERT - {type, ModuleType}) | {np.ndarray, Active}


class Names(NamedTuple):
    """The names of global variables in some code, and whether it may reach anything else."""

    found: frozenset[str]
    reaches_more: bool


def is_closed(f: Any, arguments: Iterable[Any]) -> bool:
    """Return whether a function that is called with these arguments reaches arrays in them only."""
    rest, seen = list(arguments), set[int]()
    while rest:  # methods of arguments may reach more
        value = rest.pop()
        if type(value) in CONTAINERS and id(value) not in seen:
            seen.add(id(value))
            rest.extend(value.values() if type(value) is dict else value)
        elif type(value) not in PLAIN and id(value) not in seen:
            return False
    return reaches_libraries_only(f)


def reaches_libraries_only(f: Any) -> bool:
    """Return whether a function reaches nothing but functions of its kind and of libraries."""
    rest, seen = [f], set[int]()
    while rest:
        value = rest.pop()
        if id(value) in seen or is_harmless(value):
            continue
        value = python_function(value)
        if value is None:
            return False
        seen.add(id(value))
        names = names_of(value.__code__)
        if names.reaches_more:
            return False
        rest += held_by(value)
        rest += bound_to(value, names.found)
    return True


def captured_values(f: Any) -> Iterator[Any]:
    """Yield the values of the names in the code of a function.

    Functions that it names, captured or holds are followed; those of packages that it only uses
    have no names for what the user's code holds, except by what they captured.
    """
    packages = {package_of(f)}
    rest, seen = [f], set[int]()
    while rest:
        value = rest.pop()
        if id(value) in seen or is_harmless(value):
            continue
        seen.add(id(value))
        value = python_function(value) or value
        t = type(value)
        if t is FunctionType:
            held = held_by(value)
            packages.update(package_of(part) for part in held if type(part) is FunctionType)
            rest += held
            if root_of(value.__globals__.get("__name__")) in packages:
                rest += bound_to(value, names_of(value.__code__).found)
            if value.__closure__:
                yield value
        elif t is MethodType or t is functools.partial:
            held = parts_of_callable(value)
            packages.update(map(package_of, held))
            rest += held
            yield value
        else:
            yield value
            if callable(value) and not issubclass(type(value), type):
                rest += [type(value).__call__, *(instance_dict(value) or {}).values()]


def parts_of_callable(f: Any) -> list[Any]:
    """Return the parts of a method or a partial function."""
    if type(f) is MethodType:
        return [f.__func__, f.__self__]
    return [f.func, *f.args, *f.keywords.values()]


def package_of(value: Any) -> str:
    """Return the name of the package that a value is from; none for derivatives."""
    root = modules.package_of(value)
    return "" if root == OWN else root


def is_harmless(value: Any) -> bool:
    """Return whether a value is part of a library, or holds nothing."""
    t = type(value)
    if t is ModuleType:
        return is_library(value.__name__)
    if t is BuiltinFunctionType:
        owner = value.__self__
        return owner is None or (type(owner) in (ModuleType, type) and is_harmless(owner))
    if t is type:
        return is_library(modules.module_of(value))
    return t in INERT or (
        t in (FunctionType, modules.DISPATCHER) and is_library(modules.module_of(value))
    )


def is_library(module: str | None) -> bool:
    """Return whether a module is part of a library that holds no arrays of the user's."""
    return root_of(module) in LIBRARIES


def root_of(module: str | None) -> str:
    """Return the name of the package that a module is in."""
    return (module or "").partition(".")[0]


def bound_to(f: FunctionType, names: Iterable[str]) -> list[Any]:
    """Return the values of the global variables of these names."""
    found = [f.__globals__.get(name, MISSING) for name in names]
    return [value for value in found if value is not MISSING]


def held_by(f: FunctionType) -> list[Any]:
    """Return the captured variables, defaults and attributes of a function."""
    held = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values(), *vars(f).values()]
    for cell in f.__closure__ or ():
        with suppress(ValueError):  # empty
            held.append(cell.cell_contents)
    return held


@remembered
def names_of(code: CodeType) -> Names:
    """Return the names of global variables in some code and the functions defined in it."""
    found: set[str] = set()
    reaches_more = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.add(instruction.argval)
        elif instruction.opname == "IMPORT_NAME":
            reaches_more = True
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = names_of(constant)
            found |= inner.found
            reaches_more = reaches_more or inner.reaches_more
    return Names(frozenset(found), reaches_more or not REACHING.isdisjoint(found))
