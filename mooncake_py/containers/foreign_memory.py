"""Writes to the memory of objects of `ctypes`: it gets its former bytes back."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Recording

__all__ = ["snapshot"]


def snapshot(ctx: Recording, o: Any, i: Any) -> None:
    """Record the bytes of an array, or of what a pointer points to, before ``o[i] = v``."""
    if isinstance(o, ctypes._Pointer):
        if not o or type(i) is not int:
            return  # it raises
        size = ctypes.sizeof(o._type_)
        address = ctypes.addressof(o.contents) + i * size
    else:
        address, size = ctypes.addressof(o), ctypes.sizeof(o)
    kept = getattr(o, "_objects", None)  # what pointers in the memory lead to
    kept = dict(kept) if type(kept) is dict else None
    note(ctx, restore, o, address, ctypes.string_at(address, size), kept)


def restore(o: Any, address: int, old: bytes, kept: dict[str, Any] | None) -> None:
    """Put former bytes back."""
    ctypes.memmove(address, old, len(old))
    if kept is not None and type(o._objects) is dict:
        o._objects.update(kept)
