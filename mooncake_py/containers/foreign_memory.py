"""Writes to the memory of objects of `ctypes`: it gets its former bytes back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.runtime import buffers
from mooncake_py.runtime.buffers import CDATA, REFERENCE
from mooncake_py.runtime.pulls import pull_state

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Recording

__all__ = ["FOREIGN", "before_call", "before_resize", "keep", "snapshot"]

FOREIGN: Any = type(ctypes.memset).__mro__[1]  # functions in foreign libraries
OPAQUE = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_wchar_p)  # where they lead has no known size
FILLING = (ctypes.memset, ctypes.memmove)
ELSEWHERE = object()
"""In place of the object that owns the memory, where that is unknown: so it is never forgotten."""


def snapshot(ctx: Recording, o: Any, i: Any) -> None:
    """Record the bytes of an array, or of what a pointer points to, before ``o[i] = v``."""
    if isinstance(o, ctypes._Pointer):
        if not o or type(i) is not int:
            return  # it raises
        size = ctypes.sizeof(o._type_)
        record(ctx, o, ctypes.addressof(o.contents) + i * size, size)
    else:
        keep(ctx, o)


def keep(ctx: Recording, o: Any) -> None:
    """Record the bytes of an object, and of what it is known to lead to, before they may change."""
    seen: dict[int, Any] = {}
    todo = [o]
    while todo:
        o = todo.pop()
        if type(o) is REFERENCE:
            o = o._obj
        if id(o) in seen or isinstance(o, FOREIGN):
            continue
        seen[id(o)] = o
        record(ctx, o, ctypes.addressof(o), ctypes.sizeof(o))
        if isinstance(o, ctypes._Pointer) and o:
            record(ctx, o, ctypes.addressof(o.contents), ctypes.sizeof(o._type_))
        todo += origins(o)


def origins(o: Any) -> Iterator[Any]:
    """Yield the objects of ctypes whose memory an object is known to lead to."""
    seen: set[int] = set()
    todo = [getattr(o, "_objects", None)]
    while todo:
        held = todo.pop()
        if id(held) in seen:
            continue
        seen.add(id(held))
        if isinstance(held, (CDATA, REFERENCE)):
            yield held
        elif type(held) is dict:
            todo += held.values()
        elif type(held) is tuple:
            todo += held


def record(ctx: Recording, o: Any, address: int, size: int) -> None:
    """Record the bytes at an address, which are part of an object, or which it leads to."""
    owner = o
    while owner._b_base_ is not None:
        owner = owner._b_base_
    begin = ctypes.addressof(owner)
    if not owner._b_needsfree_ or not begin <= address < begin + ctypes.sizeof(owner):
        owner = ELSEWHERE
    kept = getattr(o, "_objects", None)  # what pointers in the memory lead to
    kept = dict(kept) if type(kept) is dict else None
    whole = ctypes.sizeof(o) if address == ctypes.addressof(o) else None
    other = None if o is owner else o
    note(ctx, restore, owner, other, address, ctypes.string_at(address, size), kept, whole)


def restore(
    owner: Any, other: Any, address: int, old: bytes, kept: dict[str, Any] | None, whole: int | None
) -> None:
    """Put former bytes back into an object, of which `other` is a part or an alias."""
    o = owner if other is None else other
    if whole is not None and ctypes.sizeof(o) != whole:
        ctypes.resize(o, whole)
    if whole is not None:
        address = ctypes.addressof(o)
    ctypes.memmove(address, old, len(old))
    if kept is not None and type(o._objects) is dict:
        o._objects.update(kept)


def before_resize(ctx: Mode, o: Any) -> None:
    """Record an object that ``ctypes.resize`` moves; raise if a write by its address was recorded.

    To undo such a write would write to memory that is freed.
    """
    if not isinstance(o, CDATA):
        return  # it raises
    buffers.refuse_write(ctx, o)
    begin = ctypes.addressof(o)
    end = begin + ctypes.sizeof(o)
    for entry in recorded(ctx):
        if entry[1] is restore:
            owner, other, address = entry[2:5]
        elif entry[1] is restore_at:
            owner, other, address = ELSEWHERE, *entry[3:5]
        else:
            continue
        if begin <= address < end and (owner is not o or other is not None):
            raise dropped(
                ctx,
                f"ctypes.resize moves {o!r:.60}, which was written through another object",
                why="the write could not be undone, as its address is no longer that of the memory",
                fix="write through the object itself, or resize it before",
            )
    keep(ctx, o)


def recorded(ctx: Mode) -> Iterator[tuple[Any, ...]]:
    """Yield the changes that the running calls have recorded."""
    for context in (ctx, *ctx.outers):
        changes = getattr(getattr(context, "rehearsal", None), "changes", None)
        for entries in (getattr(context, "tape", ()), getattr(changes, "kept", ())):
            yield from (entry for entry in entries if entry and entry[0] is pull_state)


# Functions in foreign libraries.


def before_call(ctx: Mode, f: Any, args: Any) -> None:
    """Record what a function in a foreign library may write to, or raise if that is unknown."""
    for a in args:
        if isinstance(a, (CDATA, REFERENCE)) and not isinstance(a, FOREIGN):
            buffers.refuse_write(ctx, a)
    if any(f is known for known in FILLING) and len(args) == 3 and type(args[2]) is int:
        target = args[0]
        address = target if type(target) is int else ctypes.cast(target, ctypes.c_void_p).value
        if address and args[2] > 0:
            old = ctypes.string_at(address, args[2])
            note(ctx, restore_at, ELSEWHERE, target, address, old)
        return
    declared = f.argtypes or ()
    for k, a in enumerate(args):
        is_address = type(a) is int and k < len(declared) and leads_on(declared[k])
        if is_address or (isinstance(a, OPAQUE) and a and all(v is a for v in origins(a))):
            raise dropped(
                ctx,
                f"a function in a foreign library is called with {a!r:.60}, an address",
                why="it may write there, and how much is not known, so it could not be undone",
                fix="pass the object itself, such as an array of ctypes, or `byref` of it",
            )


def leads_on(declared: Any) -> bool:
    """Return whether a declared type of an argument is one of pointers."""
    return isinstance(declared, type) and issubclass(declared, (ctypes._Pointer, *OPAQUE))


def restore_at(owner: Any, target: Any, address: int, old: bytes) -> None:
    """Put former bytes back at an address; `target` keeps the memory alive."""
    ctypes.memmove(address, old, len(old))
