"""Changes to objects and names, each recorded with its inverse before it is made.

Only changes to objects that existed before the call need to be undone, but finding these is
expensive, so every change is recorded.  Undoing runs no user code.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from mooncake_py.containers import dicts, foreign_memory, hooks, python_queues
from mooncake_py.containers.apart import OF_RAISED, names_in_c
from mooncake_py.containers.undo import PLAIN, note
from mooncake_py.runtime.attribute_lookup import MISSING, in_class
from mooncake_py.runtime.buffers import CDATA
from mooncake_py.runtime.classes import note_changed
from mooncake_py.tangents.fields import instance_dict

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

__all__ = [
    "CHANGERS_OF_CLASSES",
    "change_slot",
    "delete_attribute",
    "log_names",
    "note_exception",
    "note_partial",
    "note_raised",
    "of_partial",
    "of_raised",
    "old_attribute",
    "old_cell",
    "restore_attribute",
    "restore_cell",
    "restore_flag",
    "restore_partial",
    "restore_raised",
    "restore_shape",
    "restore_slot",
    "set_attribute",
    "slot_value",
]  # fmt: skip


CHANGERS_OF_CLASSES: WeakSet[Any] = WeakSet()
"""The calls that have changed an attribute of a class, and know what reading it runs."""


# Attributes.


def set_attribute(ctx: Mode, setter: Callable[..., None], o: Any, name: str, v: Any) -> None:
    """Run ``o.name = v`` by Python's own `setter` and record the old value."""
    if issubclass(type(o), CDATA) and hasattr(type(in_class(type(o), name)), "__set__"):
        foreign_memory.keep(ctx, o)  # a field, a value
    elif name in OF_RAISED and issubclass(type(o), BaseException):
        note_raised(ctx, o)
    elif type(o) is CellType:
        note_contents(ctx, o)
    elif name == python_queues.COUNT and python_queues.is_counted(o) and type(v) is int:
        python_queues.set_count(ctx, o, setter, v)
        return
    else:
        if o is sys and name == "unraisablehook":
            hooks.refuse_if_changing(ctx, v)
        if issubclass(type(o), type):
            note_changed(o)
        note(ctx, restore_attribute, o, name, old_attribute(o, name))
    setter(o, name, v)


def delete_attribute(ctx: Mode, deleter: Callable[..., None], o: Any, name: str) -> None:
    """Run ``del o.name`` by Python's own `deleter` and record the old value."""
    if type(o) is CellType:
        note_contents(ctx, o)
        deleter(o, name)
        return
    old = old_attribute(o, name)
    held = instance_dict(o)
    if type(held) is dict and name in held:
        dicts.note_order(ctx, held)
    elif issubclass(type(o), type) and name in vars(o):
        note(ctx, restore_order, o, [*vars(o)])
    note(ctx, restore_attribute, o, name, old)
    deleter(o, name)


def restore_order(cls: type, names: list[str]) -> None:
    """Put the attributes of a class back into an order, as far as it has them.

    They are those that they were, so what is remembered of them is right.
    """
    (held,) = gc.get_referents(vars(cls))
    kept = [name for name in names if name in held]
    now = [name for name in held if name in set(names)]
    first = next((i for i, (a, b) in enumerate(zip(kept, now, strict=True)) if a != b), len(now))
    for name in kept[first:]:  # each goes to the end
        held[name] = held.pop(name)


def change_slot(ctx: Mode, slot: Any, native: Callable[..., None], o: Any, *value: Any) -> None:
    """Run ``slot.__set__(o, v)`` or ``slot.__delete__(o)`` and record the old value."""
    if type(o) is CellType:
        note_contents(ctx, o)
    else:
        note(ctx, restore_slot, o, slot, slot_value(slot, o))
    native(slot, o, *value)


def slot_value(slot: Any, o: Any) -> Any:
    """Return the value in a slot of an object, or MISSING."""
    try:
        return slot.__get__(o)
    except AttributeError:
        return MISSING


def restore_slot(o: Any, slot: Any, old: Any) -> None:
    """Undo a change of a slot, if there was one."""
    if is_same(slot_value(slot, o), old):
        return
    if old is not MISSING:
        slot.__set__(o, old)
    else:
        slot.__delete__(o)


def old_attribute(o: Any, name: str) -> Any:
    """Return the value of an attribute of the object itself, not of its class."""
    found = in_class(type(o), name)
    if issubclass(type(found), property):
        return MISSING  # one that cannot be set
    if hasattr(type(found), "__set__"):  # a slot, or a descriptor in C
        return slot_value(found, o)
    fields = instance_dict(o)
    return MISSING if fields is None else fields.get(name, MISSING)


def restore_attribute(o: Any, name: str, old: Any) -> None:
    """Undo a change of an attribute, if there was one: it may be one that cannot be set."""
    if issubclass(type(o), type):
        for ctx in list(CHANGERS_OF_CLASSES):
            ctx.forget_lookups()
    is_plain = old is not MISSING and type(o).__setattr__ is object.__setattr__
    try:
        if is_plain:
            setattr(o, name, old)
        elif old is not MISSING:
            past_python(o, "__setattr__", setattr)(o, name, old)
        else:
            past_python(o, "__delattr__", delattr)(o, name)
    except (AttributeError, TypeError, ValueError):
        now = old_attribute(o, name)
        is_made_anew = type(now) is type(old) and old_attribute(o, name) is not now
        if not (is_made_anew or is_same(now, old)):
            raise


def is_same(a: Any, b: Any) -> bool:
    """Return True for the same object, or for equal numbers made at each access, as `real` is."""
    return a is b or (
        type(a) is type(b) and isinstance(a, (*PLAIN, np.generic)) and repr(a) == repr(b)
    )


def past_python(o: Any, method: str, builtin: Any) -> Any:
    """Return the callable behind a special method, past those that are written in Python."""
    if type(getattr(type(o), method)) is not FunctionType:
        return builtin
    methods = (base.__dict__.get(method) for base in type(o).__mro__)
    return next(m for m in methods if m is not None and type(m) is not FunctionType)


# Exceptions.


def of_raised(error: BaseException) -> tuple[Any, ...]:
    """Return the attributes that Python sets on an exception as it is raised."""
    return error.__cause__, error.__context__, error.__traceback__, error.__suppress_context__


def note_raised(ctx: Recording, error: BaseException) -> None:
    """Record what Python is about to set of an exception."""
    note(ctx, restore_raised, error, of_raised(error))


def restore_raised(error: BaseException, old: tuple[Any, ...]) -> None:
    """Put back what Python has set of an exception."""
    error.__cause__, error.__context__, error.__traceback__, error.__suppress_context__ = old


def note_exception(ctx: Recording, error: BaseException) -> None:
    """Record what a method in C of an exception is about to set of it."""
    for name in names_in_c(type(error)) - OF_RAISED - OF_OBJECTS:
        note(ctx, restore_attribute, error, name, old_attribute(error, name))


OF_OBJECTS = frozenset({"__class__", "__dict__", "__weakref__"})


# Partial functions.


def of_partial(f: Any) -> Any:
    """Return the state of a partial function."""
    return f.__reduce__()[2]


def note_partial(ctx: Recording, f: Any) -> None:
    """Record a partial function whose state is about to be set."""
    note(ctx, restore_partial, f, of_partial(f))


def restore_partial(f: Any, old: Any) -> None:
    """Put the state of a partial function back."""
    f.__setstate__(old)


# Arrays.


def restore_flag(a: Any, name: str, old: bool) -> None:
    """Undo a change of a flag of an array."""
    setattr(a.flags, name, old)


def restore_shape(a: Any, old: tuple[int, ...], known: Any) -> None:
    """Undo a change of the shape of an array, for what knows its shadow or its tangent."""
    known.change_shape(a, old)


# Names.


def old_cell(cell: CellType) -> Any:
    """Return the value of a captured variable."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def note_contents(ctx: Mode, cell: CellType) -> None:
    """Record a captured variable that is about to be set through its cell."""
    ctx.note_cell(cell)
    note(ctx, restore_cell, cell, old_cell(cell))


def log_names(ctx: Recording, derived: Any, f: FunctionType) -> None:
    """Record the globals and captured variables that a function may rebind."""
    for name in derived.stored_globals:
        ctx.rebound[id(f.__globals__), name] = f.__globals__
        old = dicts.value_at(f.__globals__, name)
        note(ctx, dicts.restore_key, f.__globals__, name, old)
    if derived.stored_free:
        names, cells = f.__code__.co_freevars, f.__closure__ or ()
        for name in derived.stored_free:
            cell = cells[names.index(name)]
            note(ctx, restore_cell, cell, old_cell(cell))


def restore_cell(cell: Any, old: Any) -> None:
    """Undo a change of a captured variable."""
    if old is not MISSING:
        cell.cell_contents = old
    elif old_cell(cell) is not MISSING:
        del cell.cell_contents
