"""Lists of arrays that a region reads and appends to.

A region does not change the arrays in a list, nor those that it appends: names are bound to new
ones, or to others that nothing changes.  So lists and names may share arrays, and cotangents of
items are as those of names: new arrays, or None for zero.

    q = [u]                 cells = [u]             q.append(q[-1] * c)
                            cells = [u, v]          q = [u, v]
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from mooncake_py.compiler.sites.items import Items, Pairs, put_into
from mooncake_py.overriding import override
from mooncake_py.runtime.values import FLOAT64
from mooncake_py.tangents.memory import has_overlaps
from mooncake_py.tangents.memory import owner as owner_of

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Recording, Tracking
    from mooncake_py.runtime.registry import Registry
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["ArrayItems", "ArrayPairs", "are_arrays"]


class ArrayItems(Items):
    """The arrays of a list or a tuple, within a region; see `Items`.

    The leaves and outputs are nodes of arrays.
    """

    @classmethod
    def of_arrays(
        cls, ctx: Tracking, source: Any, first: int, written: Collection[int]
    ) -> ArrayItems | None:
        """Return the items of a list, or None if they are not arrays that stay as they are.

        Parameters
        ----------
        source : list or tuple
        first : int
            How many items the region leaves alone.
        written : collection of int
            The ids of the owners of memory that the region writes to.
        """
        cells = list(source[first:])
        if not are_arrays(cells):
            return None
        if written and any(id(owner_of(a)) in written for a in cells):
            return None
        found = [(k, ctx.find(a)) for k, a in enumerate(cells)]
        leaves: list[tuple[int, Any]] = [(k, node) for k, node in found if node is not None]
        if any(cells[k].base is not None and has_overlaps(cells[k]) for k, _ in leaves):
            return None
        return cls(source, "", cells, leaves, first)

    @property
    def axes(self) -> int:
        """How many axes the list would have as an array; 0 where only what is appended tells."""
        return 1 + self.before[0].ndim if self.before else 0

    @property
    def given(self) -> tuple[ndarray, ...]:
        """The arrays that were in the list before."""
        return self.before

    @property
    def appended(self) -> list[ndarray]:
        """The arrays that the region appended."""
        return self.cells[len(self.before) :]

    @override
    def store(self, ctx: ReverseMode, on: bool) -> None:
        append_all(ctx, self.source, self.appended)

    def protect(self, registry: Registry) -> None:
        """Note that what was there, or was appended without a node, may have been saved."""
        for a in self.before if self.outputs else self.cells:
            registry.protect(a)

    def register(self, registry: Registry, nodes: dict[int, Any], given: Collection[int]) -> None:
        """Note the nodes of what was there and of what was appended.

        Parameters
        ----------
        nodes : dict of int to Memory or View
            By the ids of arrays; takes more.
        given : collection of int
            The ids of arrays that were there before the region: constants stay what they are.
        """
        leaves: list[tuple[int, Any]] = []
        for k, _ in self.leaves:
            a = self.cells[k]
            leaves.append((k, registry.find(a) or registry.activate(a)))
        self.leaves = leaves
        outputs: list[tuple[int, Any]] = []
        for k, a in enumerate(self.appended, len(self.before)):
            key = id(a)
            node = nodes.get(key)
            if node is None:
                node = registry.find(a) if key in given else registry.fresh(a)
            if node is not None:
                nodes[key] = node
                node.protect()
                outputs.append((k, node))
        self.outputs = outputs

    @property
    @override
    def grad(self) -> Any:
        return self.outputs if any(y.grad is not None for _, y in self.outputs) else None

    @override
    def shadow(self) -> list[Any]:
        if self._cotangents is None:
            self._cotangents = [None] * len(self.cells)
            for k, y in self.outputs:
                self._cotangents[k] = y.take()  # all of it, if it is there several times
        return self._cotangents

    @override
    def deliver(self) -> None:
        if self._cotangents is not None:
            for k, leaf in self.leaves:
                g, self._cotangents[k] = self._cotangents[k], None  # which may free it at once
                if g is not None:
                    leaf.add_shared(g)
            self._cotangents = None


class ArrayPairs(Pairs):
    """The arrays of a list or a tuple and their tangents, as lists for a region below."""

    def __init__(self, ctx: ForwardMode, source: Any, first: int) -> None:
        self.ctx = ctx
        self.source = source
        self.first = first
        self.primals = list(source[first:])
        self.moves = any(ctx.split(a)[1] is not None for a in self.primals)
        self.given = tuple(self.primals)

    @cached_property
    def tangents(self) -> list[Any]:  # type: ignore[override]
        """Those of all items, once one moves or the region makes one that does."""
        return [self.ctx.tangent_to_write(a) for a in self.primals]

    @override
    def store(self, ctx: ForwardMode, on: bool) -> None:
        before = len(self.given)
        if on:
            for p, t in zip(self.primals[before:], self.tangents[before:], strict=True):
                if ctx.split(p)[1] is None:  # else it was there, or is a second time
                    ctx.fresh(p, t)
        append_all(ctx, self.source, self.primals[before:])


def append_all(ctx: Recording, source: list[Any], new: list[Any]) -> None:
    """Append to a list what a region appended, and record what undoes it."""
    size = len(source)
    put_into(ctx, source, list(range(size, size + len(new))), new)


def are_arrays(items: list[Any]) -> bool:
    """Return True for arrays of floats with as many axes."""
    return all(
        type(a) is ndarray and a.dtype is FLOAT64 and a.ndim == items[0].ndim for a in items
    ) and (not items or items[0].ndim > 0)
