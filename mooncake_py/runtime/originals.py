"""The originals of memory that a call got as a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from weakref import ref

from numpy import ndarray

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["LookUp", "Original"]


class Reachable(Protocol):
    """Is told when a call looks up an original."""

    def reach(self, ctx: Mode, view: ndarray | None) -> None:
        """Note it: a view of the block, or the block itself."""


class LookUp:
    """The view whose block is being looked up; contexts one inside another share it."""

    __slots__ = ("view",)

    def __init__(self) -> None:
        self.view: ndarray | None = None


class Original:
    """Stands for a block in the registry of a context: unknown there, but look-ups are noted."""

    __slots__ = ("block", "context", "noted_by")

    def __init__(self, block: ndarray, noted_by: Reachable, ctx: Mode) -> None:
        self.block = ref(block)
        self.noted_by = noted_by
        self.context = ref(ctx)  # no cycle, which only the collector would free

    def ref(self) -> None:
        """Note the look-up, unless the block is gone and its id may be another's."""
        ctx = self.context()
        if ctx is not None and self.block() is not None:
            self.noted_by.reach(ctx, ctx.registry.look_up.view)
