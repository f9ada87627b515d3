"""Classes whose objects NumPy turns into arrays by calling their methods, which nobody would see.

``__array__``, ``__array_ufunc__`` and ``__array_function__`` run natively, so that the derivative
of what they return is lost.  As soon as an object of such a class may hold active data, a call
looks at what it hands to NumPy; calls without such objects pay nothing.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from numpy import ndarray

from mooncake_py.derive.natives import HANDLERS
from mooncake_py.errors import DerivativeDropError

__all__ = ["check_call", "refuse", "watch"]

PROTOCOLS = ("__array__", "__array_ufunc__", "__array_function__")


@functools.lru_cache(maxsize=1024)
def protocol_of(cls: type) -> str:
    """Return the name of the method in Python by which NumPy would use an object, or ''."""
    for name in PROTOCOLS:
        if type(getattr(cls, name, None)) is FunctionType:
            return name
    return ""


def watch(ctx: Any, cls: type) -> None:
    """Look at the operands of NumPy from now on, if objects of a class convert themselves."""
    if ctx.watches or not protocol_of(cls):
        return
    ctx.watches = True
    setitem, inplace = ctx.setitem, ctx.inplace

    def watched_setitem(o: Any, i: Any, v: Any) -> None:
        if type(o) is ndarray:
            refuse(ctx, v)
        setitem(o, i, v)

    def watched_inplace(op: Any, x: Any, v: Any) -> Any:
        if type(x) is ndarray:
            refuse(ctx, v)
        return inplace(op, x, v)

    ctx.setitem, ctx.inplace = watched_setitem, watched_inplace


def check_call(ctx: Any, f: Any, *values: Any) -> None:
    """Raise if a function would use an active operand by a method of its own."""
    if uses_protocols(ctx, f):
        refuse(ctx, *values)


def uses_protocols(ctx: Any, f: Any) -> bool:
    """Tell whether a function has a rule, by which it runs natively on its operands."""
    try:
        return f in ctx.handlers and f not in HANDLERS
    except TypeError:  # a callable that cannot be hashed
        return False


def refuse(ctx: Any, *values: Any) -> None:
    """Raise if an operand is active and would be converted by a method of its own."""
    for value in values:
        if type(value) is list or type(value) is tuple:
            refuse(ctx, *value)
        name = protocol_of(type(value))
        if name and type(value) is not ndarray and ctx.contains_active(value):
            raise ctx.failed(
                DerivativeDropError(
                    f"NumPy would use an active {type(value).__name__} by its {name}",
                    where=ctx.user_location(),
                    why="the method would run unseen, and the derivative of its result be lost",
                    mend="hand the array itself to NumPy, for example an attribute of the object",
                )
            )
