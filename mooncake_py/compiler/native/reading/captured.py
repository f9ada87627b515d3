"""Captured and global variables that may change from call to call: what they are now."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from mooncake_py.compiler.native.building.looked import Looked, looked_at
from mooncake_py.compiler.native.building.types import (
    Type,
)
from mooncake_py.compiler.native.reading.parameters import defaults_of
from mooncake_py.compiler.sites.callees import Callee
from mooncake_py.runtime.attribute_lookup import in_class
from mooncake_py.syntax.names import MISSING, global_value

__all__ = ["Captured", "as_looked"]


class Captured(NamedTuple):
    """A global or captured variable that a function reads, which may change from call to call.

    Attributes
    ----------
    owner : weak reference or None
        The class or the module of which it is an attribute.
    is_default : bool
        Whether it is the default of a parameter.
    """

    callee: Callee
    name: str
    type: Type
    owner: weakref.ref[type | ModuleType] | None = None
    is_default: bool = False

    def value(self, main: FunctionType, first: Callee) -> Any:
        """Return the present value, where `main` is the function that is compiled, `first` of all.

        It is passed: another thread may just have had another one of the same code stand for it.
        """
        if self.owner is not None:
            return value_of_owner(self.owner(), self.name)
        f = main if self.callee is first else self.callee.function()
        if self.is_default:
            return MISSING if f is None else defaults_of(f).get(self.name, MISSING)
        return value_in(f, self.name)


def as_looked(captures: Iterable[Captured], looked: Looked, first: int) -> list[Captured]:
    """Return captured variables, with types that know what was looked at, from a first path on."""
    return [c._replace(type=looked_at(c.type, looked, (k,))) for k, c in enumerate(captures, first)]


def value_of_owner(owner: type | ModuleType | None, name: str) -> Any:
    """Return a name's value in a class or a module, of which nothing may be left."""
    if owner is None:
        return MISSING
    if isinstance(owner, ModuleType):
        return owner.__dict__.get(name, MISSING)
    return in_class(owner, name)


def value_in(f: FunctionType | None, name: str) -> Any:
    """Return a captured variable or a global of a function, which none may be left of."""
    if f is None:
        return MISSING
    names = f.__code__.co_freevars
    if name in names:
        try:
            return (f.__closure__ or ())[names.index(name)].cell_contents
        except ValueError:
            return MISSING
    return global_value(f.__globals__, name)
