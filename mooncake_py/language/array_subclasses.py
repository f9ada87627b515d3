"""Subclasses of ndarray: constants run as they are, active data are refused by name.

Masked arrays and matrices are written in Python, in terms of views and attributes that cannot be
followed; any subclass may change what the operations of NumPy mean.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.diagnostics.reporting import Reporting, dropped, unsupported
from mooncake_py.runtime import activity, numerals
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.operators import BINARY

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Tracking

__all__ = ["is_their_class", "is_theirs", "make", "refuse", "run"]

# From a module to the package where users find its names, and what serves instead.
MASKED = (
    "numpy.ma",
    "keep data and mask in two arrays: np.where(mask, 0.0, x), np.sum(x, where=~mask)",
)
MATRICES = ("numpy", "use two-dimensional arrays: np.asarray(m), and @ for products")

DIFFERENT = "subclasses of ndarray change what operations mean"
PLAIN = activity.INERT | {ndarray, Active}
ASKS = frozenset({"isMaskedArray", "is_masked", "is_mask", "getmask", "getmaskarray"})
CHANGES = frozenset({
    "__setitem__", "__setmask__", "__setattr__", "__setstate__", "put", "putmask", "sort", "resize",
    "partition", "harden_mask", "soften_mask", "unshare_mask", "shrink_mask", "set_fill_value",
    *(op.inplace_method for op in BINARY.values()),
})  # fmt: skip


def is_theirs(f: FunctionType) -> bool:
    """Tell whether a function belongs to `numpy.ma` or to `numpy.matrix`."""
    return f.__globals__.get("__name__", "").startswith(("numpy.ma.", "numpy.matrixlib."))


def is_their_class(cls: type) -> bool:
    """Tell whether a class is one of theirs, or derived from one; `numpy.ma` need not be loaded."""
    return issubclass(cls, np.matrix) or any(
        base.__module__.startswith("numpy.ma") for base in cls.__mro__
    )


def run(ctx: Tracking, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Run one of their functions on constants, or ask about a mask."""
    if f.__name__ in ASKS:  # and so do other libraries of any array
        return f(*map(activity.unwrapped, args), **activity.unwrapped(kwargs))
    package, fix = MATRICES if ".matrixlib" in f.__globals__["__name__"] else MASKED
    name = f"{package}.{called_name(f, args)}"
    refuse_active(ctx, name, fix, args, kwargs)
    why = ""
    if any(map(is_called_back, args)):
        why = "it calls Python code, which would run unseen"
    elif changes(f, args, kwargs):
        why = "it changes an array in a way that cannot be undone"
    if why:
        raise unsupported(ctx, f"{name} cannot be differentiated", why=why, fix=fix)
    return numerals.checked(ctx, f, args, f(*args, **kwargs))


def make(ctx: Tracking, cls: type, args: Any, kwargs: Any) -> Any:
    """Create a masked array or a matrix of constants."""
    package, fix = MATRICES if issubclass(cls, np.matrix) else MASKED
    refuse_active(ctx, f"{package}.{cls.__name__}", fix, args, kwargs)
    return numerals.checked(ctx, cls, args, cls(*args, **kwargs))


def called_name(f: FunctionType, args: Any) -> str:
    """Return the name that users know: that of the instance, for functions that are instances."""
    own = getattr(args[0], "__name__", None) if args and f.__name__ == "__call__" else None
    return f.__qualname__ if own is None else own


def is_called_back(value: Any) -> bool:
    """Tell whether an argument is code of the user's."""
    return (
        callable(value)
        and not isinstance(value, type)
        and not (getattr(value, "__module__", None) or "").startswith("numpy")
    )


def changes(f: FunctionType, args: Any, kwargs: Any) -> bool:
    """Tell whether a call writes to one of its arguments, or sets an attribute."""
    if f.__name__ in CHANGES or kwargs.get("out") is not None:
        return True
    owner = type(args[0]) if args else None
    return len(args) == 2 and isinstance(getattr(owner, f.__name__, None), property)


def subclass(value: Any) -> type | None:
    """Return the subclass of ndarray that a value, or an element of a sequence, belongs to."""
    if type(value) is list or type(value) is tuple:
        return next(filter(None, map(subclass, value)), None)
    return type(value) if isinstance(value, ndarray) and type(value) is not ndarray else None


def refuse(ctx: Reporting, operands: Any) -> None:
    """Raise if an instance of a subclass of ndarray is among operands that are active."""
    found = next((s for v in operands if type(v) not in PLAIN and (s := subclass(v))), None)
    if found is not None:
        name = found.__name__
        masked = "Mask" in name
        raise dropped(
            ctx,
            f"active data in an array of class {name}, or together with one",
            why=f"{DIFFERENT}, so that they cannot be differentiated",
            fix="use plain arrays: "
            + ("x.filled(...), with the mask beside it" if masked else "np.asarray(x)"),
        )


def refuse_active(ctx: Reporting, name: str, fix: str, args: Any, kwargs: Any) -> None:
    """Raise if active data would go in."""
    if any(map(ctx.contains_active, (*args, *kwargs.values()))):
        raise unsupported(ctx, f"{name} cannot be differentiated", why=DIFFERENT, fix=fix)
