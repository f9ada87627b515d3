"""Arrays that cannot be written while a solver runs natively.

A callback may write what an array already holds, for example the buffer of an earlier plain call:
to compare the contents would not show that.
"""

from __future__ import annotations

from collections.abc import Iterable

from numpy import ndarray

from mooncake_py.tangents.memory import is_writeable

__all__ = ["has_own_memory", "held_still", "is_refused_view"]


class held_still:
    """A block in which arrays are read-only."""

    def __init__(self, arrays: Iterable[ndarray]) -> None:
        self.arrays = [a for a in arrays if is_writeable(a) and has_own_memory(a)]

    def __enter__(self) -> None:
        for a in self.arrays:
            a.flags.writeable = False

    def __exit__(self, *exception: object) -> None:
        for a in sorted(self.arrays, key=depth):  # what a view shows first
            a.flags.writeable = True


def has_own_memory(a: ndarray) -> bool:
    """Return whether the memory of an array is that of an array, which may be made writable."""
    base: object = a
    while isinstance(base, ndarray):
        base = base.base
    return base is None


def depth(a: ndarray) -> int:
    """Return how many arrays lie below a view."""
    count, base = 0, a.base
    while isinstance(base, ndarray):
        count, base = count + 1, base.base
    return count


def is_refused_view(error: BaseException | None) -> bool:
    """Return whether compiled code has only asked for memory that it could write."""
    text = str(error)
    return isinstance(error, ValueError) and "read-only" in text and "buffer source" in text
