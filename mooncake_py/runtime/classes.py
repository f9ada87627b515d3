"""The classes that calls have made or changed while they were differentiated.

Each that was made belongs to the call that has made it until it leaves that call; then to the call
round it.  Classes may hold active values; what is remembered of each keeps walks out of the many
that cannot.
"""

from __future__ import annotations

import sys
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any
from weakref import ref

from mooncake_py.diagnostics.places import is_library
from mooncake_py.modules import module_of, package_of
from mooncake_py.remembered import Table

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = [
    "class_parts", "hand_over", "is_imported", "is_lasting", "is_made_by", "leads", "made_inside",
    "may_be_active", "note_changed", "note_class", "recorder",
]  # fmt: skip

made_inside: Table[ref[Any]] = Table()
"""The contexts whose tapes have the changes of classes that were made inside."""
changed: Table[bool] = Table()
"""The classes of which a call has set an attribute."""
leading: Table[bool] = Table()
"""Whether the objects of classes have something active by these, as far as was asked."""
opened: Table[bool] = Table()
"""Whether classes hold what is or may become active, as far as was asked."""

HEAP_TYPE = 1 << 9  # not defined in C as part of a module that is never freed
SET_BY_PYTHON = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "_abc_impl",
})  # fmt: skip
DESCRIBING = frozenset({
    "__annotations__", "__annotations_cache__", "__dataclass_fields__", "__orig_bases__",
    "__parameters__",
})  # fmt: skip
"""Attributes that say something of the class; what is active in them the others hold too."""
GENERATED = "<string>"  # the file of methods of dataclasses and named tuples
SETTLED = (
    int, float, complex, str, bytes, type(None), type(...), range, ModuleType, BuiltinFunctionType,
    ClassMethodDescriptorType, GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType,
    WrapperDescriptorType,
)  # fmt: skip


def recorder(ctx: Mode) -> ReverseMode:
    """Return the context that records for a context: the lowest below one of forward mode."""
    found: Any = ctx
    while hasattr(found, "base"):
        found = found.base
    return found


def note_class(ctx: Mode, cls: type) -> None:
    """Note a class that a call has made."""
    made_inside.set(cls, ref(recorder(ctx)))


def note_changed(cls: type) -> None:
    """Note that a call sets an attribute of a class."""
    if id(cls) not in changed.found:
        leading.clear()  # of classes derived from it, too
        opened.clear()
        changed.set(cls, True)


def is_made_by(ctx: Mode, cls: type) -> bool:
    """Return whether a call that still runs has made a class, which has not left it."""
    maker = made_inside.found.get(id(cls))
    return maker is not None and maker() is recorder(ctx)


def hand_over(cls: type, receiver: Mode | None) -> None:
    """Note that a class leaves its call, for the one round it or for the user."""
    if receiver is None:
        made_inside.found.pop(id(cls), None)
    else:
        note_class(receiver, cls)


def class_parts(cls: type) -> dict[str, Any]:
    """Return the attributes of a class that may be set."""
    return {name: part for name, part in vars(cls).items() if name not in SET_BY_PYTHON}


def is_imported(module: ModuleType) -> bool:
    """Return whether a module is one that others import, and no one's own object."""
    return sys.modules.get(vars(module).get("__name__", "")) is module


def is_lasting(cls: type) -> bool:
    """Return whether a class is found where it says that it was defined, by its name."""
    if not cls.__flags__ & HEAP_TYPE:
        return True
    if id(cls) in made_inside.found:
        return False
    found: Any = sys.modules.get(module_of(cls))
    for name in cls.__qualname__.split("."):
        try:
            found = vars(found).get(name)
        except TypeError:
            return False
    return found is cls


def leads(cls: type) -> bool:
    """Return whether the objects of a class have something active by it, or may have later.

    A class that lasts is not a part of its objects.
    """
    found = leading.found.get(id(cls))
    if found is None:
        found = may_be_active(cls) and not is_lasting(cls)
        leading.set(cls, found)
    return found


def may_be_active(cls: type) -> bool:
    """Return whether a class, or a base of it, holds anything that is active or may be later."""
    found = opened.found.get(id(cls))
    if found is None:
        found = (
            id(cls) in changed.found
            or any(map(may_be_active, cls.__mro__[1:]))
            or not (is_lasting(cls) or has_settled_parts(cls))
        )
        opened.set(cls, found)
    return found


def has_settled_parts(cls: type) -> bool:
    """Return whether the attributes of a class hold nothing active and never will."""
    return all(
        is_settled(part)
        for name, part in vars(cls).items()
        if name not in SET_BY_PYTHON and name not in DESCRIBING
    )


def is_settled(part: Any, name: str = "") -> bool:
    """Return whether an attribute of a class holds nothing active and never will."""
    t = type(part)
    if t in SETTLED:
        return True
    if issubclass(t, type):
        return name == "__class__" or is_lasting(part)
    if t is tuple or t is frozenset:
        return all(map(is_settled, part))
    if t is property:
        return all(map(is_settled, (part.fget, part.fset, part.fdel)))
    if t is staticmethod or t is classmethod:
        return is_settled(part.__wrapped__)
    return is_settled_function(part) if t is FunctionType else package_of(t) == "dataclasses"


def is_settled_function(f: FunctionType) -> bool:
    """Return whether a function holds nothing active and never will.

    What code has captured other functions may bind, except the class of a method and what
    the code of dataclasses reads.  What a library puts round a function holds that one.
    """
    wrapped = vars(f).get("__wrapped__")
    if wrapped is not None and is_library(f.__code__.co_filename):
        return is_settled(wrapped)
    is_generated = f.__code__.co_filename == GENERATED
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        if name != "__class__" and not is_generated:
            return False
        try:
            if not is_settled(cell.cell_contents, name):
                return False
        except ValueError:  # empty
            return False
    held = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values(), *vars(f).values())
    return all(map(is_settled, held))
