"""Values as bits, to be compared later; and whether memory is shared."""

from __future__ import annotations

import dataclasses
import types
from collections import deque
from typing import Any

import numpy as np

from mooncake_py.jitted import is_jitted
from mooncake_py.tangents.bits import bits_of
from mooncake_py.tangents.contents import elements_of, plain_dict

__all__ = ["Unknown", "arrays_of", "is_filled", "numbers_of", "snapshot"]

INERT = (
    str, bytes, int, bool, type(None), np.integer, np.bool_, type, slice, range, np.dtype,
    types.ModuleType, np.ufunc, types.BuiltinFunctionType,
)  # fmt: skip


class Unknown(Exception):
    """A value of a type that has no snapshot."""


def snapshot(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return something equal for two values exactly if all that they hold agrees bit for bit."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise Unknown
        return type(value).__name__, value.dtype.str, value.shape, bits_of(value)
    if isinstance(value, (float, complex, np.inexact)):
        return type(value).__name__, bits_of(np.asarray(value))
    if isinstance(value, INERT):
        return repr(value)
    if id(value) in above:
        return "cycle", len(above) - above.index(id(value))
    above = (*above, id(value))
    if isinstance(value, dict):
        return type(value).__name__, {k: snapshot(v, above) for k, v in plain_dict(value).items()}
    if isinstance(value, (list, tuple, deque)):
        return type(value).__name__, [snapshot(v, above) for v in elements_of(value)]
    return type(value).__name__, {k: snapshot(v, above) for k, v in fields_of(value).items()}


def fields_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, also those in slots and captured variables."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
    if is_jitted(value):  # what else it holds changes as it compiles
        return {"py_func": value.py_func}
    cells = getattr(value, "__closure__", None)
    if cells:
        return {str(i): cell.cell_contents for i, cell in enumerate(cells) if is_filled(cell)}
    if hasattr(value, "_fields") and isinstance(value._fields, dict):  # a tangent
        return value._fields
    found = {
        name: getattr(value, name)
        for kind in type(value).__mro__
        for name in slots_of(kind)
        if hasattr(value, name)
    }
    return {**found, **getattr(value, "__dict__", {})}


def slots_of(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(s for s in slots if s[:2] != "__")


def is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def arrays_of(value: Any) -> list[np.ndarray]:
    """Return the arrays in a value."""
    return [part for part in numbers_of(value) if isinstance(part, np.ndarray)]


def numbers_of(value: Any, above: tuple[int, ...] = ()) -> list[Any]:
    """Return the floats, complex numbers and arrays in a value."""
    if isinstance(value, (np.ndarray, float, complex, np.inexact)):
        return [value]
    if isinstance(value, INERT) or id(value) in above:
        return []
    above = (*above, id(value))
    if isinstance(value, dict):
        parts: Any = plain_dict(value).values()
    elif isinstance(value, (list, tuple, deque)):
        parts = elements_of(value)
    else:
        parts = fields_of(value).values()
    return [a for part in parts for a in numbers_of(part, above)]
