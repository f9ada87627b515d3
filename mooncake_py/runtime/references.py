"""Who holds an object: the references to the items of a list, counted."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

__all__ = ["HELD_ONCE", "references_beside"]


def counted(holder: list[Any], k: int) -> int:
    return getrefcount(holder[k])


_own = counted([object()], 0)  # that of the list, and the call's


def references_beside(holder: list[Any], k: int = 0) -> int:
    """Return the number of references to an item of a list, not counting that of the list."""
    return counted(holder, k) - _own


class _Taking:
    def take(self, value: Any, other: Any = None) -> int:
        return getrefcount(value)


def _of_temporary(taking: _Taking) -> int:
    return taking.take(object())


def _of_variable(taking: _Taking) -> int:
    value = object()
    return taking.take(value)


HELD_ONCE = _of_temporary(_Taking())
"""The count of the references to an argument of a method that is held by that alone."""
if _of_variable(_Taking()) <= HELD_ONCE:  # Python lends the method what a variable holds
    HELD_ONCE = -1
