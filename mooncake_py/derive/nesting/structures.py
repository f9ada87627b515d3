"""Numbers and arrays in tuples, lists and dicts: apart, and together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.recording.activity import INERT
from mooncake_py.errors import NestedDerivativeError

__all__ = ["is_leaf", "leaves", "mapped", "rebuilt", "unit"]


def is_leaf(value: Any) -> bool:
    """Tell whether a value is a number or an array that can carry a derivative."""
    if type(value) is ndarray:
        return value.dtype.kind in "fc"
    return type(value) is Active or isinstance(value, (float, complex, np.inexact))


def leaves(value: Any, *, others: bool = False) -> list[Any]:
    """Return the numbers and arrays in a value, in order."""
    found: list[Any] = []
    mapped(found.append, value, others=others)
    return found


def unit(leaf: Any, i: int) -> Any:
    """Return a unit vector like a number or an array; an empty array has none."""
    if not isinstance(leaf, ndarray):
        return 1.0
    one = np.zeros(leaf.shape, leaf.dtype)
    one.reshape(-1)[i : i + 1] = 1.0
    return one


def rebuilt(value: Any, parts: list[Any], *, others: bool = False) -> Any:
    """Return a value with other numbers and arrays, taken in order from `parts`."""
    rest = iter(parts)
    return mapped(lambda leaf: next(rest), value, others=others)


def mapped(f: Callable[[Any], Any], value: Any, *, others: bool = False) -> Any:
    """Apply a function to the numbers and arrays in a value; return the new value.

    Raises
    ------
    NestedDerivativeError
        If they are in anything else than tuples, lists and dicts, unless `others` pass as they
        are.
    """
    t = type(value)
    if is_leaf(value):
        return f(value)
    if t is list or t is tuple:
        return t([mapped(f, part, others=others) for part in value])
    if t is dict:
        return {key: mapped(f, part, others=others) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return t(*[mapped(f, part, others=others) for part in value])
    if others or t in INERT or isinstance(value, (ndarray, np.generic)) or callable(value):
        return value
    raise NestedDerivativeError(
        f"a {t.__name__} goes through a derivative inside another one",
        why="through derivatives inside others go numbers, arrays, tuples, lists and dicts only",
        mend="pass the arrays of the object and rebuild it inside",
    )
