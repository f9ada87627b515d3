"""Facts about objects, remembered as long as the objects live.

A table with classes, functions or code for keys would keep each of them for ever, with all that it
holds.  A value in these tables must not refer to its key.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Generic, TypeVar
from weakref import ref

from numpy import ufunc

from mooncake_py.modules import DISPATCHER

__all__ = ["Table", "remembered"]

V = TypeVar("V")

BOUND = frozenset({MethodType, MethodWrapperType, BuiltinFunctionType})
LASTING = (type(None), ModuleType, ufunc)  # what methods are bound to that are never freed
# Without weak references, but as lasting as the modules and the classes in C that define them.
DEFINED = frozenset({
    MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType, DISPATCHER,
}) - {FunctionType}  # fmt: skip
UNKNOWN: Any = object()


class Table(Generic[V]):
    """Values by the identity of objects; each is forgotten when its object is freed.

    Attributes
    ----------
    found : dict
        The values by the id of the object.  What frees an object calls the weak reference to it
        first, so no other object can have the id of an entry.
    """

    __slots__ = ("found", "references")

    def __init__(self) -> None:
        self.found: dict[int, V] = {}
        self.references: dict[int, ref[Any]] = {}

    def set(self, o: Any, value: V) -> None:
        """Remember a value for an object; for one without weak references do nothing."""
        key = id(o)
        if key not in self.references:
            # When the interpreter ends the names of the module are gone: all are bound here.
            found, references = self.found, self.references

            def forget(_: ref[Any]) -> None:
                found.pop(key, None)
                references.pop(key, None)

            try:
                references[key] = ref(o, forget)
            except TypeError:
                return
        self.found[key] = value

    def clear(self) -> None:
        """Forget all."""
        self.found.clear()
        self.references.clear()


def remembered(f: Callable[[Any], V]) -> Callable[[Any], V]:
    """Remember what a function of one object returns, as long as that object lives.

    Methods are bound at each use: those of ufuncs and modules are told apart by value, and
    of others nothing is remembered.  Methods of classes in C and functions of NumPy have no weak
    references: of these the last few hundred are remembered.
    """
    table: Table[V] = Table()
    get = table.found.get
    of_lasting = functools.lru_cache(maxsize=256)(f)

    @functools.wraps(f)
    def found(o: Any) -> V:
        known: Any = get(id(o), UNKNOWN)
        if known is not UNKNOWN:
            return known
        kind = type(o)
        if kind in DEFINED:
            return of_lasting(o)
        if kind in BOUND:
            return of_lasting(o) if issubclass(type(o.__self__), LASTING) else f(o)
        value = f(o)
        table.set(o, value)
        return value

    return found
