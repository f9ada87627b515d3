"""Deques of known length while a function is read."""

from __future__ import annotations

from dataclasses import dataclass

from mooncake_py.compiler.native.building.values import Tuple

__all__ = ["Deque"]


@dataclass(frozen=True, eq=False)
class Deque(Tuple):
    """A `collections.deque`.

    Attributes
    ----------
    maxlen : int or None
    """

    maxlen: int | None = None

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.maxlen == other.maxlen  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]
