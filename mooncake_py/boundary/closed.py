"""Functions that reach no array but through their arguments, as far as their names tell.

Arguments are copied so that other names for them mean constants.  Where there can be no other
name, large arrays need no copy.  Measured on a million elements: the gradient of ``np.sum`` takes
0.7 ms without the copy, 2.5 ms with it.
"""

from __future__ import annotations

import dis
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.attribute_lookup import MISSING

__all__ = ["is_closed"]

LIBRARIES = frozenset({
    "builtins", "cmath", "functools", "itertools", "math", "numpy", "operator", "scipy",
})
REACHING = frozenset({"__import__", "compile", "eval", "exec", "globals", "locals", "open", "vars"})

CONTAINERS = frozenset({list, tuple, dict})
PLAIN = (INERT - {type, ModuleType}) | {np.ndarray, Active}


class Names(NamedTuple):
    """The names of global variables in some code, and whether it may reach anything else."""

    found: frozenset[str]
    reaches_more: bool


def is_closed(f: Any, arguments: Iterable[Any]) -> bool:
    """Whether a function that is called with these arguments reaches arrays in them only."""
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
    """Whether a function reaches nothing but functions of its kind and of libraries."""
    rest, seen = [f], set[int]()
    while rest:
        value = rest.pop()
        if id(value) in seen or is_harmless(value):
            continue
        if type(value) is not FunctionType:
            return False
        seen.add(id(value))
        names = names_of(value.__code__)
        if names.reaches_more:
            return False
        rest.extend(reached_by(value, names.found))
    return True


def is_harmless(value: Any) -> bool:
    """Whether a value is part of a library, or holds nothing."""
    t = type(value)
    if t is ModuleType:
        return is_library(value.__name__)
    if t is BuiltinFunctionType:
        owner = value.__self__
        return owner is None or (type(owner) in (ModuleType, type) and is_harmless(owner))
    if t is type:
        return is_library(value.__module__)
    return t in INERT or (
        t in (FunctionType, type(np.sum)) and is_library(getattr(value, "__module__", None))
    )


def is_library(module: str | None) -> bool:
    """Whether a module is part of a library that holds no arrays of the user's."""
    return (module or "").partition(".")[0] in LIBRARIES


def reached_by(f: FunctionType, names: Iterable[str]) -> Iterator[Any]:
    """Yield the values of names in a function, and its defaults."""
    for name in names:
        value = f.__globals__.get(name, MISSING)
        if value is not MISSING:
            yield value
    for cell in f.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty
            continue
    yield from f.__defaults__ or ()
    yield from (f.__kwdefaults__ or {}).values()
    yield from vars(f).values()


@lru_cache(maxsize=1024)
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
