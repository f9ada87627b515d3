"""Who holds an object: the references to the items of a list, counted."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

__all__ = ["references_beside"]


def counted(holder: list[Any], k: int) -> int:
    return getrefcount(holder[k])


_own = counted([object()], 0)  # that of the list, and the call's


def references_beside(holder: list[Any], k: int = 0) -> int:
    """Return how many references there are to an item of a list beside that of the list."""
    return counted(holder, k) - _own
