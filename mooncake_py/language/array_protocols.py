"""Classes whose methods NumPy calls from compiled code to convert their objects to arrays.

``__array__``, ``__array_ufunc__`` and ``__array_function__`` would run natively, and the derivative
of their result would be lost.  If an object of such a class may hold active data, the engine checks
the arguments that it passes to NumPy: it derives ``__array__`` before the call, and refuses the two
others.  Calls without such objects cost nothing. The same holds for buffers of arrays.
"""

from __future__ import annotations

import builtins
import cmath
import math
from typing import TYPE_CHECKING, Any

from mooncake_py.application.foreign import flat, is_of_numpy
from mooncake_py.containers.positions import position
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import intrinsics
from mooncake_py.modules import module_of
from mooncake_py.rules import python_builtins, registry
from mooncake_py.rules.kinds import OverlayRule
from mooncake_py.runtime import buffers
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.methods import ANSWERED, derivable
from mooncake_py.runtime.values import is_of_math
from mooncake_py.runtime.watched import protocol_of, watch, watch_array
from mooncake_py.tangents.subclasses import is_instance

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language, Mode

__all__ = ["UNWATCHED", "arrays_for", "as_array", "watch", "watch_array"]


ITERATING = frozenset({"dist", "fsum", "prod", "sumprod"})
"""Functions of `math` that iterate, and ask each item for a number."""
OF_INTEGERS = frozenset({
    math.factorial, math.comb, math.perm, math.gcd, math.lcm, math.isqrt,
})  # fmt: skip
"""Those that ask for ``__index__``, also of what has a ``__float__``."""


UNWATCHED = frozenset(
    id(f)
    for f in vars(builtins).values()
    if callable(f) and f in intrinsics.HANDLERS and f not in ANSWERED
)
"""The ids of Python's own functions and classes that take any operands as they are."""


def arrays_for(ctx: Mode, f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return arguments with arrays for active objects, if a function has a rule."""
    if f not in ctx.handlers or f in intrinsics.HANDLERS:
        return args, kwargs
    if f in ANSWERED or passes_objects_on(f):
        return args, kwargs
    if is_of_numpy(f):  # it meets them itself
        buffers_of(ctx, args)
        return args, kwargs
    if is_of_math(f) and f.__name__ in ITERATING:  # and so do the replacements
        buffers_of(ctx, args)
        return args, kwargs
    if f in OF_INTEGERS:
        return tuple(position(ctx, v) for v in args), kwargs
    if is_of_math(f) or f is cmath.rect:
        return tuple(as_float(ctx, v) for v in args), kwargs
    buffers_of(ctx, (*args, *kwargs.values()))
    return args, kwargs


def buffers_of(ctx: Mode, values: Any) -> None:
    """Raise if a function would read a buffer that holds active data."""
    for value in flat(tuple(values)):
        if isinstance(value, buffers.BUFFERS):
            buffers.refuse_read(ctx, value)


def passes_objects_on(f: Any) -> bool:
    """Return whether a function is one of Python's own, such as `sorted`, or a part of its rule."""
    rule = registry.find(f)
    if module_of(f).startswith("mooncake_py."):  # `checkpoint`, for example
        return True
    code = rule.replacement if isinstance(rule, OverlayRule) else f
    return getattr(code, "__module__", None) == python_builtins.__name__


def as_float(ctx: Language, value: Any) -> Any:
    """Return the number that an object stands for; any other value unchanged."""
    if is_instance(value):
        return ctx.call(float, value)
    method = None if isinstance(value, float) else derivable(value, "__float__")
    return value if method is None else ctx.call(float, value)


def as_array(ctx: Mode, value: Any) -> Any:
    """Return the array that an active object stands for; any other value unchanged."""
    t = type(value)
    if t is list or t is tuple:
        parts = [as_array(ctx, part) for part in value]
        changed = any(new is not old for new, old in zip(parts, value, strict=True))
        return t(parts) if changed else value
    if t in buffers.BUFFERS:
        buffers.refuse_read(ctx, value)
    name = protocol_of(t)
    if not name or t is Active or is_instance(value):
        return value
    if name == "__array__":
        return ctx.call(getattr(t, name), value)
    if not ctx.contains_active((value, getattr(t, name))):
        return value
    raise dropped(
        ctx,
        f"NumPy would use an active {t.__name__} by its {name}",
        why="the engine could not see the method, and its result would have no derivative",
        fix="pass the array itself to NumPy, for example an attribute of the object",
    )
