"""Lists of numbers that a region reads and writes.

A region runs on floats of its own: on entry those of the items, on exit they go back.  They are
new objects, so that an item has been written if another object is in its place; the others stay as
they are, with their identity and their derivative.

    q = [a', 2.0, b']       cells = [a, 2.0, b]      q[1] = q[0] * c
                            cells = [a, v, b]        q = [a', v', b']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.containers import lists
from mooncake_py.containers.undo import note
from mooncake_py.runtime.active import Active, active_number

if TYPE_CHECKING:
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Recording, Tracking
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["Items", "Pairs", "bytes_copied", "put_into", "split"]

FLOAT, FLOAT64, INT = "float", "float64", "int"
ITEM_BYTES = 64  # what an item costs on entry and exit, in bytes of an array that are copied


KINDS: dict[type, str] = {float: FLOAT, np.float64: FLOAT64, int: INT}
TYPES = {kind: t for t, kind in KINDS.items()}
AS_CELLS: dict[type, Any] = {np.float64: float, int: int}


class Items:
    """The items of a list or a tuple, within a region.

    Attributes
    ----------
    source : list or tuple
    kind : str
        The type of all numbers in it; empty for a list that the region has made.
    cells : list of float
        What the region reads and writes; ints are read only.
    leaves : list of (int, Active)
        The items that were active on entry, by position among these.
    outputs : list of (int, Active)
        Those that the region wrote or appended, if a derivative may flow to them.
    before : tuple of float
        What there was on entry.
    """

    def __init__(
        self,
        source: Any,
        kind: str,
        cells: list[Any],
        leaves: list[tuple[int, Active]],
    ) -> None:
        self.source = source
        self.kind = kind
        self.cells = cells
        self.leaves = leaves
        self.outputs: list[tuple[int, Active]] = []
        self.before = tuple(cells)
        self._cotangents: list[Any] | None = None

    @classmethod
    def of(cls, ctx: Tracking, source: Any) -> Items | None:
        """Return the items of a list, or None if they are not numbers of one type."""
        leaves = [(k, v) for k, v in enumerate(source) if type(v) is Active]
        if not {id(v.context) for _, v in leaves} <= {id(ctx), *map(id, ctx.outers)}:
            return None
        numbers = [v.primal if type(v) is Active else v for v in source] if leaves else source
        types = set(map(type, numbers)) or {float}
        kind = types.pop()
        if types or kind not in KINDS or (kind is int and leaves):
            return None
        cells = [v * 1.0 for v in numbers] if kind is float else list(map(AS_CELLS[kind], numbers))
        return cls(source, KINDS[kind], cells, leaves)

    @classmethod
    def made(cls, ctx: ReverseMode, numbers: list[Any], on: bool) -> Items:
        """Return those of a new list, active if it is `on`."""
        items = [active_number(v, ctx) for v in numbers] if on else numbers
        found = cls(items, "", numbers, [])
        found.outputs = [*enumerate(items)] if on else []
        return found

    @property
    def shape(self) -> tuple[int]:
        """As that of an array."""
        return (len(self.cells),)

    @property
    def contents(self) -> list[Any]:
        """The cells as they are in the list: floats of its type, and ints."""
        if not self.cells:
            return []
        kind = TYPES[self.kind]
        return [v if type(v) is int else kind(v) for v in self.cells]

    def changed(self) -> list[int]:
        """Return the positions of the items that the region wrote or appended."""
        return changes(self.before, self.cells)

    def store(self, ctx: ReverseMode, on: bool) -> None:
        """Put what the region wrote into the list, active if it is `on`, and log the old items."""
        changed = self.changed()
        now = self.contents
        new = [now[k] for k in changed]
        if on:
            new = [v if type(v) is int else active_number(v, ctx) for v in new]
            outputs = zip(changed, new, strict=True)
            self.outputs = [(k, y) for k, y in outputs if type(y) is Active]
        put_into(ctx, self.source, changed, new)

    # As a node on the way back.

    @property
    def grad(self) -> list[tuple[int, Active]] | None:
        """Something if an output has a cotangent, else None."""
        return self.outputs if any(y.grad for _, y in self.outputs) else None

    @property
    def memory(self) -> Items:
        """The owner of the cotangent: no other node shares it."""
        return self

    def shadow(self) -> list[Any]:
        """Return the cotangents of the cells, which begin as those of the outputs."""
        if self._cotangents is None:
            self._cotangents = [0.0] * len(self.cells)
            for k, y in self.outputs:
                self._cotangents[k] = y.grad
        return self._cotangents

    def deliver(self) -> None:
        """Give the cotangents of the cells to the items that were there on entry."""
        if self._cotangents is not None:  # not yet, by another name of the list
            for k, leaf in self.leaves:
                leaf.grad += self._cotangents[k]
            self._cotangents = None


class Pairs:
    """The primals and the tangents of a list or a tuple, as lists for a region below.

    Parameters
    ----------
    ctx : ForwardMode
    source : list or tuple

    Attributes
    ----------
    primals, tangents : list
    moves : bool
        Whether an item has a tangent.
    given : tuple of ndarray
        The items that are arrays.
    """

    given: tuple[ndarray, ...] = ()

    def __init__(self, ctx: ForwardMode, source: Any) -> None:
        self.source = source
        given = [v.primal if type(v) is Active and v.context is ctx else v for v in source]
        moving = [v.grad if type(v) is Active and v.context is ctx else None for v in source]
        self.primals = [p * 1.0 if type(p) is float else p for p in given]
        self.tangents = list(map(as_tangent, moving, given))
        self.moves = moving.count(None) < len(moving)
        self.before = tuple(self.primals)

    def store(self, ctx: ForwardMode, on: bool) -> None:
        """Put what the region wrote into the list, with tangents if it is `on`."""
        changed = changes(self.before, self.primals)
        new = [ctx.fresh(self.primals[k], self.tangents[k] if on else None) for k in changed]
        put_into(ctx, self.source, changed, new)


def bytes_copied(a: Any) -> int:
    """Return the cost of copying an array or the items of a list, in bytes of an array."""
    return a.nbytes if type(a) is ndarray else len(a) * ITEM_BYTES


def split(ctx: ForwardMode, value: Any) -> tuple[Any, Any]:
    """Return primal and tangent of a value, None if it does not move."""
    if isinstance(value, Pairs):
        return value.primals, value.tangents if value.moves else None
    return ctx.split(value)


def as_tangent(t: Any, p: Any) -> Any:
    """Return the tangent of a number, of the number's type; zero for None."""
    if type(t) is Active or type(t) is float is type(p):
        return t
    kind = type(p.primal if type(p) is Active else p)
    return kind(t or 0.0) if kind in (float, np.float64) else t


def changes(before: tuple[Any, ...], after: list[Any]) -> list[int]:
    """Return the positions of which the objects differ, and those that were not there before."""
    old = len(before)
    first = zip(before, after[:old], strict=True)
    return [*(k for k, (a, b) in enumerate(first) if a is not b), *range(old, len(after))]


def put_into(ctx: Recording, items: list[Any], positions: list[int], new: list[Any]) -> None:
    """Write items, those behind the end last, and record what undoes it.

    In a rehearsal all old items are recorded, which are kept once.
    """
    if not positions:
        return
    size = len(items)
    old = [k for k in positions if k < size]
    if ctx.rehearsal is not None:
        lists.snapshot(ctx, items)
    else:
        if old:
            note(ctx, put_items, items, old, [items[k] for k in old])
        if len(old) < len(new):
            note(ctx, lists.truncate, items, size)
    put_items(items, old, new[: len(old)])
    items += new[len(old) :]


def put_items(items: list[Any], positions: list[int], values: list[Any]) -> None:
    """Write items by position."""
    for k, value in zip(positions, values, strict=True):
        items[k] = value
