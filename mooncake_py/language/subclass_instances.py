"""Creation of instances of ndarray subclasses as in NumPy, with Python code derived."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import NUMBERS
from mooncake_py.tangents.subclasses import plain, plain_parts, undressed

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = [
    "as_own_array", "dressed", "is_array_class", "new_array", "viewed", "wrapped",
    "wrapped_output", "wrapping",
]  # fmt: skip

NATIVE = (None, ndarray.__array_finalize__)
SCALAR_PRIORITY = -1_000_000.0  # that of NumPy


def dressed(ctx: Mode, a: ndarray, cls: type, template: Any) -> Any:
    """Return a plain array as an instance of a class, which shares its memory.

    The template is what ``__array_finalize__`` gets.
    """
    if cls is ndarray:
        return a
    ctx.watches = True
    finalize: Any = getattr(cls, "__array_finalize__", None)
    if any(finalize is native for native in NATIVE):
        return ndarray.view(a, cls)
    made = undressed(cls, a) if type(finalize) is FunctionType else None
    if made is None:
        raise dropped(
            ctx,
            f"an array of class {cls.__name__} cannot be made of active data",
            why="the engine could not see its __array_finalize__: the class has slots, or is "
            "not written in Python",
            fix="keep attributes in the __dict__ of the instance, or use plain arrays",
        )
    ctx.call(finalize, made, template)
    return made


def as_own_array(ctx: Mode, y: Any) -> ndarray:
    """Return a result as an array: NumPy makes no scalars for subclasses."""
    return y if type(y) is ndarray else ctx.call(np.asarray, y)


def new_array(ctx: Mode, cls: type, *args: Any, **kwargs: Any) -> Any:
    """Run ``ndarray.__new__(cls, shape, dtype, buffer, ...)``."""
    a = ndarray(*plain_parts(args), **{name: plain_parts(v) for name, v in kwargs.items()})
    return dressed(ctx, a, cls, None)


def viewed(ctx: Mode, o: ndarray, args: Any, kwargs: Any) -> Any:
    """Run ``o.view(dtype, type)``, where the first may be the class."""
    given = dict(zip(("dtype", "type"), args, strict=False)) | kwargs
    dtype, cls = given.get("dtype"), given.get("type", type(o))
    if is_array_class(dtype):
        dtype, cls = None, dtype
    a = plain(o)
    if dtype is not None:
        a = ctx.method(a, "view", dtype)
    elif a is o:
        a = ndarray.view(a)
    return dressed(ctx, a, cls, o)


def is_array_class(value: Any) -> bool:
    """Return whether a value is a class of arrays."""
    return issubclass(type(value), type) and issubclass(value, ndarray)


# How NumPy wraps what a ufunc has computed.


def wrapping(operands: Any) -> Any:
    """Return the operand whose class a result is of: that of the highest priority, or None."""
    found, priority = None, -np.inf
    for x in operands:
        t = type(x)
        if t is ndarray or t is Active or t in NUMBERS:
            wraps, own = False, 0.0 if t is ndarray else SCALAR_PRIORITY
        elif hasattr(t, "__array_wrap__"):
            wraps, own = True, getattr(x, "__array_priority__", 0.0)
        else:
            continue
        if own > priority or (wraps and own == priority == 0.0 and found is None):
            found, priority = x if wraps else None, own
    return found


def wrapped(ctx: Mode, x: Any, y: Any, of: Any) -> Any:
    """Return the result of a ufunc as ``__array_wrap__`` of an operand has it.

    The method is told what the result is of: the ufunc, its operands and the number of the output.
    """
    method: Any = type(x).__array_wrap__
    if type(method) is not FunctionType and issubclass(type(x), np.generic):
        return y  # that of numbers makes numbers of NumPy's own
    a = as_own_array(ctx, y)
    if type(method) is not FunctionType:
        return dressed(ctx, a, type(x), x)
    given = (a, of, a.ndim == 0)
    return ctx.call(method, x, *given[: takes(method) - 1])


def wrapped_output(ctx: Mode, x: Any, of: Any) -> Any:
    """Return the result of ``__array_wrap__`` for an output, which it receives as an array."""
    method: Any = type(x).__array_wrap__
    return ctx.call(method, x, *(x, of, False)[: takes(method) - 1])


def takes(method: FunctionType) -> int:
    """Return how many positional arguments a ``__array_wrap__`` takes, at most four."""
    count = 0
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            return 4
        count += parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    return min(count, 4)
