"""Ufuncs of objects that NumPy does not convert: of arrays of them it runs their methods."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.foreign import flat, is_other
from mooncake_py.language import object_arrays
from mooncake_py.language.foreign_operands import is_users, refusal
from mooncake_py.runtime import objects
from mooncake_py.runtime.active import plain_class
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.objects import as_operand

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["has_objects", "run"]

COMPARISONS = {
    np.less: operator.lt, np.less_equal: operator.le, np.equal: operator.eq,
    np.not_equal: operator.ne, np.greater: operator.gt, np.greater_equal: operator.ge,
}  # fmt: skip
FUNCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.absolute: abs, np.floor: math.floor, np.ceil: math.ceil, np.trunc: math.trunc,
}  # fmt: skip
CHOOSING = {np.maximum: operator.ge, np.minimum: operator.le}
WITHOUT_METHODS = frozenset({
    "divmod", "float_power", "fmax", "fmin", "fmod", "gcd", "heaviside", "isnan", "lcm",
    "logical_and", "logical_not", "logical_or", "logical_xor", "sign",
})  # fmt: skip


def has_objects(inputs: Any) -> bool:
    """Return whether an operand, converted by NumPy, is an array of objects."""
    return any(is_other(v) and not isinstance(v, (str, bytes)) for v in flat(tuple(inputs)))


def run(ctx: Mode, f: np.ufunc, method: str, inputs: Any, kwargs: Any) -> Any:
    """Run a ufunc element by element: its operator, function or method of the elements."""
    others = [v for v in flat(tuple(inputs)) if is_other(v)]
    is_known = not any(is_users(v) or ctx.contains_active(v) for v in others)
    operation = operation_of(ctx, f, is_known)
    in_sequence = any(type(v) in (list, tuple) and has_objects(v) for v in inputs)
    if operation is None or in_sequence or method not in ("__call__", "outer") or kwargs:
        if not any("O" in types for types in f.types):
            getattr(f, method)(*unwrapped(tuple(inputs)), **unwrapped(kwargs))  # raises
        raise refusal(ctx, f, others[0])
    if f in COMPARISONS and is_known:
        return getattr(f, method)(*unwrapped(tuple(inputs)))
    arrays = [boxed(ctx, v) for v in inputs]
    if method == "outer":
        first, second = arrays
        arrays[0] = first.reshape(first.shape + (1,) * second.ndim)
    y = object_arrays.elementwise(ctx, operation, tuple(arrays))
    if f in COMPARISONS:
        return y.astype(bool) if type(y) is ndarray else np.bool_(y)
    if type(y) is ndarray and ctx.contains_active(y):
        objects.mark(ctx)
    return y


def boxed(ctx: Mode, value: Any) -> ndarray:
    """Return an operand as an array of objects: Python's numbers, or the object itself."""
    if not is_other(value):
        return as_operand(ctx, value)
    box = np.empty((), object)
    box[()] = value
    return box


def operation_of(ctx: Mode, f: np.ufunc, is_known: bool) -> Callable[..., Any] | None:
    """Return the operation of a ufunc on elements that are objects; None if not known.

    Constants of a library, whose code `is_known` to do nothing else, are compared as they are.
    """
    name = object_arrays.OPERATORS.get(f)
    if name is not None:
        return getattr(ctx, name) if f.nin == 2 else lambda v: ctx.unary(name, v)
    if f in COMPARISONS:
        return lambda a, b: bool(ctx.truth(ctx.call(COMPARISONS[f], a, b)))
    if f in FUNCTIONS:
        return lambda v: ctx.call(FUNCTIONS[f], v)
    if f is np.square:
        return lambda v: ctx.call(operator.mul, v, v)
    if f is np.reciprocal:
        return lambda v: ctx.call(operator.truediv, 1, v)
    if f in CHOOSING:
        if is_known:
            return lambda a, b: a if CHOOSING[f](unwrapped(a), unwrapped(b)) else b
        return lambda a, b: a if ctx.truth(ctx.call(CHOOSING[f], a, b)) else b
    if f.nin == 1 and "O->O" in f.types and f.__name__ not in WITHOUT_METHODS:
        return lambda v: run_method(ctx, v, f.__name__)
    return None


def run_method(ctx: Mode, value: Any, name: str) -> Any:
    """Run the method of an element by which NumPy computes a function of objects."""
    if not hasattr(type(value), name) and not hasattr(value, name):
        raise TypeError(
            f"loop of ufunc does not support argument 0 of type {plain_class(value).__name__} "
            f"which has no callable {name} method"
        )
    return ctx.method(value, name)
