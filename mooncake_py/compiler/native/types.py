"""The types of arguments for which a function is read."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.jitted import is_jitted
from mooncake_py.runtime.active import Active

__all__ = [
    "ArrayType", "KnownType", "NumberType", "TupleType", "Type", "flattened", "places", "type_of",
]  # fmt: skip

KINDS = {np.dtype("d"): FLOAT, np.dtype("f"): FLOAT32, np.dtype("l"): INT, np.dtype("?"): BOOL}
NUMBERS = {
    float: "float", np.float64: "float64", np.float32: "float32", int: "int", np.int64: "int64",
}  # fmt: skip
FLOATS = float, np.float64, np.float32
LARGE = 1 << 31  # ints below stay exact in sums and products of two


class NumberType(NamedTuple):
    """A number, of any value."""

    name: str


class ArrayType(NamedTuple):
    """An array.

    Attributes
    ----------
    kind : str
    ones : tuple of bool
        Which of its lengths are one: these may be broadcast.
    """

    kind: str
    ones: tuple[bool, ...]


class TupleType(NamedTuple):
    """A tuple."""

    items: tuple[Type, ...]


class KnownType(NamedTuple):
    """One object."""

    type: type  # 1, 1.0 and True are equal
    value: Any


Type = NumberType | ArrayType | TupleType | KnownType


def type_of(value: Any) -> Type | None:
    """Return the type of an argument, or None for what cannot be passed to compiled code."""
    t = type(value)
    if t is Active:
        value = value.primal
        t = type(value)
        return NumberType(NUMBERS[t]) if t in FLOATS else None
    if t is ndarray:
        kind = KINDS.get(value.dtype)
        if kind is None or not value.ndim:
            return None
        return ArrayType(kind, tuple([n == 1 for n in value.shape]))
    if t in NUMBERS:
        if NUMBERS[t] in ("int", "int64") and not -LARGE < value < LARGE:
            return None
        return NumberType(NUMBERS[t])
    if t is tuple:
        items = [type_of(item) for item in value]
        return None if None in items else TupleType(tuple(items))  # type: ignore[arg-type]
    if value is None or t in (bool, str, FunctionType, np.ufunc) or is_jitted(value):
        return KnownType(t, value)
    return None


def places(types: Sequence[Type]) -> list[int | None]:
    """Return for each argument where it is among what is flattened; None if it is not one value."""
    found: list[int | None] = []
    passed = 0
    for type_ in types:
        found.append(passed if isinstance(type_, NumberType | ArrayType) else None)
        passed += width(type_)
    return found


def width(type_: Type) -> int:
    """Return how many numbers and arrays are in an argument."""
    if isinstance(type_, TupleType):
        return sum(map(width, type_.items))
    return 0 if isinstance(type_, KnownType) else 1


def flattened(value: Any, type_: Type) -> list[Any]:
    """Return the numbers and arrays in an argument, in the order of inputs."""
    if isinstance(type_, TupleType):
        pairs = zip(value, type_.items, strict=True)
        return [part for item, t in pairs for part in flattened(item, t)]
    return [] if isinstance(type_, KnownType) else [value]
