"""Tangents of arrays along several directions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numpy import ndarray

from mooncake_py.modes.forward.blocks import Block, Blocks
from mooncake_py.modes.forward.stack import rows_like, rows_view
from mooncake_py.overriding import override
from mooncake_py.runtime.drops import Reporter
from mooncake_py.runtime.registry import Registry
from mooncake_py.tangents.memory import shadow_view

__all__ = ["StackedBlocks"]


class StackedBlocks(Blocks):
    """The rows of arrays.  Who asks for one tangent gets it, along one direction.

    Parameters
    ----------
    directions : int

    Attributes
    ----------
    several : bool
        Whether there is more than one direction still.
    direction : int or None
        That of which tangents are given and read from outside; None while the function runs:
        then who asks for one tangent ends the others.
    """

    def __init__(self, registry: Registry, report: Reporter, directions: int) -> None:
        super().__init__(registry, report)
        self.directions = directions
        self.several = True
        self.direction: int | None = None
        self.view = rows_view

    rows_of = Blocks.tangent_of

    @override
    def tangent_of(self, a: ndarray) -> ndarray | None:
        rows = self.rows_of(a)
        if rows is None or not self.several:
            return rows
        if self.direction is None:
            self.keep_first()
            return self.rows_of(a)
        return rows[self.direction, ...]

    @override
    def activate(self, a: ndarray) -> ndarray:
        if self.several and self.direction is not None:
            rows = self.rows_to_write(a)
            if rows is not None:
                return rows[self.direction, ...]
        self.keep_first()
        return super().activate(a)

    @override
    def put_first(self, owner: ndarray, tangent: ndarray) -> bool:
        return not self.several and super().put_first(owner, tangent)

    def rows_to_write(self, a: ndarray) -> ndarray | None:
        """Return the rows of an array, zeros if it had none; None if it cannot have rows."""
        rows = self.rows_of(a)
        if rows is None:
            if not self.can_hold(a):
                return None
            owner = a if a.base is None else self.owner(a)
            self.refuse_unowned(owner)
            self.put(owner, rows_like(owner, self.directions))
            rows = self.rows_of(a)
        return rows

    def can_hold(self, a: ndarray) -> bool:
        """Return whether the memory of an array can have rows."""
        owner = a if a.base is None else self.owner(a)
        return owner.dtype.kind in "fc" and owner.flags.forc

    def keep_first(self) -> None:
        """Keep the tangents along the first direction only."""
        if not self.several:
            return
        self.several = False
        self.view = shadow_view
        for block in self.known.values():
            if type(block) is Block:
                block.tangent = block.tangent[0, ...]

    @contextmanager
    def along(self, direction: int) -> Iterator[None]:
        """Give and read tangents along one direction."""
        self.direction = direction
        try:
            yield
        finally:
            self.direction = None
