"""Methods and attributes of active numbers.

A NumPy scalar has those of an array: they run on an array with this number, by their rules, or are
refused.
"""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.refusals import missing_rule
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import special
from mooncake_py.runtime import activity, drops
from mooncake_py.runtime.active import Active, innermost_context, part_of_real
from mooncake_py.runtime.quiet import Unheard
from mooncake_py.tangents.subclasses import plain_parts

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language, Mode

__all__ = ["call_scalar_method", "is_named_method", "scalar_attribute"]

UNCHANGED = frozenset({
    "conjugate", "conj", "copy", "squeeze", "__copy__", "__deepcopy__", "__pos__",
})  # methods that return the number itself, if it is real  # fmt: skip
HOLD_NUMBERS = (float, complex, np.inexact, np.void, bytes, memoryview, np.flatiter)


def call_scalar_method(ctx: Mode, value: Active, name: str, args: Any, kwargs: Any) -> Any:
    """Call a method of an active scalar."""
    primal = activity.unwrapped(value)
    method = getattr(primal, name)  # raises where the number has none, though arrays do
    if not callable(method):
        return method(*args, **kwargs)  # raises
    if name in UNCHANGED and (args or kwargs):
        into = args and is_of_arrays(primal, name) and issubclass(type(args[0]), ndarray)
        if into and name in ("conjugate", "conj"):
            return ctx.call(np.conjugate, value, *args, **kwargs)
        method(*map(activity.unwrapped, args), **activity.unwrapped(kwargs))  # raises if it does
    if name in ("conjugate", "conj"):
        if not np.iscomplexobj(primal):
            return value
        y = ctx.call(np.conjugate, value)
        return ctx.call(complex, y) if value.__class__ is complex else y
    if name in ("item", "tolist"):
        return ctx.call(type(method(*args)), value)  # not float for extended precision
    if name == "as_integer_ratio":
        raise dropped(
            ctx,
            "as_integer_ratio() of an active value has no derivative",
            why="the two integers carry none",
            fix="compute with the value itself, without fractions",
        )
    if name in UNCHANGED:
        return value
    if name == "__array__":
        return ctx.call(np.array, value, *args, **kwargs)
    if name == "astype":
        with Unheard():  # the conversion itself is heard
            primal.astype(*args, **kwargs)  # raises what NumPy raises
        return ctx.call(np.dtype(kwargs["dtype"] if not args else args[0]).type, value)
    if name == "__class__":
        return ctx.call(value.__class__, *args, **kwargs)
    if name in special.OPERATIONS:
        return method(**kwargs) if kwargs else special.run(ctx, value, name, args)
    if is_of_arrays(primal, name):
        y = plain_parts(ctx.method(ctx.call(np.asarray, value), name, *args, **kwargs))
        return ctx.getitem(y, ()) if type(y) is ndarray and y.ndim == 0 else y
    y = method(*map(activity.unwrapped, args), **activity.unwrapped(kwargs))
    if holds_number(y):
        raise missing_rule(ctx, getattr(type(primal), name), (value, *args), keywords=kwargs)
    if type(y) is int:
        return drops.whole(ctx, y, (value,))
    return ctx.written(y, whole=True) if isinstance(y, str) else y


def is_of_arrays(primal: Any, name: str) -> bool:
    """Return whether a number has a method or an attribute because arrays have it."""
    return isinstance(primal, np.generic) and not name.startswith("__") and hasattr(ndarray, name)


def holds_number(y: Any) -> bool:
    """Return whether the number may be read from what a method of it has returned."""
    if issubclass(type(y), (tuple, list)):
        return any(map(holds_number, y))
    return isinstance(y, HOLD_NUMBERS) or (issubclass(type(y), ndarray) and y.dtype.kind in "fcOV")


@functools.cache
def method_named(name: str) -> FunctionType:
    """Return the function behind a bound method of an active number; a plain one may replace it."""

    def method(number: Any, /, *args: Any, **kwargs: Any) -> Any:
        active = [v for v in (number, *args) if type(v) is Active]
        if not active:
            return getattr(number, name)(*args, **kwargs)
        return innermost_context(active[0], active).method(number, name, *args, **kwargs)

    method.__name__ = name
    return method


CODE = method_named("").__code__


def is_named_method(method: MethodType) -> bool:
    """Return whether a bound method is one of these."""
    f = method.__func__
    return type(f) is FunctionType and f.__code__ is CODE


def scalar_attribute(ctx: Mode, value: Active, name: str) -> Any:
    """Return an attribute of an active scalar."""
    part = part_of_real(value, name)
    if part is not Ellipsis:
        return part
    primal = activity.unwrapped(value)
    if name.startswith("__") and name not in special.OPERATIONS:
        raise AttributeError(name)
    if name == "real":
        return complex_part(ctx, np.real, value) if np.iscomplexobj(primal) else value
    if name == "imag":
        return complex_part(ctx, np.imag, value) if np.iscomplexobj(primal) else primal.imag
    if name == "T":
        return value
    attribute = getattr(primal, name)
    if callable(attribute):
        return MethodType(method_named(name), value)
    if holds_number(attribute) and is_of_arrays(primal, name):
        return ctx.getattr(ctx.call(np.asarray, value), name)
    return attribute


def complex_part(ctx: Language, function: Any, value: Active) -> Any:
    """Return the real or imaginary part of an active complex number, a float of Python's type."""
    y = ctx.call(function, value)
    return ctx.call(float, y) if value.__class__ is complex else y
