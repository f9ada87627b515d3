"""Functions that ask what an object is, and read or bind an attribute by its name.

    isinstance(p, Heat)         true or false: the class of a value is known while it is read
    getattr(self, "rate")       self.rate

What a class decides by code of its own is left.
"""

from __future__ import annotations

import abc
import collections.abc
import numbers
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Choice,
    ComplexNumber,
    Dictionary,
    Function,
    Known,
    Number,
    Object,
    Partial,
    Picked,
    Slice,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.reading import of_choices
from mooncake_py.compiler.native.reading.comparisons import joined
from mooncake_py.compiler.native.reading.constants import is_data
from mooncake_py.compiler.native.reading.held import held, read_held
from mooncake_py.compiler.regions.ir import Const, Expr
from mooncake_py.runtime.attribute_lookup import MISSING, in_class

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["INSPECTING", "class_of", "is_instance"]

TYPES: dict[str, type] = {
    "bool": bool, "int": int, "float": float, "bool_": np.bool_, "int64": np.int64,
    "float32": np.float32, "float64": np.float64,
}  # fmt: skip
VARYING = "bool", "int", "float", "float32", "float64"
ABSTRACT = frozenset({numbers.__name__, collections.abc.__name__, "abc"})
Given = Mapping[str, Value]


def class_of(r: ExpressionReader, value: Value) -> type:
    """Return the class of a value."""
    match value:
        case Number(type=name, rank=None):
            return TYPES[name]
        case ComplexNumber(re=re) if re.rank is None:
            return complex if re.type == "float" else np.complex128
        case Picked():
            pass
        case Array():
            return np.ndarray
        case Deque():
            return collections.deque
        case Tuple(is_list=is_list, cls=cls):
            return cls or (list if is_list else tuple)
        case Cells() | Stack():
            return list
        case Dictionary(cls=cls):
            return cls
        case Object(cls=cls):
            return cls
        case Function():
            return FunctionType
        case Slice():
            return slice
        case Known(value=found):
            return type(found)
    raise Unfit(f"the type of {said(value)}, which is known only when it runs", r.b.place)


def is_instance(r: ExpressionReader, value: Value, of: Value) -> bool:
    """Return whether a value is an instance of a class, or of one of some classes."""
    if isinstance(value, Number) and value.rank is not None:
        found = {is_subclass(r, TYPES[name], of) for name in VARYING}
        if len(found) == 1:
            return found.pop()
    return is_subclass(r, class_of(r, value), of)


def is_subclass(r: ExpressionReader, cls: type, of: Value) -> bool:
    """Return whether a class is derived from a class, or from one of some classes."""
    if isinstance(of, Tuple) and not of.is_list:
        return any(is_subclass(r, cls, item) for item in of.items)
    other = of.value if isinstance(of, Known) else None
    if other is None or not issubclass(type(other), type):
        raise Unfit(f"`isinstance` for {said(of)}: use a class or a tuple of classes", r.b.place)
    is_base = any(other is base for base in cls.__mro__)  # whatever a metaclass calls equal
    if type(other).__instancecheck__ is type.__instancecheck__:
        return is_base
    if is_base:
        return True
    if type(other) is abc.ABCMeta and other.__module__ in ABSTRACT:
        return issubclass(cls, other)
    if type(other) is abc.ABCMeta and "__subclasshook__" not in defined_in(other):
        return issubclass(cls, other)
    raise Unfit(f"`isinstance` for the class {other.__name__}, which decides it", r.b.place)


def defined_in(cls: type) -> set[str]:
    """Return the names that a class and its bases other than `object` define."""
    return {name for base in cls.__mro__ if base is not object for name in vars(base)}


def has_attribute(r: ExpressionReader, o: Value, name: str) -> bool:
    """Return whether a value has an attribute."""
    match o:
        case Object():
            return r.has_attribute(o, name)
        case Known(value=found) if issubclass(type(found), ModuleType):
            if name in found.__dict__:
                r.scope.of_module(found, name)
                return True
            raise Unfit(f"`hasattr` of the module {found.__name__}", r.b.place)
        case Known(value=found) if issubclass(type(found), type):
            return r.scope.of_class(found, name) is not MISSING or hasattr(type, name)
        case Known(value=found) if is_data(found):
            return hasattr(found, name)
        case Known() | Picked():
            raise Unfit(f"`hasattr` of {said(o)}", r.b.place)
    return hasattr(class_of(r, o), name)


def text(r: ExpressionReader, value: Value, what: str) -> str:
    """Return the name of an attribute."""
    if isinstance(value, Known) and type(value.value) is str:
        return value.value
    raise Unfit(f"`{what}` with a name that is not constant", r.b.place)


# The functions that are called.


def read_type(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
    """Read ``type(x)``."""
    if len(args) != 1:
        raise Unfit("`type` that makes a class: write it as a class statement", r.b.place)
    return Known(class_of(r, args[0]))


def read_isinstance(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
    """Read ``isinstance(x, C)``."""
    x, of = pair(r, args, "isinstance")
    if isinstance(x, Choice):
        return Number(of_choices.test_of(r, x, lambda v: Const(is_instance(r, v, of))), "bool")
    return truth(is_instance(r, x, of))


def read_issubclass(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
    """Read ``issubclass(A, B)``."""
    x, of = pair(r, args, "issubclass")
    if not isinstance(x, Known) or not issubclass(type(x.value), type):
        raise Unfit(f"`issubclass` of {said(x)}: use a class", r.b.place)
    return truth(is_subclass(r, x.value, of))


def read_callable(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
    """Read ``callable(x)``."""
    (x,) = args if len(args) == 1 else (Known(None),)
    match x:
        case Function() | Partial():
            return truth(True)
        case Known(value=found):
            return truth(callable(found))
        case Object():
            return truth(r.scope.of_class(x.cls, "__call__") is not MISSING)
    return truth(in_class(class_of(r, x), "__call__") is not MISSING)


def read_hasattr(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
    """Read ``hasattr(x, name)``."""
    x, name = pair(r, args, "hasattr")
    return truth(has_attribute(r, x, text(r, name, "hasattr")))


def read_getattr(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
    """Read ``getattr(x, name)`` and ``getattr(x, name, default)``."""
    if not 2 <= len(args) <= 3:
        raise Unfit("`getattr` of other than two or three arguments", r.b.place)
    name = text(r, args[1], "getattr")
    if len(args) == 3 and not has_attribute(r, args[0], name):
        return args[2]
    return r.attribute(args[0], name)


def read_setattr(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
    """Read ``setattr(x, name, value)``."""
    if len(args) != 3:
        raise Unfit("`setattr` of other than three arguments", r.b.place)
    r.bind_attribute(args[0], text(r, args[1], "setattr"), args[2])
    return Known(None)


def of_items(op: str) -> Reader:
    """Return the reader of ``all`` or ``any`` of items that are known one by one."""

    def read(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
        (x,) = args if len(args) == 1 else (None,)
        if not isinstance(x, Tuple):
            raise Unfit(
                f"`any` or `all` of {said(x)}: use known items, or np.any and np.all", r.b.place
            )
        tests: list[Expr] = [r.truth(item) for item in x.items]
        return Number(joined(op, tests), "bool")

    return read


def read_bool(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
    """Read ``bool(x)``."""
    if len(args) != 1:
        raise Unfit("`bool` of other than one argument", r.b.place)
    return Number(r.truth(args[0]), "bool")


def by_position(read: Reader) -> Reader:
    """Return a reader that leaves calls with arguments by name, which raise."""

    def read_call(r: ExpressionReader, args: Sequence[Value], given: Given) -> Value:
        if given:
            raise Unfit("a builtin function with keyword arguments, which raises", r.b.place)
        return read(r, args, given)

    return read_call


def pair(r: ExpressionReader, args: Sequence[Value], what: str) -> Sequence[Value]:
    """Return two arguments."""
    if len(args) != 2:
        raise Unfit(f"`{what}` of other than two arguments", r.b.place)
    return args


def truth(value: bool) -> Number:
    """Return a truth that is known."""
    return Number(Const(value), "bool")


Reader = Callable[["ExpressionReader", Sequence[Value], Given], Value]

READERS: dict[Any, Reader] = {
    type: read_type, isinstance: read_isinstance, issubclass: read_issubclass,
    callable: read_callable, hasattr: read_hasattr, getattr: read_getattr, setattr: read_setattr,
    any: of_items("or"), all: of_items("and"), bool: read_bool, held: read_held,
}  # fmt: skip

INSPECTING = {f: by_position(read) for f, read in READERS.items()}
