"""Operators and NumPy functions on arrays of objects with active elements."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.foreign import flat, is_other
from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.language.foreign_operands import is_users, refusal
from mooncake_py.modules import DISPATCHER, module_of
from mooncake_py.rules import creation
from mooncake_py.runtime import objects
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.numpy_operands import Conversion, sight_of
from mooncake_py.runtime.objects import OBJECT, as_objects, holds_numbers, is_of_objects
from mooncake_py.runtime.operators import BINARY, UNARY

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["HANDLERS", "binary", "call", "convertible", "holds_active", "unary"]

OPERATORS = {
    **{op.ufunc: op.name for op in BINARY.values() if op.name != "matmul"},
    **{ufunc: name for name, (_, ufunc, _) in UNARY.items()},
}
CONVERTING = {
    np.ndarray.astype: (1, "dtype"), np.asarray: (1, "dtype"), np.array: (1, "dtype"),
    np.asanyarray: (1, "dtype"), np.astype: (1, "dtype"),
}  # fmt: skip


def holds_active(ctx: Mode, value: Any) -> bool:
    """Return whether a value is an array of objects, some of them active, or a list with one."""
    if type(value) in (list, tuple):
        return any(holds_active(ctx, part) for part in value)
    return is_of_objects(value) and ctx.contains_active(value)


# Operators.


def binary(ctx: Mode, name: str, a: Any, b: Any) -> Any:
    """Run a binary operator of which an operand is an array of objects."""
    objects.mark(ctx)
    if name == "matmul":
        y = call(ctx, np.matmul, (a, b), {})
        if y is NotImplemented:
            raise missing_rule(ctx, np.matmul, (a, b), "it calls methods of objects unseen")
        return y
    return elementwise(ctx, getattr(ctx, name), (a, b))


def unary(ctx: Mode, name: str, a: ndarray) -> Any:
    """Run a unary operator on an array of objects."""
    return elementwise(ctx, lambda v: ctx.unary(name, v), (a,))


def elementwise(ctx: Mode, run: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """Return an array of what a function gives for the elements of operands, broadcast."""
    arrays = [as_objects(ctx, v) for v in operands]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    columns = [np.broadcast_to(a, shape).ravel().tolist() for a in arrays]
    y = np.empty(shape, OBJECT)
    for index, parts in zip(np.ndindex(shape), zip(*columns, strict=True), strict=True):
        y[index] = run(*parts)
    return y if shape else y[()]


# Functions.


def call(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of NumPy on such arrays; NotImplemented if `f` is none, or there are none."""
    values = (*args, *kwargs.values())
    if not is_of_numpy(f) or not any(holds_active(ctx, v) for v in values):
        return NotImplemented
    if f in CONVERTING and not makes_objects(f, args, kwargs):
        return converted(ctx, f, args, kwargs)
    if f in OPERATORS and not kwargs:
        return elementwise(ctx, getattr(ctx, OPERATORS[f]), args)
    if f in (abs, np.absolute) and not kwargs:
        return elementwise(ctx, lambda v: ctx.call(abs, v), args)
    if f in (np.mean, ndarray.mean):
        return mean(ctx, *args, **kwargs)
    arrays = [v for v in flattened(values) if is_of_objects(v)]
    if kwargs.get("out") is not None or not all(map(holds_numbers, arrays)):
        return NotImplemented
    before = [a.ravel().tolist() for a in arrays]
    new = [as_parameter(ctx, v) for v in args]
    y = f(*new, **{name: as_parameter(ctx, v) for name, v in kwargs.items()})
    for a, old in zip(arrays, before, strict=True):
        if any(p is not q for p, q in zip(a.ravel().tolist(), old, strict=True)):
            objects.put(a, range(a.size), old)
            raise missing_rule(ctx, f, values, "it writes to an array of objects", kwargs)
    return y


def is_of_numpy(f: Any) -> bool:
    """Return whether a function is one of NumPy, a method of an array or of a ufunc, or ``abs``."""
    if isinstance(f, BuiltinFunctionType):
        if f is abs or isinstance(f.__self__, (np.ufunc, ndarray)):
            return True
        return module_of(f).startswith("numpy")
    if isinstance(f, MethodDescriptorType):
        return f.__objclass__ in (ndarray, np.ufunc)
    return isinstance(f, (DISPATCHER, np.ufunc))


def mean(ctx: Mode, a: Any, axis: Any = None, **options: Any) -> Any:
    """Return the sum divided by the number of elements, as NumPy asks numbers for a dtype."""
    total = ctx.call(np.sum, a, axis, **options)
    divide = getattr(ctx, OPERATORS[np.true_divide])
    return divide(total, a.size // max(1, np.asarray(np.sum(np.empty(a.shape), axis)).size))


def makes_objects(f: Any, args: Any, kwargs: Any) -> bool:
    """Return whether a function that converts arrays leaves their elements objects."""
    position, name = CONVERTING[f]
    dtype = args[position] if len(args) > position else kwargs.get(name)
    return dtype is None or np.dtype(dtype) is OBJECT


def converted(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Return the elements of an array of objects in an array of floats, say."""
    position, name = CONVERTING[f]
    dtype = args[position] if len(args) > position else kwargs.get(name)
    if not is_of_objects(args[0]):
        return NotImplemented
    flat = ctx.call(np.array, args[0].ravel().tolist(), dtype)
    return ctx.call(np.reshape, flat, args[0].shape)


def convertible(ctx: Mode, o: ndarray, value: Any) -> Any:
    """Return an array of objects that is written into one of numbers as one of numbers."""
    if is_of_objects(value) and o.dtype is not OBJECT and ctx.contains_active(value):
        return converted(ctx, np.asarray, (value, o.dtype), {})
    return value


def as_parameter(ctx: Mode, value: Any) -> Any:
    """Return an argument with objects for all that is active, in arrays."""
    if type(value) in (list, tuple):
        if any(issubclass(type(part), ndarray) for part in value):
            return type(value)(as_parameter(ctx, part) for part in value)
        return as_objects(ctx, value) if ctx.contains_active(value) else value
    if type(value) is Active or (type(value) is ndarray and ctx.find(value) is not None):
        return as_objects(ctx, value)
    return value


def flattened(values: Any) -> list[Any]:
    """Return values, and the elements of those that are sequences, at any depth."""
    found: list[Any] = []
    for value in values:
        found += flattened(value) if type(value) in (list, tuple) else [value]
    return found


# Handlers.


def run_objects(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``np.array(items, dtype=object)``."""
    items, ndmin = args
    if not ctx.contains_active(items):
        return f(*args, **kwargs)
    for value in flat(items):
        if is_other(value) and is_users(value) and reads_items(value):
            raise refusal(ctx, np.array, value)
    objects.mark(ctx)
    y = as_objects(ctx, items)
    return y.reshape((1,) * (ndmin - y.ndim) + y.shape)


def reads_items(value: Any) -> bool:
    """Return whether NumPy looks for items in an object, by methods that it runs itself."""
    return sight_of(value).conversion in (Conversion.SEQUENCE, Conversion.INTERFACE)


HANDLERS = {creation.array_of_objects: run_objects}
