"""The fields of an object: its ``__dict__`` and its slots, read and set without its methods."""

from __future__ import annotations

from contextlib import suppress
from types import FunctionType, MemberDescriptorType
from typing import Any

from mooncake_py.remembered import remembered

__all__ = ["instance_dict", "own_attributes", "set_own_attributes", "slots"]


WITHOUT_DICT = frozenset({list, tuple, dict, set, frozenset})


def own_attributes(value: Any) -> dict[Any, Any]:
    """Return the values in the ``__dict__`` and slots of an object; slots by their descriptor."""
    held = instance_dict(value)
    held = held if type(held) is dict else {}
    if has_dicts_only(type(value)):
        return held.copy()
    fields: dict[Any, Any] = {}
    for slot in slots(type(value)):
        with suppress(AttributeError):  # a slot without a value
            fields[slot] = slot.__get__(value, type(value))
    return fields | held


def instance_dict(value: Any) -> Any:
    """Return the ``__dict__`` of an object, past Python methods of its class; None if it has none.

    Classes in C may keep it elsewhere: a ``threading.local`` has one for each thread.
    """
    if type(value) in WITHOUT_DICT:
        return None  # at once: to ask takes an exception
    read: Any = type(value).__getattribute__
    if type(read) is FunctionType:
        read = next(
            found
            for base in type(value).__mro__
            if type(found := base.__dict__.get("__getattribute__", read)) is not FunctionType
        )
    try:
        return read(value, "__dict__")
    except AttributeError:
        return None


def slots(t: type) -> list[Any]:
    """Return the descriptors of a class's slots, those of private names too."""
    return (
        []
        if has_dicts_only(t)
        else [
            entry
            for base in t.__mro__
            if "__slots__" in base.__dict__
            for entry in base.__dict__.values()
            if type(entry) is MemberDescriptorType
        ]
    )


@remembered
def has_dicts_only(t: type) -> bool:
    """Return whether no class among the bases of one has slots."""
    return not any("__slots__" in base.__dict__ for base in t.__mro__)


def set_own_attributes(value: Any, fields: dict[Any, Any]) -> None:
    """Set what :func:`own_attributes` returned, past every method of the class."""
    for name, part in fields.items():
        if type(name) is MemberDescriptorType:
            name.__set__(value, part)
        else:
            instance_dict(value)[name] = part
