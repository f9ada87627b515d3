"""The classes that ``class`` statements have made while they were differentiated."""

from __future__ import annotations

from weakref import WeakSet

__all__ = ["made_inside"]

made_inside: WeakSet[type] = WeakSet()
