"""Conversions by ``float(x)``, ``complex(x)``, ``np.float64(x)``, which keep derivatives."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.rules.complex_parts import complex_number
from mooncake_py.runtime import numerals
from mooncake_py.runtime.active import Active, plain_class, primal_of
from mooncake_py.runtime.activity import INERT, unwrapped
from mooncake_py.runtime.methods import derivable
from mooncake_py.runtime.numpy_operands import Conversion, sight_of
from mooncake_py.runtime.slots import type_name
from mooncake_py.tangents.subclasses import is_instance, plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["run_number"]

CONVERSIONS = {
    float: ("__float__",), np.float64: ("__float__",), complex: ("__complex__", "__float__"),
}  # fmt: skip
"""Which methods of a class a type of numbers asks; the other types make arrays."""
NUMBERS_OF_PYTHON = frozenset({float, complex})


def methods_asked(f: Any, value: Any) -> tuple[str, ...]:
    """Return the methods that a type of numbers asks, in their order, if a class has them."""
    if f in CONVERSIONS or type(value) in INERT:
        return CONVERSIONS.get(f, ())
    if sight_of(value).conversion is not Conversion.OBJECT:
        return ()
    return CONVERSIONS[complex if issubclass(f, np.complexfloating) else float]


def run_number(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``float(x)``, ``complex(x)``, ``np.float64(x)``: a conversion keeps the derivative."""
    if kwargs or len(args) > 1:
        return run_of_parts(ctx, f, args, kwargs)
    x = args[0] if args else 0.0
    if type(x) is Active and len(args) == 1:
        return ctx.converted(f, x)
    if type(x) is ndarray and ctx.find(x) is not None:
        if issubclass(f, np.generic) and x.ndim:
            return ctx.call(np.asarray, x, f)  # the very same, if it is of this dtype
        if x.ndim:
            f(x)  # raises or warns, as NumPy's version has it
        return ctx.call(f, ctx.call(ndarray.item, x))
    own = CONVERSIONS.get(f, ())[:1]
    if is_instance(x) and ctx.contains_active(x) and not any(derivable(x, n) for n in own):
        if x.ndim and issubclass(f, np.generic):
            return of_its_class(ctx, f, x)
        return run_number(ctx, f, (plain(x), *args[1:]), kwargs)
    for name in methods_asked(f, x):
        if (method := derivable(x, name)) is not None:
            try:
                y = require_number(ctx, x, name, ctx.call(method, x))
            except TypeError:
                if f in NUMBERS_OF_PYTHON:
                    raise
                break  # NumPy makes an array of it
            if name == "__complex__" or f is float:
                return exactly(ctx, f, y) if f in NUMBERS_OF_PYTHON else y
            return run_number(ctx, f, (y,), {})
    if is_instance(x) and x.ndim and f not in NUMBERS_OF_PYTHON:
        return of_its_class(ctx, f, x)
    if f not in NUMBERS_OF_PYTHON and type(x) not in INERT:
        y = ctx.call(np.asarray, x, f)
        return y if np.ndim(y) else ctx.getitem(y, ())
    return numerals.checked(ctx, f, args, f(*map(primal_of, args), **kwargs))


def of_its_class(ctx: Mode, f: Any, x: Any) -> Any:
    """Return an instance with axes as one of the dtype, which is the very same if it has it."""
    return x if x.dtype == np.dtype(f) else ctx.method(x, "astype", f)


def exactly(ctx: Mode, f: Any, y: Any) -> Any:
    """Return the number of Python that a conversion has returned, past what a subclass says."""
    return ctx.converted(f, y) if type(y) is Active else f.__pos__(y)


RETURNED = {"__float__": float, "__complex__": complex, "__index__": int, "__int__": int}


def require_number(ctx: Mode, value: Any, name: str, y: Any) -> Any:
    """Return the result of a class's conversion, if Python accepts it.

    Python warns if it is of a subclass.
    """
    expected, found = RETURNED.get(name), plain_class(y)
    if expected is None or found is expected:
        return y
    kind, own = expected.__name__, type_name(found)
    named = name if kind == "complex" else f"{type(value).__name__}.{name}"
    text = f"{named} returned non-{kind} (type {own})"
    if not issubclass(found, expected):
        raise TypeError(text)
    later = (
        f".  The ability to return an instance of a strict subclass of {kind} is deprecated, "
        "and may be removed in a future version of Python."
    )
    ctx.call(warnings.warn, text + later, DeprecationWarning)
    return y


def run_of_parts(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run ``complex(re, im)`` and ``np.complex64(re, im)``, also of arrays without axes."""
    given = [as_part(ctx, v, first=k == 0) for k, v in enumerate(args)]
    named = {name: as_part(ctx, v, first=name == "real") for name, v in kwargs.items()}
    y = f(*unwrapped(given), **unwrapped(named))
    if not ctx.contains_active((*given, *named.values())):
        return numerals.checked(ctx, f, (*args, *kwargs.values()), y)
    z = ctx.call(complex_number, *given, **named)
    return z if f is complex else ctx.call(f, z)


def as_part(ctx: Mode, value: Any, *, first: bool) -> Any:
    """Return one of the two arguments of ``complex`` as a number, where it stands for one."""
    method = (derivable(value, "__complex__") if first else None) or derivable(value, "__float__")
    if method is not None:
        name = "__complex__" if first and derivable(value, "__complex__") else "__float__"
        return require_number(ctx, value, name, ctx.call(method, value))
    if is_instance(value) and ctx.contains_active(value):
        value = plain(value)
    if type(value) is ndarray and value.ndim == 0 and ctx.find(value) is not None:
        return ctx.call(ndarray.item, value)
    return value
