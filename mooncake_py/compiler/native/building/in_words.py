"""Descriptions of values in Python's terms, for messages about code that cannot be compiled."""

from __future__ import annotations

from collections import OrderedDict

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    Array,
    Cells,
    Choice,
    ComplexArray,
    ComplexNumber,
    Dictionary,
    Drawer,
    Function,
    Generator,
    Known,
    Number,
    Object,
    Partial,
    Slice,
    Stack,
    Super,
    Tuple,
    Unread,
    Value,
)

__all__ = ["said"]

AXES = {1: "1 axis"}
NUMBERS = {"bool": "a bool", "int": "an int", "float": "a float"}


def said(*values: Value | None) -> str:
    """Return the types of values, as in ``"a float and a list"``."""
    return " and ".join([one(value) for value in values])


def one(value: Value | None) -> str:
    """Return the type of a value in words; None stands for an argument that is not given."""
    match value:
        case None:
            return "nothing"
        case Number():
            return NUMBERS.get(value.type, f"a number of type np.{value.type}")
        case ComplexNumber():
            return "a complex number"
        case Array():
            dtype = value.kind if isinstance(value, ComplexArray) else NUMPY_TYPES[value.kind]
            n = len(value.shape)
            return f"an array of {dtype.removesuffix('_')} with {AXES.get(n, f'{n} axes')}"
        case Deque():
            return "a deque"
        case Tuple():
            return "a list" if value.is_list else "a tuple"
        case Cells():
            return "a list of numbers"
        case Stack():
            return "a list of arrays or tuples"
        case Dictionary():
            return {dict: "a dict", OrderedDict: "an OrderedDict"}.get(
                value.cls, f"a {value.cls.__name__}"
            )
        case Object():
            return f"an object of type {value.cls.__name__}"
        case Function() | Partial():
            return "a function"
        case Super():
            return "super()"
        case Generator():
            return "a generator"
        case Slice():
            return "a slice"
        case Drawer():
            return "a generator of random numbers"
        case Known(None):
            return "None"
        case Known():
            return f"an object of type {type(value.value).__name__}"
        case Choice(options=options):
            names = list(dict.fromkeys(map(one, options)))
            return " or ".join(names)
        case Unread(why=why):
            return why
        case _:
            return "elements that a mask picks"
