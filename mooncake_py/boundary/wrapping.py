"""Classes, modules, descriptors, weak references and weak collections that leave a call.

A class cannot be copied without running code: its changes stay made if the call has made it.  The
others are remade around copies of what they hold, if that has changed.
"""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Iterable
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.state import CHANGERS_OF_CLASSES
from mooncake_py.remembered import remembered
from mooncake_py.runtime.classes import (
    class_parts,
    hand_over,
    is_imported,
    is_made_by,
    made_inside,
)
from mooncake_py.runtime.classes import leads as may_lead
from mooncake_py.tangents.fields import own_attributes, set_own_attributes

if TYPE_CHECKING:
    from mooncake_py.boundary.outgoing import Copier

__all__ = ["COPIED", "copied_as", "keep_class"]


def keep_class(copier: Copier, cls: type) -> type:
    """Return a class; if the call has made it, with its changes made for good."""
    if id(cls) in copier.memo or not is_of_call(copier, cls):
        return cls
    copier.remember(cls, cls)
    for base in (type(cls), *cls.__mro__[1:]):
        keep_class(copier, base)
    held = class_parts(cls)
    new = copier.hidden(cls, lambda: copies_of(copier, held))
    copier.changes.keep(cls)
    hand_over(cls, copier.ctx.receiver)
    for name, part in new.items():
        if part is not held[name]:
            type.__setattr__(cls, name, part)
    for ctx in list(CHANGERS_OF_CLASSES):
        ctx.forget_lookups()
    return cls


def is_of_call(copier: Copier, cls: type) -> bool:
    """Return whether a call has made a class, and has not only changed it.

    One that code in C has made, where it went unnoticed, is known by what is active in it.
    """
    if made_inside.found and is_made_by(copier.ctx, cls):
        return True
    return (
        may_lead(cls)
        and id(cls) not in copier.changes.changed()
        and copier.ctx.contains_active(class_parts(cls))
    )


def copies_of(copier: Copier, held: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a dict, with copies of those that are not the same after the call."""
    return {name: copier.copy(part) if leads(copier, part) else part for name, part in held.items()}


def leads(copier: Copier, part: Any) -> bool:
    """Return whether a value leads to something active, or to what the end of the call undoes."""
    return copier.changes.reach(part) or copier.ctx.contains_active(part)


def copied_module(copier: Copier, module: ModuleType) -> Any:
    """Copy a module that nobody can import."""
    held = vars(module)
    if is_imported(module) or not leads(copier, module):
        return copier.remember(module, module)
    new = copier.remember(module, ModuleType.__new__(type(module)))
    vars(new).update(copier.hidden(module, lambda: copies_of(copier, held)))
    return new


def copied_wrapper(copier: Copier, value: Any, make: Callable[[list[Any]], Any]) -> Any:
    """Make a new wrapper around copies of the wrapped objects."""
    if not leads(copier, value):
        return copier.remember(value, value)
    attributes = own_attributes(value)
    held: Iterable[Any] = wrapped_by(value)
    parts, fields = copier.hidden(
        value, lambda: (list(map(copier.copy, held)), copier.copied(attributes))
    )
    new = copier.remember(value, make(parts))
    if fields:
        vars(new).update(fields)
    return new


def wrapped_by(value: Any) -> list[Any]:
    """Return the objects that make up a descriptor or a function in C."""
    if issubclass(type(value), property):
        return [value.fget, value.fset, value.fdel, value.__doc__]
    return [value.__wrapped__]


def copied_slice(copier: Copier, value: slice) -> slice:
    """Copy a slice."""
    old = value.start, value.stop, value.step
    new = tuple(map(copier.copy, old))
    return value if all(map(operator.is_, old, new)) else slice(*new)


def kept_member(copier: Copier, member: Enum) -> Enum:
    """Return a member of an enumeration; if the call has made it, with its attributes."""
    cls = type(member)
    if not leads(copier, member):
        return copier.remember(member, member)
    if id(cls) not in copier.memo:  # it is not of the call
        return copier.same(member)
    copier.remember(member, member)
    copier.changes.keep(member)
    fields = own_attributes(member)
    set_own_attributes(member, copier.hidden(member, lambda: copier.copied(fields)))
    return member


def copied_property(copier: Copier, value: property) -> Any:
    """Copy a property."""
    return copied_wrapper(copier, value, lambda parts: type(value)(*parts))


def copied_method(copier: Copier, value: Any) -> Any:
    """Copy a static method or a class method."""
    return copied_wrapper(copier, value, lambda parts: type(value)(*parts))


def copied_cached(copier: Copier, f: Any) -> Any:
    """Copy a function with a cache, which is empty in the copy."""
    parameters = f.cache_parameters() if hasattr(f, "cache_parameters") else {}
    return copied_wrapper(copier, f, lambda parts: functools.lru_cache(**parameters)(*parts))


def copied_reference(copier: Copier, value: weakref.ref[Any]) -> Any:
    """Copy a weak reference: that of the copy is to the copy of what it is of."""
    target = weakref.ref.__call__(value)
    new: Any = copier.copy(target)
    known = copier.memo.get(id(value))
    if known is not None:  # a cycle led back here
        return known[1]
    if new is target or type(value) is not weakref.ref:  # else made in a way of its own
        return copier.same(value)
    return copier.remember(value, type(value)(new, value.__callback__))


def copied_collection(copier: Copier, value: Any) -> Any:
    """Copy a weak dict or set; what it leads to is kept by other copies, or by none."""
    base: Any = next(base for base in COLLECTIONS if issubclass(type(value), base))
    new = base.__new__(type(value))
    base.__init__(new)
    copier.remember(value, new)
    own = {n: v for n, v in vars(value).items() if n not in vars(new)}
    vars(new).update(copier.copied(own))
    if base is weakref.WeakSet:
        for item in list(base.__iter__(value)):
            base.add(new, copier.copy(item))
    else:
        for key, item in list(base.items(value)):
            base.__setitem__(new, copier.copy(key), copier.copy(item))
    return new


COLLECTIONS = (weakref.WeakValueDictionary, weakref.WeakKeyDictionary, weakref.WeakSet)
COPIED: dict[type, Callable[[Any, Any], Any]] = {
    type: keep_class,
    Enum: kept_member,
    slice: copied_slice,
    ModuleType: copied_module,
    property: copied_property,
    **dict.fromkeys((staticmethod, classmethod), copied_method),
    type(functools.lru_cache(len)): copied_cached,
    weakref.ref: copied_reference,
    **dict.fromkeys(COLLECTIONS, copied_collection),
}
"""How instances of these classes, and of those derived from them, are copied."""


@remembered
def copied_as(cls: type) -> Callable[[Any, Any], Any] | None:
    """Return how instances of a class are copied by this table, or None."""
    return next((copied for base, copied in COPIED.items() if issubclass(cls, base)), None)
