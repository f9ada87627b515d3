"""The types of arguments for which a function is read."""

from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Iterable
from enum import Enum
from types import (
    BuiltinFunctionType,
    EllipsisType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
    SimpleNamespace,
)
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.by_identity import answers_itself
from mooncake_py.compiler.native.building.long_lists import (
    Form,
    is_plain_tuple,
    leaves_in,
    long_form,
)
from mooncake_py.compiler.native.regions.linear import LARGE
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.jitted import is_jitted
from mooncake_py.modules import package_of
from mooncake_py.runtime.active import Active, innermost
from mooncake_py.runtime.attribute_lookup import (
    MISSING,
    PLAIN_READS,
    PLAIN_WRITES,
    in_class,
    is_one_of,
    overrides,
)
from mooncake_py.tangents.fields import instance_dict, slots

__all__ = [
    "COMPLEX_TYPES", "DEEP", "FLOATS", "GROWING", "HEAP", "KEYS", "KINDS", "MOST_ITEMS", "NUMBERS",
    "ROWS", "THERE", "ArrayType", "BoundType", "DictType", "KnownType", "ListType", "Met",
    "NumberType", "ObjectType", "Path", "RowsType", "SameType", "TupleType", "Type",
    "UnservedType", "fields_of", "is_list_of", "is_list_of_floats", "is_one", "is_plain_object",
    "itemized", "list_type", "met_in", "type_of", "unserved",
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
COMPLEX_KINDS = frozenset({"complex128", "complex64"})
FLOATS = float, np.float64, np.float32
LISTED = {float: "float", np.float64: "float64", int: "int"}
"""The numbers in lists that are passed to loops."""
ROWS, THERE = "#rows", "#there"  # the steps of paths to what long lists are passed as
GROWING = frozenset({list, dict})
MOST_ATTRIBUTES, DEEP = 64, 6  # of objects and tuples that are looked into
MOST_ITEMS = 64  # of lists: functions are read for each length
LIBRARIES = frozenset({"mooncake_py", "numba", "numpy", "scipy"})
HEAP = 1 << 9  # the flag of classes that are not of C
KNOWN = frozenset({bool, str, FunctionType, ModuleType, np.ufunc, EllipsisType})
KEYS = frozenset({str, int, float, bool, NoneType})


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
    pinned : tuple of (int, int)
        Axes, with their lengths, that decide structure.
    """

    kind: str
    ones: tuple[bool, ...]
    pinned: tuple[tuple[int, int], ...] = ()


class ListType(NamedTuple):
    """A list of any length, all of whose items are of one type; arguments are floats of Python."""

    item: NumberType = NumberType("float")


class RowsType(NamedTuple):
    """A long list of items of one form, some of which may be None; see `long_lists`."""

    form: Form
    has_none: bool


class TupleType(NamedTuple):
    """A tuple, also a named one, or a list.

    Attributes
    ----------
    cls : weak reference or None
        The class of a named tuple.
    """

    items: tuple[Type, ...]
    is_list: bool = False
    cls: weakref.ref[type] | None = None


class DictType(NamedTuple):
    """A dict whose keys never change."""

    keys: tuple[Any, ...]
    items: tuple[Type, ...]


class UnservedType(NamedTuple):
    """The type of a value that compiled code cannot read: nothing looks at it, so any will do."""

    why: str


class SameType(NamedTuple):
    """The object, the list or the dict that stands somewhere else too: there it is described."""

    path: Path


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
        weakly = issubclass(type(value), FunctionType | ModuleType | type) or is_jitted(value)
        return cls(type(value), weakref.ref(value) if weakly else value)


class ObjectType(NamedTuple):
    """An instance that keeps its attributes in a dict, with no one's code taking part in a read.

    Attributes
    ----------
    cls : weak reference
    is_written_plainly : bool
        Whether no one's code takes part in a write either.
    attributes : tuple of (str, Type)
    absent : tuple of str
        Names that it must not have.
    """

    cls: weakref.ref[type]
    is_written_plainly: bool
    attributes: tuple[tuple[str, Type], ...]
    absent: tuple[str, ...] = ()


class BoundType(NamedTuple):
    """A method that is passed with its object.

    Attributes
    ----------
    function : KnownType
    owner : ObjectType or SameType
    """

    function: KnownType
    owner: ObjectType | SameType


Type = (
    NumberType | ArrayType | ListType | RowsType
    | TupleType | DictType | KnownType | ObjectType | BoundType
    | SameType | UnservedType
)  # fmt: skip
EMPTY = KnownType | ObjectType | BoundType | SameType | UnservedType  # of numbers and arrays
Path = tuple[Any, ...]
"""Where something is: the position of an argument, then positions, keys and attributes."""
Met = dict[int, Path]
"""By the ids of objects, lists and dicts where they were found first; dicts of objects nowhere."""


def type_of(value: Any, met: Met | None = None, path: Path = (0,)) -> Type:
    """Return the type of an argument.

    Parameters
    ----------
    met : dict of int to Path, optional
        What was found among other arguments, to which what is in this one is added.
    path : Path
        Where it is.
    """
    found = number_type(value)
    if found is None and len(path) <= DEEP:
        found = structure_type(value, {} if met is None else met, path)
    return unserved(value) if found is None else found


def met_in(given: Iterable[Any]) -> Met:
    """Return where the objects, lists and dicts among arguments are."""
    met: Met = {}
    for k, value in enumerate(given):
        type_of(value, met, (k,))
    return met


def number_type(value: Any) -> Type | None:
    """Return the type of a number, an array, a list of floats, or what is known; else None."""
    t = type(value)
    if t is Active:
        while t is Active:  # at each level of derivatives inside others
            value = value.primal
            t = type(value)
        return NumberType(NUMBERS[t]) if t in FLOATS else None
    if t is ndarray:
        kind = KINDS.get(value.dtype)
        if kind is None or max(value.shape, default=0) >= LARGE:
            return None
        if kind == INT and not runs_forward(value.strides):
            return None
        if not value.ndim and kind in COMPLEX_KINDS:
            return None
        return ArrayType(kind, tuple([n == 1 for n in value.shape]))
    if t in NUMBERS:
        if NUMBERS[t] in ("int", "int64") and not -LARGE < value < LARGE:
            return None
        return NumberType(NUMBERS[t])
    if is_list_of_floats(value):
        return ListType()
    if t is set:
        return KnownType(t, frozenset(value)) if all(map(is_key, value)) else None
    if issubclass(t, Enum) and not is_plain_member(value):
        return unserved(value)
    return KnownType.of(value) if value is None or t in KNOWN or is_known(value) else None


def structure_type(value: Any, met: Met, path: Path) -> Type | None:
    """Return the type of a tuple, a list, a dict or an object, or None."""
    t = type(value)
    if issubclass(t, tuple):
        return tuple_type(value, met, path)
    if t is MethodType and type(value.__func__) is FunctionType:
        owner = type_of(value.__self__, met, (*path, "__self__"))
        is_object = isinstance(owner, ObjectType | SameType)
        return BoundType(KnownType.of(value.__func__), owner) if is_object else None
    if id(value) in met:
        first = met[id(value)]
        return SameType(first) if first else None
    if t is list and len(value) > MOST_ITEMS:
        return rows_type(value, met, path)
    if t is list or t is dict:
        if len(value) > MOST_ITEMS or (t is dict and not all(map(is_key, value))):
            return None
        met[id(value)] = path
        if t is dict:
            return DictType(tuple(value), parts_of(value.items(), met, path))
        return TupleType(parts_of(enumerate(value), met, path), True)
    return object_type(value, met, path)


def rows_type(value: list[Any], met: Met, path: Path) -> RowsType | None:
    """Return the type of a long list of items of one form, or None; None for others."""
    found = long_form(value)
    if found is None:
        return None
    met[id(value)] = path
    return RowsType(*found)


def is_known(value: Any) -> bool:
    """Return True for what is known as the one object that it is."""
    t = type(value)
    if t is BuiltinFunctionType:
        return type(value.__self__) is ModuleType
    return issubclass(t, Enum | type | np.dtype) or is_jitted(value)


def tuple_type(value: Any, met: Met, path: Path) -> TupleType | None:
    """Return the type of a tuple, None for one of a class that may have any methods."""
    t = type(value)
    if not is_plain_tuple(t):
        return None
    cls = None if t is tuple else weakref.ref(t)
    return TupleType(parts_of(enumerate(value), met, path), False, cls)


def parts_of(pairs: Iterable[tuple[Any, Any]], met: Met, path: Path) -> tuple[Type, ...]:
    """Return the types of what stands under some keys."""
    return tuple([type_of(part, met, (*path, key)) for key, part in pairs])


def unserved(value: Any) -> UnservedType:
    """Return the type of what compiled code cannot read, in words."""
    t = type(value)
    if t is ndarray:
        return UnservedType(f"an array of {value.dtype} with {value.ndim} axes")
    return UnservedType(f"a value of type {t.__name__}")


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


def is_key(key: Any) -> bool:
    """Return True for a key that is the same in each call."""
    if type(key) is tuple:
        return all(map(is_key, key))
    return type(key) in KEYS or (issubclass(type(key), Enum) and is_plain_member(key))


def is_plain_member(member: Enum) -> bool:
    """Return True for a member of an enumeration that is found and compared by no one's code."""
    found = in_class(type(member), "__hash__")
    return not answers_itself(member, "__eq__") and (
        found is vars(Enum)["__hash__"] or not answers_itself(member, "__hash__")
    )


def runs_forward(strides: tuple[int, ...]) -> bool:
    """Return True for axes in the order of memory: the last of several writes depends on that."""
    return not strides or (strides[-1] >= 0 and all(map(operator.ge, strides, strides[1:])))


def object_type(o: Any, met: Met, path: Path) -> ObjectType | None:
    """Return the type of a plain instance, or None."""
    t = type(o)
    if t is not SimpleNamespace and not all(c is object or c.__flags__ & HEAP for c in t.__mro__):
        return None
    if not is_one_of(t.__getattribute__, PLAIN_READS) or (
        in_class(t, "__getattr__") is not MISSING
    ):
        return None
    held = instance_dict(o)
    fields = fields_of(o, held)
    if len(fields) > MOST_ATTRIBUTES or (held is not None and id(held) in met):
        return None
    met[id(o)] = path
    if held is not None:
        met[id(held)] = ()
    types = parts_of(fields.items(), met, path)
    attributes = tuple(
        [
            (name, UnservedType("an attribute of the class") if is_taken(t, name) else part)
            for name, part in zip(fields, types, strict=True)
        ]
    )
    return ObjectType(weakref.ref(t), is_one_of(t.__setattr__, PLAIN_WRITES), attributes)


def is_plain_object(value: Any) -> bool:
    """Return True for an instance of a class of the program's that is read by its attributes."""
    t = type(value)
    if not t.__flags__ & HEAP or is_known(value) or issubclass(t, tuple | list | dict):
        return False
    if package_of(t) in LIBRARIES or package_of(t) in sys.stdlib_module_names:
        return False
    return isinstance(type_of(value), ObjectType)


def fields_of(o: Any, held: Any) -> dict[str, Any]:
    """Return the attributes that an instance keeps, in its dict or in slots."""
    if type(held) is dict and not slots(type(o)):
        return held
    names = [slot.__name__ for slot in slots(type(o))]
    found = {name: getattr(o, name) for name in dict.fromkeys(names) if hasattr(o, name)}
    return found | (held if type(held) is dict else {})


def is_taken(cls: type, name: str) -> bool:
    """Return True if something in a class comes before what the instance holds."""
    found = in_class(cls, name)
    return found is not MISSING and overrides(found) and type(found) is not MemberDescriptorType


def is_one(type_: Type) -> bool:
    """Return True for an argument that is one number or array."""
    return isinstance(type_, NumberType | ArrayType) and width(type_) == 1


def width(type_: Type) -> int:
    """Return how many numbers and arrays are in an argument."""
    if isinstance(type_, TupleType | DictType):
        return sum(map(width, type_.items))
    if isinstance(type_, NumberType) and type_.name in COMPLEX_TYPES:
        return 2
    if isinstance(type_, RowsType):
        return len([*leaves_in(type_.form)]) + 1
    return 0 if isinstance(type_, EMPTY) else 1
