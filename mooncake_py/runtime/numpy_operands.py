"""How NumPy sees an operand, by its class: a number or an array, what it converts, what takes over.

NumPy asks in this order, and so does the engine:

1. A class with ``__array_ufunc__`` runs ufuncs itself, or refuses them if that is None; one with
   ``__array_function__`` runs the other functions.
2. NumPy makes an array of numbers, sequences, buffers, and of what has ``__array__``,
   ``__array_interface__`` or ``__array_struct__``.
3. Anything else becomes an element of an array of objects, and ufuncs run its operators.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.tangents.fields import own_attributes

__all__ = [
    "MISSING", "PLAIN", "Conversion", "Sight", "has_buffer", "is_foreign", "is_foreign_class",
    "own", "sight_of",
]  # fmt: skip

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
PLAIN = INERT | {ndarray, Active, np._CopyMode}  # type: ignore[attr-defined]
"""Types of operands that NumPy computes with by itself; a list or tuple may hold others.

Among them is how ``np.array`` is told to copy, as SciPy does for each array: to ask an enum for
protocols takes 50 us.
"""
SEQUENCES = frozenset({list, tuple, range})
PROTOCOLS = "__array_ufunc__", "__array_function__"
OPTIONS = (np.generic, np.dtype, type(np._NoValue))  # type: ignore[attr-defined]


class Conversion(Enum):
    """How NumPy makes an array of an operand."""

    ARRAY = "it is an array or a number"
    NUMBER = "it is an instance of a subclass of a number of Python, whose number counts"
    METHOD = "by its method __array__"
    INTERFACE = "by __array_interface__ or __array_struct__"
    BUFFER = "by its memory"
    SEQUENCE = "by its items, if it has a length: otherwise it becomes an element, as below"
    OBJECT = "it becomes an element of an array of objects"


class Sight(NamedTuple):
    """How NumPy sees an operand.

    `ufuncs` and `functions` are what the class holds as ``__array_ufunc__`` and
    ``__array_function__``: `MISSING` if that is nothing but the method of ndarray.
    """

    ufuncs: Any
    functions: Any
    conversion: Conversion


USUAL = Sight(MISSING, MISSING, Conversion.ARRAY)
ITEMS = Sight(MISSING, MISSING, Conversion.SEQUENCE)


def sight_of(value: Any) -> Sight:
    """Return how NumPy sees an operand.

    Of the user's code it runs ``__getattr__``, as NumPy does, and nothing else.

    It is not kept by class: a class may change, and should not live for ever.
    """
    cls = type(value)
    if cls in PLAIN or cls is np.memmap:
        return USUAL
    if cls in SEQUENCES:
        return ITEMS
    ufuncs, functions = own(cls, "__array_ufunc__"), own(cls, "__array_function__")
    return Sight(ufuncs, functions, conversion(value, cls))


def takes_over(value: Any) -> bool:
    """Return whether the class of an operand runs or refuses ufuncs or functions itself."""
    cls = type(value)
    if cls in PLAIN or cls in SEQUENCES:
        return False
    return has_protocols(cls)


def has_protocols(cls: type) -> bool:
    """Return whether a class has methods of its own that run ufuncs or functions."""
    return any(own(cls, name) is not MISSING for name in PROTOCOLS)


def own(cls: type, name: str) -> Any:
    """Return a method of a class other than that of ndarray, MISSING if there is none."""
    method = getattr(cls, name, MISSING)
    return MISSING if method is getattr(ndarray, name) else method


def conversion(value: Any, cls: type) -> Conversion:
    """Return how NumPy makes an array of an object, in the order in which it asks.

    Strings, bytes and instances of NumPy's own classes are arrays here.
    """
    if issubclass(cls, (ndarray, np.generic, str, bytes, type(None))):
        return Conversion.ARRAY
    if issubclass(cls, (float, complex, int)):
        return Conversion.NUMBER
    if has_buffer(value):
        return Conversion.BUFFER
    if has(value, "__array_interface__") or has(value, "__array_struct__"):
        return Conversion.INTERFACE
    if has(value, "__array__"):
        return Conversion.METHOD
    sized = hasattr(cls, "__len__") and hasattr(cls, "__getitem__")
    return Conversion.SEQUENCE if sized and not issubclass(cls, dict) else Conversion.OBJECT


def has_buffer(value: Any) -> bool:
    """Return whether an object gives others access to its memory."""
    try:
        memoryview(value).release()
    except (TypeError, ValueError, BufferError):
        return False
    return True


def has(value: Any, name: str) -> bool:
    """Return whether an instance has an attribute, in its class or by itself, as NumPy looks.

    NumPy asks a ``__getattr__`` of the class too.
    """
    if hasattr(type(value), name) or name in own_attributes(value):
        return True
    return hasattr(type(value), "__getattr__") and hasattr(value, name)


def is_foreign_class(cls: type) -> bool:
    """Return whether NumPy may do something else with operands of a class than compute by itself.

    Lists and tuples do not count; their items may.
    """
    if cls in PLAIN or cls in SEQUENCES:
        return False
    return not issubclass(cls, OPTIONS) or has_protocols(cls)


def is_foreign(value: Any) -> bool:
    """Return whether an operand is, or a sequence holds at any depth, one of such a class."""
    t = type(value)
    if t is list or t is tuple:
        if PLAIN.issuperset(map(type, value)):
            return False
        return any(is_foreign(part) for part in value)
    return is_foreign_class(t)
