"""Contexts of `decimal`, whose flags any operation on decimal numbers may set.

The module is not imported for it: few programs compute with decimal numbers.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mooncake_py.containers.undo import note

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Recording

__all__ = ["Flags", "is_context", "is_of_contexts", "snapshot"]

NAMES = frozenset({"Context", "SignalDict"})


def is_context(o: Any) -> bool:
    """Return whether an object is a context of `decimal`, or its flags or traps."""
    return is_of_contexts(type(o))


def is_of_contexts(t: type) -> bool:
    """Return whether a class is that of contexts, or of flags and traps."""
    return t.__name__ in NAMES and any(base.__module__ == "decimal" for base in t.__mro__)


def snapshot(ctx: Recording, o: Any) -> None:
    """Record the flags and traps of a context, which are about to change."""
    if hasattr(o, "clear_flags"):
        note(ctx, restore, o, o.flags.copy(), o.traps.copy())
    else:
        note(ctx, fill, o, dict(o.items()))


def restore(o: Any, flags: Any, traps: Any) -> None:
    """Set the flags and traps of a context."""
    fill(o.flags, flags)
    fill(o.traps, traps)


def fill(signals: Any, old: Any) -> None:
    """Set flags or traps."""
    for signal, is_set in old.items():
        signals[signal] = is_set


class Flags:
    """The flags of the current context, as they are now."""

    __slots__ = ("context", "copy")

    def __init__(self) -> None:
        decimal = sys.modules.get("_decimal")  # in C, without which `decimal` is in Python
        self.context = None if decimal is None else decimal.getcontext()
        self.copy: Any = None if self.context is None else self.context.copy()

    def put_back(self) -> None:
        """Set the flags that have changed."""
        if self.context is not None and self.context.flags != self.copy.flags:
            fill(self.context.flags, self.copy.flags)
