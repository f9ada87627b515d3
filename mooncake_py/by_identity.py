"""Tables in which objects are found without running any code of theirs.

A dict calls `__hash__` and `__eq__` of what it looks up, and those of callable objects and of
classes (by their metaclass) may be the program's: they may count, write, raise, or call two
different things equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType
from typing import Any, TypeVar

__all__ = ["ByIdentity", "Types", "answers_itself"]

V = TypeVar("V")

MISSING: Any = object()


class ByIdentity(MutableMapping[Any, V]):
    """A table from objects, which it keeps alive, to values.

    Methods, which Python binds at each use, are found by the objects that they are bound to.

    Attributes
    ----------
    values_at : dict
        The values by `key_of` the objects, and by their ids: ``values_at.get(id(o))`` is the
        quickest look-up, except for methods.
    objects : dict
        The objects by their ids.
    """

    def __init__(self, given: Mapping[Any, V] | Iterable[tuple[Any, V]] = ()) -> None:
        self.values_at: dict[Any, V] = {}
        self.objects: dict[int, Any] = {}
        self.methods: dict[Any, Any] = {}  # those of them whose key is not their id
        self.update(given)

    def __getitem__(self, o: Any) -> V:
        value = self.get(o, MISSING)
        if value is MISSING:
            raise KeyError(o)
        return value

    def __setitem__(self, o: Any, value: V) -> None:
        key = key_of(o)
        if type(key) is not int:
            o = self.methods.setdefault(key, o)
            self.values_at[key] = value
        self.objects[id(o)] = o
        self.values_at[id(o)] = value

    def __delitem__(self, o: Any) -> None:
        key = key_of(o)
        if key not in self.values_at:
            raise KeyError(o)
        del self.values_at[key]
        if type(key) is not int:
            o = self.methods.pop(key)
            del self.values_at[id(o)]
        del self.objects[id(o)]

    def __contains__(self, o: Any) -> bool:
        return self.get(o, MISSING) is not MISSING

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.objects.values()))

    def __len__(self) -> int:
        return len(self.objects)

    def get(self, o: Any, default: Any = None) -> Any:
        """Return the value of an object."""
        value = self.values_at.get(id(o), MISSING)
        return self.values_at.get(key_of(o), default) if value is MISSING else value

    def copy(self) -> ByIdentity[V]:
        """Return another table with the same values."""
        return ByIdentity(self)


def key_of(o: Any) -> Any:
    """Return a key that identifies an object, and is hashed by Python's own code."""
    t = type(o)
    if t is MethodType:
        return id(o.__func__), id(o.__self__)
    if t is MethodWrapperType or issubclass(t, BuiltinFunctionType):
        return o  # compared by the identity of what it is bound to
    return id(o)


def answers_itself(o: Any, *methods: str) -> bool:
    """Return whether one of these special methods of an object is written in Python."""
    return any(
        type(vars(base).get(method)) is FunctionType for base in MRO(type(o)) for method in methods
    )


MRO: Any = vars(type)["__mro__"].__get__
"""Return the bases of a class without asking its metaclass."""


class Types(frozenset[Any]):
    """A set of lasting classes, asked by identity.

    Attributes
    ----------
    ids : frozenset of int
        The ids of the classes: ``id(t) in types.ids`` is the quickest question.
    """

    ids: frozenset[int]

    def __new__(cls, types: Iterable[Any] = ()) -> Types:
        """Return the set of some classes."""
        new = super().__new__(cls, types)
        new.ids = frozenset(map(id, new))
        return new

    def __contains__(self, t: Any) -> bool:
        return id(t) in self.ids

    def __or__(self, other: Iterable[Any]) -> Types:
        return Types((*self, *other))

    __ror__ = __or__

    def __sub__(self, other: Iterable[Any]) -> Types:
        return Types(frozenset(self).difference(other))

    def __and__(self, other: Iterable[Any]) -> Types:
        return Types(frozenset(self).intersection(other))
