"""Comparisons of objects without running code of the program's: whether two are one."""

from __future__ import annotations

from types import BuiltinFunctionType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any

import numpy as np

__all__ = ["are_one", "never_changes"]

DATA = frozenset({NoneType, EllipsisType, bool, int, float, str, bytes})
UNCHANGING = type, ModuleType, FunctionType, BuiltinFunctionType, np.ufunc, np.dtype
COMPARED = frozenset({int, str, bytes, range})


def are_one(a: Any, b: Any) -> bool:
    """Return True for one object, and for equal strings, ints and tuples of such.

    Nothing else is asked whether it is equal: that may run code of the program's.
    """
    if a is b:
        return True
    t = type(a)
    if t is not type(b):
        return False
    if t is tuple:
        return len(a) == len(b) and all(map(are_one, a, b))
    return t in COMPARED and a == b


def never_changes(value: Any) -> bool:
    """Return True for what is equal to the same things in each call, and true or not; no list is.

    A tuple of such is, too.
    """
    items = value if type(value) is tuple else (value,)
    return all(type(item) in DATA or issubclass(type(item), UNCHANGING) for item in items)
