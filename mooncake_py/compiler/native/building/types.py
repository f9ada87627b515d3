"""The types of arguments for which a function is read."""

from __future__ import annotations

import operator
import weakref
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.regions.linear import LARGE
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.jitted import is_jitted
from mooncake_py.runtime.active import Active, innermost
from mooncake_py.runtime.attribute_lookup import (
    MISSING,
    PLAIN_READS,
    PLAIN_WRITES,
    in_class,
    is_one_of,
    overrides,
)
from mooncake_py.tangents.fields import instance_dict

__all__ = [
    "COMPLEX_TYPES", "FLOATS", "GROWING", "MOST_ITEMS", "ArrayType", "DictType", "KnownType",
    "ListType", "NumberType", "ObjectType", "TupleType", "Type", "flattened", "has_type",
    "is_list_of", "is_list_of_floats", "is_one", "itemized", "list_type", "type_of",
]  # fmt: skip

KINDS = {
    np.dtype("d"): FLOAT, np.dtype("f"): FLOAT32, np.dtype("l"): INT, np.dtype("?"): BOOL,
    np.dtype("D"): "complex128", np.dtype("F"): "complex64",
}  # fmt: skip
NUMBERS = {
    float: "float", np.float64: "float64", np.float32: "float32", int: "int", np.int64: "int64",
    complex: "complex", np.complex128: "complex128",
}  # fmt: skip
COMPLEX_TYPES = {"complex": "float", "complex128": "float64"}
"""By the types of complex numbers the types of their parts."""
FLOATS = float, np.float64, np.float32
LISTED = {float: "float", np.float64: "float64", int: "int"}
"""The numbers in lists that are passed to loops."""
GROWING = frozenset({list, dict})
MOST_ATTRIBUTES, DEEP = 64, 4  # of objects and tuples that are looked into
MOST_ITEMS = 64  # of lists: functions are read for each length
HEAP = 1 << 9  # the flag of classes that are not of C


class NumberType(NamedTuple):
    """A number, of any value."""

    name: str


class ArrayType(NamedTuple):
    """An array.

    Attributes
    ----------
    kind : str
    ones : tuple of bool
        Which of its lengths are one: these may be broadcast.
    """

    kind: str
    ones: tuple[bool, ...]


class ListType(NamedTuple):
    """A list of any length, all of whose items are of one type; arguments are floats of Python."""

    item: NumberType = NumberType("float")


class TupleType(NamedTuple):
    """A tuple, or a list that compiled code does not change."""

    items: tuple[Type, ...]
    is_list: bool = False


class DictType(NamedTuple):
    """A dict with texts as keys that compiled code does not change."""

    keys: tuple[str, ...]
    items: tuple[Type, ...]


class KnownType(NamedTuple):
    """One object, known weakly if it is a function or a module, which may hold much."""

    type: type  # 1, 1.0 and True are equal
    known: Any

    @property
    def value(self) -> Any:
        """The object; None if it is gone, and nothing has this type any more."""
        return self.known() if type(self.known) is weakref.ref else self.known

    @classmethod
    def of(cls, value: Any) -> KnownType:
        """Return the type that one object alone has."""
        weakly = type(value) in (FunctionType, ModuleType) or is_jitted(value)
        return cls(type(value), weakref.ref(value) if weakly else value)


class ObjectType(NamedTuple):
    """An instance that keeps its attributes in a dict, with no one's code taking part in a read.

    Attributes
    ----------
    cls : weak reference
    is_written_plainly : bool
        Whether no one's code takes part in a write either.
    attributes : tuple of (str, Type or None)
        None for what compiled code must not read: it is no number, array or such, or an object
        that has another name too.
    """

    cls: weakref.ref[type]
    is_written_plainly: bool
    attributes: tuple[tuple[str, Type | None], ...]


Type = NumberType | ArrayType | ListType | TupleType | DictType | KnownType | ObjectType


def type_of(value: Any, met: set[int] | None = None, depth: int = 0) -> Type | None:
    """Return the type of an argument, or None for what cannot be passed to compiled code.

    Parameters
    ----------
    met : set of int, optional
        The ids of the objects among other arguments, to which those in this one are added.
    depth : int
        In how many objects and tuples it is.
    """
    t = type(value)
    if t is Active:
        while t is Active:  # at each level of derivatives inside others
            value = value.primal
            t = type(value)
        return NumberType(NUMBERS[t]) if t in FLOATS else None
    if t is ndarray:
        kind = KINDS.get(value.dtype)
        if kind is None or not value.ndim or max(value.shape) >= LARGE:
            return None
        if kind == INT and not runs_forward(value.strides):
            return None
        return ArrayType(kind, tuple([n == 1 for n in value.shape]))
    if t in NUMBERS:
        if NUMBERS[t] in ("int", "int64") and not -LARGE < value < LARGE:
            return None
        return NumberType(NUMBERS[t])
    if is_list_of_floats(value):
        return ListType()
    if t is tuple or t is list:
        if depth >= DEEP or (t is list and len(value) > MOST_ITEMS):
            return None
        items = [type_of(item, met, depth + 1) for item in value]
        return None if None in items else TupleType(tuple(items), t is list)  # type: ignore[arg-type]
    if t is dict:
        return dict_type(value, met, depth)
    if value is None or t in (bool, str, FunctionType, np.ufunc) or is_jitted(value):
        return KnownType.of(value)
    return object_type(value, set() if met is None else met, depth)


def is_list_of_floats(value: Any) -> bool:
    """Return True for a list of floats of Python; of an empty one nothing tells what it is."""
    return is_list_of(float, value)


def list_type(value: list[Any]) -> ListType | None:
    """Return the type of a list of numbers of one type, None for any other."""
    t = type(innermost(value[0]))
    name = LISTED.get(t)
    return ListType(NumberType(name)) if name and is_list_of(t, value) else None


def is_list_of(t: type, value: Any) -> bool:
    """Return True for a list of numbers of one type that can be passed."""
    if type(value) is not list:
        return False
    types = set(map(type, value))
    if t is int:
        return types == {int} and min(value) > -LARGE and max(value) < LARGE
    while Active in types:  # most often of one level
        value = [v.primal if type(v) is Active else v for v in value]
        types = set(map(type, value))
    return types == {t}


def has_type(value: Any, type_: Type) -> bool:
    """Return True for what has a type, or has it with the items of its lists one by one."""
    found = type_of(value)
    return found == type_ or (found is not None and itemized(value, found) == type_)


def itemized(value: Any, type_: Type) -> Type | None:
    """Return a type in which lists of floats are known item by item, None for long ones."""
    if isinstance(type_, ListType):
        count = len(value)
        return TupleType((type_.item,) * count, True) if count <= MOST_ITEMS else None
    if not isinstance(type_, TupleType | DictType):
        return type_
    held = value.values() if isinstance(type_, DictType) else value
    items = [itemized(*pair) for pair in zip(held, type_.items, strict=True)]
    return None if None in items else type_._replace(items=tuple(items))


def dict_type(value: dict[Any, Any], met: set[int] | None, depth: int) -> DictType | None:
    """Return the type of a small dict with texts as keys, or None."""
    if depth >= DEEP or len(value) > MOST_ITEMS or not all(type(key) is str for key in value):
        return None
    items = [type_of(item, met, depth + 1) for item in value.values()]
    return None if None in items else DictType(tuple(value), tuple(items))  # type: ignore[arg-type]


def runs_forward(strides: tuple[int, ...]) -> bool:
    """Return True for axes in the order of memory: the last of several writes depends on that."""
    return strides[-1] >= 0 and all(map(operator.ge, strides, strides[1:]))


def object_type(o: Any, met: set[int], depth: int) -> ObjectType | None:
    """Return the type of a plain instance, or None."""
    t = type(o)
    if t is not SimpleNamespace and not all(c is object or c.__flags__ & HEAP for c in t.__mro__):
        return None
    held = instance_dict(o)
    if type(held) is not dict or len(held) > MOST_ATTRIBUTES or depth >= DEEP or id(held) in met:
        return None
    if not is_one_of(t.__getattribute__, PLAIN_READS) or hasattr(t, "__getattr__"):
        return None
    met.add(id(held))
    attributes = tuple(
        [
            (name, None if is_grown(t, name, value) else type_of(value, met, depth + 1))
            for name, value in held.items()
        ]
    )
    return ObjectType(weakref.ref(t), is_one_of(t.__setattr__, PLAIN_WRITES), attributes)


def is_grown(cls: type, name: str, value: Any) -> bool:
    """Return True for an attribute that must not be read: see `is_taken`; lists may grow."""
    return type(value) in GROWING or is_taken(cls, name)


def is_taken(cls: type, name: str) -> bool:
    """Return True if something in a class comes before what the instance holds."""
    found = in_class(cls, name)
    return found is not MISSING and overrides(found)


def is_one(type_: Type) -> bool:
    """Return True for an argument that is one number or array."""
    return isinstance(type_, NumberType | ArrayType) and width(type_) == 1


def width(type_: Type) -> int:
    """Return how many numbers and arrays are in an argument."""
    if isinstance(type_, TupleType | DictType):
        return sum(map(width, type_.items))
    if isinstance(type_, NumberType) and type_.name in COMPLEX_TYPES:
        return 2
    return 0 if isinstance(type_, KnownType | ObjectType) else 1


def flattened(value: Any, type_: Type) -> list[Any]:
    """Return the numbers and arrays in an argument, in the order of inputs.

    Those in objects are no part of it.
    """
    if isinstance(type_, TupleType | DictType):
        items = value.values() if isinstance(type_, DictType) else value
        pairs = zip(items, type_.items, strict=True)
        return [part for item, t in pairs for part in flattened(item, t)]
    if isinstance(type_, NumberType) and type_.name in COMPLEX_TYPES:
        return [value.real, value.imag]
    return [] if isinstance(type_, KnownType | ObjectType) else [value]
