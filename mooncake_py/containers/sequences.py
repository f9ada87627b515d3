"""Sequences that NumPy reads in compiled code, converted to lists for the engine.

NumPy makes arrays of anything that has a length and elements: deques, subclasses of list and
tuple, classes with ``__len__`` and ``__getitem__``.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers import effects
from mooncake_py.diagnostics.reporting import unsupported
from mooncake_py.modules import module_of
from mooncake_py.remembered import remembered
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.methods import python_method

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["SUBSCRIPTS", "items_of", "listed", "plain_subscript", "readable"]

KNOWN = INERT | {ndarray, Active}
SUBSCRIPTS = KNOWN | {list}


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
        if f is np.copy:
            raise unsupported(
                ctx,
                "np.copy(a.flat) with active data",
                why="depending on its version, NumPy returns a view",
                fix="write a.flatten(), or a.ravel() for a view",
            )
        return ctx.call(np.flatiter.__array__, value)
    return listed(ctx, f, value, readable)


def listed(ctx: Mode, f: Any, value: Any, read: Callable[..., Any] | None = None) -> Any:
    """Return lists for active sequences that NumPy reads, and anything else unchanged.

    Parameters
    ----------
    read : callable, optional
        What reads the items; this function itself by default.
    """
    read = read or listed
    t = type(value)
    if t is list or t is tuple:
        known = all(type(v) in KNOWN for v in value)
        return value if known else t(read(ctx, f, v) for v in value)
    if is_sequence(value) and belongs_to_numpy(f) and ctx.contains_active(value):
        effects.refuse_writers(ctx, (value,), effects.READING)  # NumPy may read it several times
        items = items_of(ctx, value)
        return value if items is None else [read(ctx, f, v) for v in items]
    return value


@remembered
def belongs_to_numpy(f: Any) -> bool:
    """Return whether a function is NumPy's, or one in terms of which a replacement is written."""
    module = module_of(getattr(f, "__objclass__", f))
    return isinstance(f, np.ufunc) or module.partition(".")[0] in ("numpy", "mooncake_py")


def is_sequence(value: Any) -> bool:
    """Return whether NumPy would take a value for a sequence."""
    t = type(value)
    if issubclass(t, (list, tuple, deque)):
        return True
    return (
        python_method(t, "__getitem__") is not None
        and hasattr(t, "__len__")
        and not hasattr(t, "__array__")
        and not issubclass(t, dict)
    )


def items_of(ctx: Mode, value: Any) -> list[Any] | None:
    """Return the items that an object gives its iterator, as NumPy reads them; None without length.

    Of classes with ``__getitem__`` alone Python makes the iterator.
    """
    try:
        ctx.call(len, value)
    except Exception:  # NumPy takes it for a single object
        return None
    return list(ctx.iter(value))


def plain_subscript(ctx: Mode, i: Any) -> Any:
    """Return a subscript of an array with numbers and lists for objects that stand for these.

    It is read once and kept: the object may change before the reverse pass.
    """
    t = type(i)
    if t is tuple and SUBSCRIPTS.issuperset(map(type, i)):
        return i
    if t in SUBSCRIPTS or issubclass(t, np.generic):
        return i
    if issubclass(t, ndarray):
        return ndarray.view(i, ndarray)
    if issubclass(t, tuple):
        return tuple([plain_subscript(ctx, v) for v in i])
    if issubclass(t, int):
        return int.__index__(i)  # as NumPy does, whatever methods the class has
    if hasattr(t, "__index__"):
        effects.refuse_writers(ctx, (i,), effects.INDEXING)
        with suppress(Exception):  # whatever it is, NumPy tries to make an array next
            return operator.index(i)
    effects.refuse_writers(ctx, (i,), effects.READING)
    return list(i) if is_sequence(i) else index_array(i)


def index_array(i: Any) -> Any:
    """Return the array of ints or bools that NumPy makes of an index; the object if none.

    NumPy asks the class of the object where it is an operand: the adjoint passes this array, a
    copy, since the object may be a buffer that changes.
    """
    try:
        made = np.asarray(i)
    except Exception:
        return i  # NumPy is about to raise it
    if not made.size:
        return made.astype(np.intp)
    return made.copy() if made.dtype.kind in "iub" else i
