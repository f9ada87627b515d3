"""Objects that NumPy stores in single elements of arrays: it asks them for a number.

    a[1] = v            float(v), of anything but a plain array
    a.flat[1] = v       likewise, and a.fill(v)
    a[1:2] = v          the array that v is, or is converted to
    np.array([1.0, v])  float(v), where that array has no axes

So the ``__float__`` of a class counts there, whatever array its instance is.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers.sequences import readable
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["as_array", "as_element", "converts_itself", "is_element", "require_number"]

KINDS: dict[str, Any] = {"f": float, "c": complex, "i": int, "u": int, "b": bool}
LISTED = (list, tuple)
SCALARS = (np.generic, str, bytes, float, complex, int)


def as_array(ctx: Mode, value: Any) -> Any:
    """Return an array for a sequence of active numbers, of which NumPy makes one itself."""
    value = readable(ctx, np.array, value)
    return (
        ctx.call(np.array, value) if type(value) in LISTED and ctx.contains_active(value) else value
    )


def as_element(ctx: Mode, dtype: np.dtype[Any], value: Any) -> Any:
    """Return an object that is stored in an element of an array as the number it converts to."""
    if not converts_itself(value, dtype):
        return value
    return ctx.call(KINDS[dtype.kind], value)


def converts_itself(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether a class says which number of a dtype is stored for its instance."""
    t = type(value)
    kind = KINDS.get(dtype.kind)
    if kind is None or t is ndarray or t is Active or issubclass(t, SCALARS):
        return False
    if kind is complex and issubclass(t, ndarray) and value.ndim == 0:
        return False
    names = ("__complex__", "__float__") if kind is complex else (f"__{kind.__name__}__",)
    return any(is_own(t, name) for name in names)


def require_number(dtype: np.dtype[Any], value: Any) -> None:
    """Raise NumPy's error for an object in place of an element, if it is not a number."""
    t = type(value)
    if dtype.kind in KINDS and t is not Active and not issubclass(t, (ndarray, *SCALARS)):
        np.zeros((), dtype)[()] = value


def is_own(cls: type, name: str) -> bool:
    """Return whether a class has a conversion other than that of plain arrays."""
    method = getattr(cls, name, None)
    return method is not None and method is not getattr(ndarray, name, None)


def is_element(a: ndarray, index: Any) -> bool:
    """Return whether an index is that of a single element: an int for each axis."""
    t = type(index)
    if t is int or t is Active:
        return a.ndim == 1
    parts = index if t is tuple else (index,)
    return len(parts) == a.ndim and all(map(is_position, parts))


def is_position(index: Any) -> bool:
    """Return whether an index is an int, or has ``__index__``; arrays without axes do not count."""
    index = unwrapped(index)
    if isinstance(index, (bool, np.bool_, ndarray)):
        return False
    try:
        operator.index(index)
    except TypeError:
        return False
    return True
