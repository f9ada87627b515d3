"""Attributes that are not among those which an object, or a class, holds in its dict and slots.

Classes in C keep theirs elsewhere: ``f.__defaults__``, ``error.args``, ``o.__class__``, and the
shape of an array.  Of the special attributes of a class, Python has some there itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.remembered import remembered

__all__ = ["OF_RAISED", "are_among", "names_in_c", "stands_apart"]

OF_RAISED = frozenset({"__cause__", "__context__", "__suppress_context__", "__traceback__"})
"""The attributes that Python sets on an exception as it is raised; one may change another."""
OF_ARRAYS = frozenset({*dir(np.empty(0).flags), "names"})
"""Of the flags of an array, and of its dtype."""


@remembered
def names_in_c(t: type) -> frozenset[str]:
    """Return the names of the attributes that classes in C keep of the instances of a class."""
    names = {name for base in t.__mro__ for name in vars(base)}
    found = frozenset(name for name in names if is_kept_in_c(t, name))
    return found | OF_ARRAYS if issubclass(t, ndarray) else found


def is_kept_in_c(t: type, name: str) -> bool:
    """Return whether a class in C keeps an attribute of the instances of a class."""
    base = next(base for base in t.__mro__ if name in vars(base))
    is_slot = "__slots__" in vars(base) and type(vars(base)[name]) is MemberDescriptorType
    return type(vars(base)[name]) in (GetSetDescriptorType, MemberDescriptorType) and not is_slot


def is_special(name: str) -> bool:
    """Return whether a class does not hold an attribute among those of the program."""
    return name.startswith("__") and name not in OF_RAISED


def stands_apart(o: Any, name: str) -> bool:
    """Return whether an attribute is not among those of an object's dict and slots."""
    return name in names_in_c(type(o)) or (isinstance(o, type) and is_special(name))


def are_among(names: Set[str], values: Iterable[Any]) -> bool:
    """Return whether any of the names is that of such an attribute of any of the values."""
    kinds = set(map(type, values))
    if any(issubclass(t, type) for t in kinds) and any(map(is_special, names)):
        return True
    return any(not names.isdisjoint(names_in_c(t)) for t in kinds)
