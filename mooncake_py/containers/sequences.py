"""Sequences that NumPy reads in compiled code, converted to lists for the engine.

NumPy makes arrays of anything that has a length and elements: deques, subclasses of list and
tuple, classes with ``__len__`` and ``__getitem__``.
"""

from __future__ import annotations

from collections import deque
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.remembered import remembered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language, Mode

__all__ = ["readable"]

KNOWN = INERT | {ndarray, Active}


def readable(ctx: Mode, f: Any, value: Any) -> Any:
    """Return an argument with an array for ``a.flat``, a list for what NumPy reads as a sequence.

    An active array of a subclass is refused.
    Sequences stay as they are for functions of other packages, and where nothing is active.
    """
    t = type(value)
    if t in KNOWN:
        return value
    if issubclass(t, np.memmap):
        return value.view(ndarray)
    if issubclass(t, ndarray):
        ctx.refuse_subclass(value)
        return value
    if t is np.flatiter:
        return ctx.call(
            ndarray.reshape, plain(value.base), -1
        )  # like NumPy's, a view where it can be
    if t is list or t is tuple:
        known = all(type(v) in KNOWN for v in value)
        return value if known else t(readable(ctx, f, v) for v in value)
    if is_sequence(value) and belongs_to_numpy(f) and ctx.contains_active(value):
        return [readable(ctx, f, v) for v in elements(ctx, value)]
    return value


@remembered
def belongs_to_numpy(f: Any) -> bool:
    """Return whether a function is NumPy's, or one in terms of which a replacement is written."""
    module = getattr(getattr(f, "__objclass__", f), "__module__", None) or ""
    return isinstance(f, np.ufunc) or module.partition(".")[0] in ("numpy", "mooncake_py")


def is_sequence(value: Any) -> bool:
    """Return whether NumPy would take a value for a sequence."""
    t = type(value)
    if issubclass(t, (list, tuple, deque)):
        return True
    return (
        type(getattr(t, "__getitem__", None)) is FunctionType
        and hasattr(t, "__len__")
        and not hasattr(t, "__array__")
        and not issubclass(t, dict)
    )


def elements(ctx: Language, value: Any) -> list[Any]:
    """Return the elements, read as NumPy reads them."""
    if issubclass(type(value), (list, tuple, deque)):
        return list(value)
    return [ctx.getitem(value, i) for i in range(ctx.call(len, value))]
