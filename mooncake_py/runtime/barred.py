"""Memory that a call must not reach, as it was passed copies of it."""

from __future__ import annotations

from collections.abc import Callable
from weakref import ref

from numpy import ndarray

__all__ = ["Barred"]


class Barred:
    """Stands for a block in the registry that must not be reached: to look it up is an error."""

    def __init__(self, owner: ndarray, refusal: Callable[[], Exception]) -> None:
        self.alive = ref(owner)
        self.refusal = refusal

    def ref(self) -> None:
        """Raise, unless the block is gone and its id may be another's."""
        if self.alive() is not None:
            raise self.refusal()
