"""The plain numbers and strings of instances of subclasses, without calling methods of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.runtime.active import Active, plain_class
from mooncake_py.runtime.values import NUMBERS

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["exact", "number_of_python"]

KINDS: tuple[Any, ...] = (float, complex, int)
OF_PYTHON = frozenset({bool, int, float, complex})


def number_of_python(ctx: Mode, value: Any) -> Any:
    """Return the number of Python's that a number is, such as ``float.__add__`` takes it for."""
    cls = plain_class(value)
    if cls in OF_PYTHON:
        return value
    kind = next(kind for kind in KINDS if issubclass(cls, kind))
    return ctx.call(kind, value) if type(value) is Active else kind.__pos__(value)


def exact(value: Any) -> Any:
    """Return the number or the text of Python's or NumPy's that an instance of a subclass is.

    Anything else is returned as it is.
    """
    cls = type(value)
    if cls is Active or cls in NUMBERS:
        return value
    if issubclass(cls, str):
        return str.__str__(value)
    if issubclass(cls, bytes):
        return bytes.__add__(value, b"")
    if issubclass(cls, np.generic):
        kind: Any = next((base for base in cls.__mro__ if base in NUMBERS), None)
    else:
        kind = next((kind for kind in KINDS if issubclass(cls, kind)), None)
    return value if kind is None else kind.__pos__(value)
