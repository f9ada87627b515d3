"""What the equality of an object goes by: numbers in it, or nothing that may be active.

A cached function finds a result for an equal argument.  Its derivative is that of the result if
the two are equal whatever the active numbers are, as where a class compares names.
"""

from __future__ import annotations

import builtins
import dis
from collections import deque
from collections.abc import Iterator
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

from mooncake_py.containers import effects
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
    "may_differ",
]

FILLED = (list, tuple, dict)
EQUAL_BY_PARTS = (list.__eq__, tuple.__eq__, deque.__eq__)

UNKNOWN = object()
"""Something active that an equality may go by."""
BY_THEMSELVES = INERT | {Active, MethodType}
DEEP = 8
NOT_COMPARING = frozenset({
    "__class_getitem__", "__delattr__", "__init__", "__init_subclass__", "__new__",
    "__post_init__", "__repr__", "__set_name__", "__setattr__", "__str__",
})  # fmt: skip
SEEN_THROUGH = frozenset({
    "NotImplemented", "abs", "all", "any", "bool", "float", "frozenset", "hash", "id", "int",
    "isinstance", "len", "list", "max", "min", "round", "set", "sorted", "sum", "tuple", "type",
    "zip",
})  # fmt: skip
"""Builtins that find no attributes by themselves."""


IN_C = frozenset({MemberDescriptorType, WrapperDescriptorType, MethodDescriptorType, type(None)})
"""Types of members of classes that run no code of the program."""
Names = frozenset[str] | None
"""Names of attributes; None stands for any."""


class Compared(NamedTuple):
    """An object, and what may be active in what its equality goes by."""

    value: Any
    parts: tuple[Any, ...]
    by_parts: bool  # or code of the program decides


def compared(ctx: Mode, value: Any, depth: int = 0) -> Any:
    """Return an argument, with `Compared` for objects that equal others by active numbers."""
    t = type(value)
    if t in BY_THEMSELVES or (t.__eq__ is object.__eq__ and t.__hash__ is object.__hash__):
        return value
    if t is tuple and depth < DEEP:
        return tuple([compared(ctx, part, depth + 1) for part in value])
    effects.refuse_writers(ctx, (value,), effects.HASHING)  # they run unseen
    if t.__eq__ is object.__eq__ or not ctx.contains_active(value):
        return value
    if depth > DEEP:
        return UNKNOWN
    parts = compared_parts(value)
    if parts is not None:
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
                return None  # a descriptor of another kind, or a default that may be one
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
    for step in dis.get_instructions(f.__code__):
        if step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            names.add(step.argval)
        elif step.opname == "LOAD_GLOBAL":
            builtin = vars(builtins).get(step.argval)
            found = f.__globals__.get(step.argval, builtin)
            is_known = type(found) in (type, ModuleType)
            if not (step.argval in SEEN_THROUGH if found is builtin else is_known):
                return None
        elif step.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", "MAKE_FUNCTION", "IMPORT_NAME"):
            return None
    return frozenset(names)
