"""The basis of an object's equality: numbers in it, or nothing that may be active.

A dict finds a value for an equal key, and a cached function a result for an equal argument.  Its
derivative is that of the value found if the two are equal whatever the active numbers are, as where
a class compares names.
"""

from __future__ import annotations

import builtins
import dis
import operator
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import fields
from types import (
    FunctionType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ReferenceType

from mooncake_py.containers import effects
from mooncake_py.containers.state import old_cell
from mooncake_py.containers.undo import PLAIN
from mooncake_py.remembered import remembered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.attribute_lookup import MISSING, in_class
from mooncake_py.runtime.methods import is_generated
from mooncake_py.runtime.slots import is_class_in_c
from mooncake_py.tangents.contents import elements_of
from mooncake_py.tangents.fields import own_attributes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "BY_THEMSELVES",
    "FILLED",
    "UNKNOWN",
    "Compared",
    "compared",
    "compared_parts",
    "holds_numbers",
    "is_same",
    "may_differ",
]

FILLED = (list, tuple, dict)
SETS = (set, frozenset)
EQUAL_BY_PARTS = (list.__eq__, tuple.__eq__, deque.__eq__)

UNKNOWN = object()
"""Something active that an equality may go by."""
BY_THEMSELVES = INERT | {Active, MethodType}
DEEP = 8
NOT_COMPARING = frozenset({
    "__class_getitem__", "__delattr__", "__init__", "__init_subclass__", "__new__",
    "__post_init__", "__replace__", "__repr__", "__set_name__", "__setattr__", "__str__",
})  # fmt: skip
SEEN_THROUGH = frozenset({
    "NotImplemented", "abs", "all", "any", "bool", "float", "frozenset", "hash", "id", "int",
    "isinstance", "len", "list", "max", "min", "round", "set", "sorted", "sum", "tuple", "type",
    "zip",
})  # fmt: skip
"""Builtins that find no attributes by themselves."""


IN_C = frozenset({MemberDescriptorType, WrapperDescriptorType, MethodDescriptorType, *PLAIN})
"""Types of members of classes that run no code of the program."""
Names = frozenset[str] | None
"""Names of attributes; None stands for any."""


class Compared(NamedTuple):
    """An object, and what may be active in what its equality goes by."""

    value: Any
    parts: tuple[Any, ...]
    by_parts: bool  # or code of the program decides


def compared(ctx: Mode, value: Any, depth: int = 0) -> Any:
    """Return a value, with `Compared` for objects that equal others by active numbers."""
    t = type(value)
    if t in BY_THEMSELVES or (t.__eq__ is object.__eq__ and t.__hash__ is object.__hash__):
        return value
    if t is tuple and depth < DEEP:
        return tuple([compared(ctx, part, depth + 1) for part in value])
    if issubclass(t, ReferenceType):
        return compared(ctx, value(), depth + 1)
    effects.refuse_writers(ctx, (value,), effects.HASHING)  # they run unseen
    if t.__eq__ is object.__eq__ or not ctx.contains_active(value):
        return value
    if depth > DEEP:
        return UNKNOWN
    parts = list(value) if t in SETS else compared_parts(value)
    if parts is not None:
        parts = [*parts, *parts.values()] if type(parts) is dict else parts
        return Compared(value, tuple([compared(ctx, part, depth + 1) for part in parts]), True)
    found = tuple(active_in(ctx, value, frozenset(), set()))
    return Compared(value, found, False) if found else value


def compared_parts(value: Any) -> Any:
    """Return a container of what the equality of a class goes by, or None."""
    t = type(value)
    if t in FILLED:
        return value
    if t.__eq__ in EQUAL_BY_PARTS:
        return list(elements_of(value))
    equal: Any = t.__eq__
    if hasattr(t, "__dataclass_fields__") and type(equal) is FunctionType and is_generated(equal):
        return [getattr(value, field.name) for field in fields(value) if field.compare]
    return None


def may_differ(value: Any) -> bool:
    """Return whether code of the program has compared active numbers."""
    if type(value) is Compared:
        return not value.by_parts or may_differ(value.parts)
    return value is UNKNOWN or (type(value) is tuple and any(map(may_differ, value)))


def holds_numbers(value: Any) -> bool:
    """Return whether the equality of a compared value goes by active numbers, or may do so."""
    t = type(value)
    return (
        t is Active
        or t is Compared
        or value is UNKNOWN
        or (t is tuple and any(map(holds_numbers, value)))
    )


def is_same(a: Any, b: Any, are_one: Callable[[Any, Any], bool] = operator.is_) -> bool:
    """Return whether two equal values, as compared, are one as far as the derivative goes.

    Parameters
    ----------
    are_one : callable
        Whether two equal numbers, one of them active at least, have one derivative.
    """
    if type(a) is Compared or type(b) is Compared:
        if type(a) is type(b) and a.value is b.value:
            return True
        a, b = (v.parts if type(v) is Compared else v for v in (a, b))
        return type(a) is type(b) and is_same(a, b, are_one)
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(is_same(x, y, are_one) for x, y in zip(a, b, strict=True))
    if type(a) is Active or type(b) is Active:
        return are_one(a, b)
    return a is not UNKNOWN and b is not UNKNOWN


def active_in(ctx: Mode, value: Any, names: Names, seen: set[int]) -> Iterator[Any]:
    """Yield the active numbers that code reads which names these attributes.

    `UNKNOWN` stands for others that it may read.
    """
    t = type(value)
    if t is Active:
        yield value
    elif t in BY_THEMSELVES or id(value) in seen:
        return
    elif t is tuple:
        for part in value:
            yield from active_in(ctx, part, names, seen)
    elif names is None or any(map(is_class_in_c, t.__mro__[:-1])):
        if ctx.contains_active(value):
            yield UNKNOWN
    else:
        seen.add(id(value))
        read = names_read(t, names)
        held = {getattr(k, "__name__", k): part for k, part in own_attributes(value).items()}
        for name in sorted(held):
            if read is None or name in read:
                yield from active_in(ctx, held[name], read, seen)


def names_read(cls: type, names: frozenset[str]) -> Names:
    """Return the names of attributes that are read by methods of these names, and by comparing."""
    methods = list(special_methods(cls))
    new, found = set(names), set(names)
    while new or methods:
        for name in new:
            member = in_class(cls, name)
            member = member.fget if type(member) is property else member
            if type(member) is FunctionType:
                methods.append(member)
            elif member is not MISSING and type(member) not in IN_C:
                return None  # a descriptor of another kind, or an object that may be one
        new = set()
        for method in methods:
            read = names_in(method)
            if read is None:
                return None
            new |= read - found
        methods = []
        found |= new
    return frozenset(found)


@remembered
def special_methods(cls: type) -> tuple[FunctionType, ...]:
    """Return the methods in Python that run by themselves as instances are compared."""
    if cls.__eq__ is object.__eq__ and cls.__hash__ is object.__hash__:
        return ()
    return tuple([
        method
        for base in cls.__mro__
        for name, method in base.__dict__.items()
        if name.startswith("__") and name not in NOT_COMPARING and type(method) is FunctionType
    ])  # fmt: skip


@remembered
def names_in(f: FunctionType) -> Names:
    """Return the names of attributes in the code of a function; None if it may find others."""
    if f.__name__ in ("__getattr__", "__getattribute__"):
        return None
    names: set[str] = set()
    captured = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    for step in dis.get_instructions(f.__code__):
        if step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            names.add(step.argval)
        elif step.opname == "LOAD_GLOBAL":
            builtin = vars(builtins).get(step.argval)
            found = f.__globals__.get(step.argval, builtin)
            is_known = type(found) in (type, ModuleType)
            if not (step.argval in SEEN_THROUGH if found is builtin else is_known):
                return None
        elif step.opname == "LOAD_DEREF" and step.argval in captured:
            if type(old_cell(captured[step.argval])) not in (type, ModuleType):
                return None
        elif step.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", "MAKE_FUNCTION", "IMPORT_NAME"):
            return None
    return frozenset(names)
