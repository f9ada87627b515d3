"""Conversions between values known while a function is read and Python's objects.

Text, None, ints and floats that are written down, and tuples, lists and dicts of such: what is
computed from them is computed here, by Python itself, and stands in no region.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import fractions
import operator
from collections.abc import Callable
from types import EllipsisType, NoneType
from typing import Any, TypeGuard

import numpy as np

from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.values import (
    ComplexNumber,
    Dictionary,
    Known,
    Number,
    Tuple,
    Value,
)
from mooncake_py.compiler.regions.ir import Const

__all__ = ["UNKNOWN", "has_items", "is_data", "is_steady", "operated", "python_of", "value_of"]

UNKNOWN: Any = object()

OF_NUMPY = np.float64, np.float32, np.int64, np.bool_
ATOMS = frozenset({
    NoneType, EllipsisType, bool, int, float, complex, str, bytes, datetime.date, datetime.time,
    datetime.datetime, datetime.timedelta, fractions.Fraction, decimal.Decimal, range, slice,
    np.complex128, *OF_NUMPY,
})  # fmt: skip
"""Types of values that nothing changes, and whose operations run no code of the program's."""
CLASSES = frozenset({
    bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, object, np.ndarray,
    *OF_NUMPY,
})  # fmt: skip
"""Classes that may be arguments of pure functions, as in ``dtype=float``."""
MAKE: dict[str, Callable[[Any], Any]] = {
    "bool": bool, "int": int, "float": float, "bool_": np.bool_, "int64": np.int64,
    "float32": np.float32, "float64": np.float64,
}  # fmt: skip
"""By the names of the types of numbers what makes them of one that is written down."""
LONGEST = 4096  # strings, tuples and such that are made while a function is read
LARGEST = 1 << 62  # ints


def is_data(value: Any) -> bool:
    """Return True for values that nothing changes, all the way down.

    Of sets the order of items is not what it is in the program: see `ORDERLESS`.
    """
    t = type(value)
    if t in (tuple, frozenset, set):
        return all(map(is_data, value))
    return t in ATOMS or (t is type and value in CLASSES) or issubclass(t, np.dtype)


def is_steady(value: Any) -> bool:
    """Return True for what is a constant where it is global or captured: see `Scope.outside`.

    No list, dict or set is one, and no tuple that holds one or an array.
    """
    t = type(value)
    if t is tuple:
        return all(map(is_steady, value))
    return t not in (list, dict, set) and not issubclass(t, np.ndarray)


def python_of(value: Value | None) -> Any:
    """Return the Python object of a value known while the function is read, else `UNKNOWN`."""
    match value:
        case Number(e=Const(value=found), type=type_, rank=None):
            return MAKE[type_](found)
        case ComplexNumber(re=re, im=im):
            parts = python_of(re), python_of(im)
            if UNKNOWN in parts:
                return UNKNOWN
            return (complex if re.type == "float" else np.complex128)(complex(*parts))
        case Known(value=found):
            return found if is_data(found) else UNKNOWN
        case Deque():
            return UNKNOWN
        case Tuple(items=items, is_list=is_list):
            found = []
            for item in items:
                found.append(python_of(item))
                if found[-1] is UNKNOWN:
                    return UNKNOWN
            return found if is_list else tuple(found)
        case Dictionary(keys=keys, items=items, cls=cls) if cls is dict:
            found = [python_of(item) for item in items]
            is_known = all(item is not UNKNOWN for item in found)
            return dict(zip(keys, found, strict=True)) if is_known else UNKNOWN
    return UNKNOWN


def value_of(found: Any) -> Value | None:
    """Return the value of a result of Python's, None for an object that has none."""
    t = type(found)
    if t in (bool, np.bool_):
        return Number(Const(bool(found)), "bool" if t is bool else "bool_")
    if t in (int, np.int64):
        if not -LARGEST < found < LARGEST:
            return None
        return Number(Const(int(found)), t.__name__)
    if t in (float, np.float64):
        return Number(Const(float(found)), t.__name__)
    if t in (complex, np.complex128):
        part = "float" if t is complex else "float64"
        return ComplexNumber(*[Number(Const(float(x)), part) for x in (found.real, found.imag)])
    if t in (tuple, list):
        items = [value_of(item) for item in found]
        if len(items) > LONGEST or None in items:
            return None
        return Tuple(tuple(items), t is list)  # type: ignore[arg-type]
    if t is dict and all(type(key) is str for key in found):
        items = [value_of(item) for item in found.values()]
        return None if None in items else Dictionary(tuple(found), tuple(items))  # type: ignore[arg-type]
    if t is np.float32:
        return None
    return Known(found) if is_data(found) and is_short(found) else None


def is_short(found: Any) -> bool:
    """Return True unless a value is a long text or such."""
    return not hasattr(found, "__len__") or len(found) <= LONGEST


OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip


def operated(op: ast.operator, x: Value, y: Value) -> Value | None:
    """Return ``x op y`` of values that are known, or of two tuples; None for what raises too.

    Floats are left to compiled code, which rounds as Python does and says where it raises.
    """
    f = OPERATORS.get(type(op))
    if f is operator.add and is_tuple(x) and is_tuple(y):
        return Tuple((*x.items, *y.items))
    a, b = python_of(x), UNKNOWN
    if a is not UNKNOWN:
        b = python_of(y)
    if f is None or b is UNKNOWN or is_long(f, a, b):
        return None
    if isinstance(x, Tuple | Dictionary) or (type(a) is not str and isinstance(y, Tuple)):
        return None  # a new list, of which the reader keeps where it is made
    if {type(a), type(b)} & {float, complex, *OF_NUMPY, np.complex128} and type(a) is not str:
        return None
    try:
        return value_of(f(a, b))
    except Exception:  # where it runs, Python raises the same
        return None


def has_items(value: Known) -> bool:
    """Return True for a text or such, whose items are known where their index is."""
    return type(value.value) in (str, bytes, range, tuple) and is_data(value.value)


def is_tuple(value: Value) -> TypeGuard[Tuple]:
    """Return True for a tuple."""
    return isinstance(value, Tuple) and not value.is_list


def is_long(f: Any, x: Any, y: Any) -> bool:
    """Return True for what may take long or be long."""
    if f in (operator.pow, operator.lshift):
        return not (type(x) is type(y) is int and abs(x) < LARGEST and 0 <= y <= 64)
    if f is operator.mul:
        sizes = [v if type(v) is int else len(v) if hasattr(v, "__len__") else 1 for v in (x, y)]
        return type(x) is not type(y) and abs(sizes[0] * sizes[1]) > LONGEST
    return f is operator.mod and type(x) is str and len(x) > LONGEST
