"""Take numbers and arrays out of tuples, lists and dicts, and put them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.active import Active

__all__ = ["gathered", "is_leaf", "leaves", "mapped", "rebuilt", "unit"]


def is_leaf(value: Any) -> bool:
    """Return whether a value is a number or an array that can carry a derivative."""
    if type(value) is ndarray:
        return value.dtype.kind in "fc"
    return type(value) is Active or issubclass(type(value), (float, complex, np.inexact))


def leaves(value: Any) -> list[Any]:
    """Return the numbers and arrays in a value, in order."""
    found: list[Any] = []
    mapped(found.append, value)
    return found


def unit(leaf: Any, i: int) -> Any:
    """Return a unit vector like a number or an array; an empty array has none."""
    if not issubclass(type(leaf), ndarray):
        return 1.0
    one = np.zeros(leaf.shape, leaf.dtype)
    one.reshape(-1)[i : i + 1] = 1.0
    return one


def rebuilt(value: Any, parts: list[Any]) -> Any:
    """Return a value with other numbers and arrays, taken in order from `parts`."""
    rest = iter(parts)
    return mapped(lambda leaf: next(rest), value)


def mapped(f: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to the numbers and arrays in tuples, lists and dicts; return the new value.

    What is neither stays as it is.
    """
    t = type(value)
    if is_leaf(value):
        return f(value)
    if t is list or t is tuple:
        return t([mapped(f, part) for part in value])
    if t is dict:
        return {key: mapped(f, part) for key, part in value.items()}
    if issubclass(type(value), tuple) and hasattr(type(value), "_fields"):
        return t(*[mapped(f, part) for part in tuple.__iter__(value)])
    return value


def gathered(slopes: list[Any], kind: type, shape: Any, dtype: Any) -> Any:
    """Return the gradient of a number or an array from derivatives along its real numbers.

    These are numbers, or arrays of one element; for a complex number that along 1, then that along
    i.
    """
    numbers = np.array([np.sum(slope) for slope in slopes])
    if issubclass(kind if shape is None else dtype.type, (complex, np.complexfloating)):
        numbers = numbers[0::2] + 1j * numbers[1::2]
    return kind(numbers[0]) if shape is None else numbers.reshape(shape).astype(dtype)
