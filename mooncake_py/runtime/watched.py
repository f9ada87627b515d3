"""Classes whose objects NumPy converts to arrays by Python methods."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from numpy import generic, memmap, ndarray

from mooncake_py.remembered import remembered
from mooncake_py.runtime import buffers

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Tracking

__all__ = ["protocol_of", "watch", "watch_array"]

USUAL = frozenset({ndarray, list, tuple, dict})
PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array__")


@remembered
def protocol_of(cls: type) -> str:
    """Return the name of the method in Python by which NumPy would use an object, or ''."""
    for name in PROTOCOLS:
        if type(getattr(cls, name, None)) is FunctionType:
            number = issubclass(cls, (float, complex, int, generic))  # which counts, unasked
            return "" if number and name == "__array__" else name
    return ""


def is_array_class(cls: type) -> bool:
    """Return whether a class is a subclass of ndarray other than that of memory maps."""
    return issubclass(cls, ndarray) and cls is not ndarray and not issubclass(cls, memmap)


def watch(ctx: Tracking | None, cls: type) -> None:
    """Look at the operands of NumPy from now on, if objects of a class convert themselves.

    Outside of a derivative `ctx` is None.
    """
    if ctx is None or cls in USUAL:
        return
    if (
        is_array_class(cls)
        or protocol_of(cls)
        or type(getattr(cls, "__float__", None)) is FunctionType
    ):
        ctx.watches = True


def watch_array(ctx: Tracking, a: Any) -> Any:
    """Return a new array; look at the operands of NumPy from now on if it is of a buffer."""
    if type(a) is ndarray and issubclass(type(a.base), buffers.BUFFERS):
        ctx.watches = True
        return ctx.registry.made_of_buffer(a)
    return a
