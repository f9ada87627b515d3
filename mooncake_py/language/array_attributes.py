"""Attributes of arrays: memory that must not be exposed, flags, shapes changed in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

from mooncake_py.containers import state
from mooncake_py.containers.undo import note
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.language import iteration
from mooncake_py.runtime import frames
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.quiet import Unheard
from mooncake_py.tangents.memory import is_writeable
from mooncake_py.tangents.subclasses import plain

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["GUARDED", "Flags", "read_guarded", "run_setflags", "set_array_attribute",
           "set_flag", "set_flag_item"]  # fmt: skip

EXPOSES_MEMORY = frozenset({"data", "ctypes", "__array_interface__", "__array_struct__"})
GUARDED = EXPOSES_MEMORY | {"flags"}
OF_BYTES = frozenset({"dtype", "strides", "data"})
SETTABLE = ("writeable", "aligned", "writebackifcopy")
FLAGS = type(np.empty(0).flags)
KEYS = {"WRITEABLE": "writeable", "W": "writeable", "ALIGNED": "aligned", "A": "aligned",
        "WRITEBACKIFCOPY": "writebackifcopy", "X": "writebackifcopy"}  # fmt: skip

Flags = dict[int, "ref[ndarray]"]
"""From the id of what ``array.flags`` returned to the array, which it does not name itself."""


# Reading.


def read_guarded(ctx: Mode, o: ndarray, name: str) -> Any:
    """Read an attribute that gives access to the memory of an array, or to its flags."""
    if name == "flags":
        flags = o.flags
        ctx.flags[id(flags)] = ref(o)
        return flags
    if name == "__array_interface__" and is_compared_only():
        return getattr(o, name)
    if name == "ctypes" or ctx.find(o) is not None:
        raise dropped(
            ctx,
            f"the attribute {name!r} of an array gives access to its memory",
            why="the engine cannot see reads and writes through it",
            fix="use indexing, or register a rule for the function that needs it",
        )
    return getattr(o, name)


def is_compared_only() -> bool:
    """Return whether a masked array reads where memory is, to see whether it is its own."""
    return frames.user_frame().f_globals.get("__name__") == "numpy.ma.core"


# Writing.


def set_array_attribute(ctx: Mode, o: ndarray, name: str, v: Any) -> None:
    """Run ``array.name = v``."""
    if name in ("real", "imag"):
        if name == "imag" and o.dtype.kind != "c":
            setattr(o, name, 0)  # raises: there is none
        if type(v) is list or type(v) is tuple:
            with Unheard():  # lists nested deeper than the array are for NumPy's version to refuse
                setattr(plain(o).copy("K"), name, unwrapped(v))
            v = ctx.call(np.array, v)
        ctx.setitem(getattr(plain(o), name), Ellipsis, v)
    elif name == "flat":
        iteration.assign_flat(ctx, plain(o), Ellipsis, v)
    elif name == "shape":
        ctx.change_shape(o, v)
    elif name in OF_BYTES:
        raise dropped(
            ctx,
            f"setting the attribute {name!r} of an array is not supported",
            why="it reinterprets memory that the reverse pass refers to",
            fix="use reshape, view or astype, which return a new array",
        )
    else:
        setattr(o, name, v)  # raises


# Flags.


def set_flag(ctx: Mode, flags: Any, name: str, v: Any) -> bool:
    """Run ``array.flags.name = v``; False if the array is not known."""
    a = ctx.flags.get(id(flags), lambda: None)()
    if a is None or name not in SETTABLE:
        return False
    if name == "writeable" and not v:
        refuse_for_good(ctx, a)
    note(ctx, state.restore_flag, a, name, flag(a, name))
    setattr(flags, name, v)
    return True


def refuse_for_good(ctx: Mode, a: ndarray) -> None:
    """Raise if an array is about to become read-only for good: the engine could not undo it."""
    if is_writeable(a) and stays_read_only(a):
        raise dropped(
            ctx,
            "an array becomes read-only that NumPy does not make writeable again",
            why="its memory belongs to something that is not an array, so this cannot be undone",
            fix="make a copy read-only",
        )


def stays_read_only(a: ndarray) -> bool:
    """Return whether NumPy does not make a read-only array writeable, as what is below it forbids.

    It asks the arrays that `a` is a view of, and then the buffer of what is below these.
    """
    base: Any = a.base
    while issubclass(type(base), ndarray):
        if is_writeable(base) or base.base is None:
            return not is_writeable(base)
        base = base.base
    if base is None:
        return False
    try:
        return memoryview(base).readonly
    except TypeError:
        return True


def flag(a: ndarray, name: str) -> bool:
    """Return a flag; NumPy warns where `writeable` of `np.broadcast_arrays` is asked by name."""
    return is_writeable(a) if name == "writeable" else getattr(a.flags, name)


def set_flag_item(ctx: Mode, flags: Any, key: Any, v: Any) -> bool:
    """Run ``array.flags[key] = v``."""
    return key in KEYS and set_flag(ctx, flags, KEYS[key], v)


def run_setflags(ctx: Mode, f: Any, args: Any, kwargs: Any) -> None:
    """Run ``array.setflags(write, align, uic)``."""
    a = args[0]
    old = [flag(a, name) for name in SETTABLE]
    if not kwargs.get("write", True) or (len(args) > 1 and not args[1]):
        refuse_for_good(ctx, a)
    f(*args, **kwargs)
    for name, value in zip(SETTABLE, old, strict=True):
        if flag(a, name) != value:
            note(ctx, state.restore_flag, a, name, value)
