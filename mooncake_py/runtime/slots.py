"""The functions in C behind Python's operators: which of them a class has."""

from __future__ import annotations

from types import FunctionType, WrapperDescriptorType
from typing import Any

import numpy as np

from mooncake_py.runtime.attribute_lookup import MISSING, in_class
from mooncake_py.runtime.operators import BinaryOperator

__all__ = [
    "GENERIC", "is_class_in_c", "is_in_c", "is_of_sequences", "owner_of_sequence", "slot_of",
    "type_name",
]  # fmt: skip

GENERIC: Any = type("Generic", (), {"__repr__": lambda self: "GENERIC"})()
"""The slot of all classes that define an operator in Python: it calls their methods."""
HEAP, IMMUTABLE = 1 << 9, 1 << 8


def slot_of(cls: type, op: BinaryOperator) -> Any:
    """Return `GENERIC`, the class in C whose slot a class has, or None if it has none."""
    forward = in_class(cls, op.method)
    if type(forward) is FunctionType:
        return GENERIC
    reflected = in_class(cls, op.reflected)
    if forward is MISSING and reflected is MISSING:
        return None
    if is_in_c(cls, op.method, forward):
        owner, reflects = forward.__objclass__, is_in_c(cls, op.reflected, reflected)
        if is_of_sequences(owner, op) and (reflected is MISSING or reflects):
            return None
        if reflects and reflected.__objclass__ is owner:
            return None if is_taken_away(owner, op) else owner
    return GENERIC


def is_taken_away(owner: type, op: BinaryOperator) -> bool:
    """Return whether NumPy has taken a slot from complex scalars, which still have the methods."""
    return op.name in ("mod", "floordiv", "divmod") and issubclass(owner, np.complexfloating)


def is_in_c(cls: type, name: str, method: Any) -> bool:
    """Return whether a special method is that of a base class in C, and runs its slot.

    Python calls it as any other method under another name, or in an unrelated class.
    """
    return (
        type(method) is WrapperDescriptorType
        and method.__name__ == name
        and issubclass(cls, method.__objclass__)
    )


def is_of_sequences(owner: type, op: BinaryOperator) -> bool:
    """Return whether a class in C concatenates or repeats its instances by this operator.

    These are slots of their own, which Python asks after those of numbers.
    """
    names = owner.__dict__
    return op.name in ("add", "mul") and "__add__" in names and "__radd__" not in names


def owner_of_sequence(cls: type, op: BinaryOperator, *names: str) -> Any:
    """Return the class in C by which instances of a class are concatenated or repeated.

    None if the class has methods in Python in the place, or is none of sequences.
    """
    methods = [in_class(cls, name) for name in names]
    if not all(is_in_c(cls, *named) for named in zip(names, methods, strict=True)):
        return None
    owner = methods[0].__objclass__
    return owner if is_of_sequences(owner, op) else None


def is_class_in_c(cls: type) -> bool:
    """Return whether a class is written in C: one in Python can be changed."""
    return not cls.__flags__ & HEAP or bool(cls.__flags__ & IMMUTABLE)


def type_name(cls: type) -> str:
    """Return the name of a class in CPython's errors: those in C have that of their module."""
    if is_class_in_c(cls) and cls.__module__ != "builtins":
        return f"{cls.__module__}.{cls.__name__}"
    return cls.__name__
