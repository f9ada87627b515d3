"""The classes that calls have made while they were differentiated.

Each belongs to the call that has made it until it leaves that call; then to the call round it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["hand_over", "is_made_by", "made_inside", "note_class", "recorder"]

made_inside: WeakKeyDictionary[type, ref[Any]] = WeakKeyDictionary()
"""The contexts whose tapes have the changes of classes that were made inside."""


def recorder(ctx: Mode) -> ReverseMode:
    """Return the context that records for a context: the lowest below one of forward mode."""
    found: Any = ctx
    while hasattr(found, "base"):
        found = found.base
    return found


def note_class(ctx: Mode, cls: type) -> None:
    """Note a class that a call has made."""
    made_inside[cls] = ref(recorder(ctx))


def is_made_by(ctx: Mode, cls: type) -> bool:
    """Return whether a call that still runs has made a class, which has not left it."""
    maker = made_inside.get(cls) if made_inside else None
    return maker is not None and maker() is recorder(ctx)


def hand_over(cls: type, receiver: Mode | None) -> None:
    """Note that a class leaves its call, for the one round it or for the user."""
    if receiver is None:
        del made_inside[cls]
    else:
        note_class(receiver, cls)
