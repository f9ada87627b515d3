"""Arrays without axes: ``np.array(0.1)``, ``x[...]`` of one, parameters that are kept as such.

They are memory of one number, which may have several names and be written: ``p -= step``.  Most of
what takes one gives a number of NumPy back, and so does its element, which is what is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.values import (
    NUMPY_TYPES,
    Array,
    ComplexArray,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import of_numpy
from mooncake_py.compiler.native.regions.region import BOOL, INT
from mooncake_py.modules import DISPATCHER, package_of

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.calls import CallReader
    from mooncake_py.compiler.native.reading.expressions import ExpressionReader

__all__ = ["as_number", "called", "is_without_axes", "method", "takes_numbers"]

KEEPING: frozenset[Any] = frozenset({
    np.array, np.asarray, np.copy, np.zeros_like, np.empty_like, np.ones_like, np.full_like,
    np.copyto,
})  # fmt: skip
"""Functions that read arrays without axes as arrays."""
BUILTINS: frozenset[Any] = frozenset({float, int, bool, abs, round, pow, sum})
LIBRARIES = frozenset({"math", "numpy", "scipy"})
FUNCTIONS = BuiltinFunctionType | FunctionType | type | DISPATCHER
REDUCING: frozenset[Any] = frozenset({np.sum, np.mean, np.max, np.amax, np.min, np.amin, np.prod})
REDUCING_METHODS = {f.__name__: f for f in (np.sum, np.mean, np.max, np.min, np.prod)}
METHODS = frozenset({"copy", "fill", "astype"})
OF_PYTHON = {"float64": "float", "int64": "int", "bool_": "bool"}


def is_without_axes(value: Value) -> bool:
    """Return True for an array without axes."""
    return isinstance(value, Array) and not value.shape


def as_number(r: ExpressionReader, value: Value) -> Value:
    """Return the element of an array without axes, also of those in tuples; others as they are."""
    if isinstance(value, Array) and not value.shape:
        return r.element(value)
    if isinstance(value, Tuple) and any(map(is_without_axes, value.items)):
        return Tuple(tuple([as_number(r, v) for v in value.items]), value.is_list, cls=value.cls)
    return value


def takes_numbers(f: Any) -> bool:
    """Return True for a function to which an array without axes is the number that it holds."""
    if type(f) is np.ufunc or (type(f) is BuiltinFunctionType and type(f.__self__) is np.ufunc):
        return True
    if not issubclass(type(f), FUNCTIONS) or f in KEEPING:
        return False
    return f in BUILTINS or package_of(f) in LIBRARIES


def called(r: CallReader, f: Any, args: list[Value], given: dict[str, Value]) -> Value | None:
    """Read a reduction of one number; have other functions get elements: None for those.

    Parameters
    ----------
    args, given : list, dict
        The arguments, which are changed.
    """
    out = given.get("out")
    args[:] = [as_number(r, v) for v in args]
    given.update({name: as_number(r, v) for name, v in given.items() if v is not out})
    if f in REDUCING and len(args) == 1 and isinstance(args[0], Number) and not given:
        return reduced(r, f, args[0])
    return None


def reduced(r: ExpressionReader, f: Any, x: Number) -> Number:
    """Return the sum, the mean or such of one number."""
    if x.rank is not None or x.narrow or x.kind == BOOL:
        raise Unfit(f"np.{f.__name__} of one number: use the number", r.b.place)
    if f is np.mean and x.kind == INT:
        raise Unfit("np.mean of an int: use the number", r.b.place)
    found = Number(x.e, NUMPY_TYPES[x.kind])
    is_sum = f is np.sum or f is np.mean
    return operations.added_to_nothing(r.b, found) if is_sum else found  # type: ignore[return-value]


def method(
    r: CallReader, a: Array, name: str, args: Sequence[Value], given: dict[str, Value]
) -> Value:
    """Read a call of a method of an array without axes."""
    read: Callable[..., Value] | None = of_numpy.method_of(a, name)
    if name in METHODS and read is not None:
        return read(r.b, (a, *args), given)
    element = r.element(a)
    if isinstance(a, ComplexArray) or not isinstance(element, Number) or args or given:
        raise Unfit(f"the method {name} of an array without axes", r.b.place)
    if name in REDUCING_METHODS:
        return reduced(r, REDUCING_METHODS[name], element)
    if name == "item" and element.type in OF_PYTHON:
        return Number(element.e, OF_PYTHON[element.type])
    raise Unfit(f"the method {name} of an array without axes", r.b.place)
