"""The record of changes to containers, objects and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake_py.runtime import pulls

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Recording

__all__ = ["ONCE", "PLAIN", "is_plain_key", "note", "once"]

ONCE: set[Callable[..., None]] = set()
"""Inverses that empty their last argument, a list, and do nothing where it is empty."""


def once(inverse: Callable[..., None]) -> Callable[..., None]:
    """Note an inverse that changes something only once; see `ONCE`."""
    ONCE.add(inverse)
    return inverse


def note(ctx: Recording, inverse: Callable[..., Any], *arguments: Any) -> None:
    """Record the inverse of a change that is about to be made.

    It must do no harm where the change is not made after all, or was undone: see
    `runtime.interrupts`.
    """
    ctx.record((pulls.pull_state, inverse, *arguments))


PLAIN = (int, str, float, bytes, bool, type(None), complex)


def is_plain_key(key: Any) -> bool:
    """Return whether a key or an element may be restored in place of an equal one.

    If equality is the user's, the one that was taken away must come back: which one that was
    cannot be found without comparing, and the other may have been made inside the call, of which
    no trace is to remain.
    """
    t = type(key)
    if t is tuple:
        return all(map(is_plain_key, key))
    return t in PLAIN or t.__eq__ is object.__eq__
