"""NumPy's own array classes in Python, which run natively on constants."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from mooncake_py.modules import module_of
from mooncake_py.runtime.operators import BINARY

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Tracking

__all__ = ["are_its", "runs_as_it_is"]

CHANGES = frozenset({
    "__setitem__", "__setmask__", "__setattr__", "__setstate__", "put", "putmask", "sort", "resize",
    "partition", "harden_mask", "soften_mask", "unshare_mask", "shrink_mask", "set_fill_value",
    "__array_finalize__", "_update_from", "__init__",
    *(op.inplace_method for op in BINARY.values()),
})  # fmt: skip


def are_its(f: FunctionType) -> bool:
    """Return whether a function is of `numpy.ma` or `numpy.matrix`."""
    return f.__globals__.get("__name__", "").startswith(("numpy.ma.", "numpy.matrixlib."))


def runs_as_it_is(ctx: Tracking, f: FunctionType, args: Any, kwargs: Any) -> bool:
    """Return whether such a function has no derivative."""
    if changes(f, args, kwargs) or any(map(is_called_back, args)):
        return False
    return not any(map(ctx.contains_active, (*args, *kwargs.values())))


def is_called_back(value: Any) -> bool:
    """Return whether an argument is code of the user's."""
    return (
        callable(value)
        and not issubclass(type(value), type)
        and not module_of(value).startswith("numpy")
    )


def changes(f: FunctionType, args: Any, kwargs: Any) -> bool:
    """Return whether a call writes to one of its arguments, or sets an attribute."""
    if f.__name__ in CHANGES or kwargs.get("out") is not None:
        return True
    owner = type(args[0]) if args else None
    return len(args) == 2 and isinstance(getattr(owner, f.__name__, None), property)
