"""What is within classes, modules and functions in C, which has no tangent but may leave a call."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mooncake_py.runtime.activity import parts
from mooncake_py.runtime.classes import is_made_by, made_inside

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["CACHED", "WRAPPERS", "all_parts", "class_parts", "is_imported"]

CACHED = type(functools.lru_cache(len))
WRAPPERS = (staticmethod, classmethod)
SET_BY_PYTHON = frozenset({"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__"})


def all_parts(ctx: Mode, value: Any) -> Iterable[Any]:
    """Return what a value holds; of a class only what a call has changed that made it."""
    t = type(value)
    held: list[Any] = []
    if made_inside and is_made_by(ctx, t):
        held.append(t)
    if issubclass(t, type):
        if is_made_by(ctx, value):
            held += [*class_parts(value).values(), *value.__mro__[1:]]
    elif issubclass(t, ModuleType):
        if not is_imported(value):
            held += vars(value).values()
    elif issubclass(t, (CACHED, *WRAPPERS)):
        held += [value.__wrapped__, *vars(value).values()]
    elif issubclass(t, property):
        held += [value.fget, value.fset, value.fdel]
    else:
        return [*held, *parts(value)] if held else parts(value)
    return held


def class_parts(cls: type) -> dict[str, Any]:
    """Return the attributes of a class that may be set."""
    return {name: part for name, part in vars(cls).items() if name not in SET_BY_PYTHON}


def is_imported(module: ModuleType) -> bool:
    """Return whether a module is one that others import, and no one's own object."""
    return sys.modules.get(vars(module).get("__name__", "")) is module
