"""Arrays that two sides of a branch bind, as one array after it.

if a > b:                       y = array(n)
y = 2 * x                   if a > b:
else:                               y[:] = 2 * x
y = x + 1                   else:
y[:] = x + 1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Choice,
    ComplexArray,
    Dictionary,
    Function,
    Partial,
    Stack,
    Tuple,
    Value,
)
from mooncake_py.compiler.native.reading.store import Snapshot
from mooncake_py.compiler.regions.ir import Expr, Length, Name, Statement, walk
from mooncake_py.syntax.nodes import Place

__all__ = ["Around", "Before", "bases_in", "merged"]


class Before(NamedTuple):
    """The values known before a branch or a loop.

    Attributes
    ----------
    stable : frozenset of str
        Ints.
    arrays : frozenset of str
    names : int
        How many names were made.
    """

    stable: frozenset[str]
    arrays: frozenset[str]
    names: int

    @classmethod
    def of(cls, b: Builder) -> Before:
        """Return it for where the reader is."""
        return cls(frozenset(b.stable), frozenset(b.arrays), b.count)

    def knows(self, a: Array) -> bool:
        """Return True for an array whose shape is known before the branch."""
        return self.has(a.shape)

    def has(self, found: Iterable[Expr]) -> bool:
        """Return True for expressions over ints and lengths that are known before."""
        parts = [part for e in found for part in walk(e)]
        return all(
            part.array in self.arrays
            if isinstance(part, Length)
            else not isinstance(part, Name) or part.name in self.stable
            for part in parts
        )


class Around(NamedTuple):
    """The facts that hold around a loop that is being read.

    Attributes
    ----------
    is_straight : bool
        Whether the loop runs in each pass of the one around it.
    aliases : frozenset of frozenset of str
        Those before it.
    before : Before
    over : set of str
        The memory that it runs over.
    place : Place or None
    entry : Snapshot
        What slots stood for before it.
    """

    is_straight: bool
    aliases: set[frozenset[str]]
    before: Before
    over: set[str]
    place: Place | None
    entry: Snapshot = Snapshot({}, {})


def merged(
    b: Builder, before: Before, blocks: Sequence[list[Statement]], values: Sequence[Array]
) -> Array | None:
    """Return an array that holds what the sides of a branch bind; None if there is none.

    What stores it is added to the blocks of the sides.  It must not be written if one of them
    must not.
    """
    like = next((a for a in values if before.knows(a)), None)
    if like is None or any(isinstance(a, ComplexArray) for a in values):
        return None
    if any(a.kind != like.kind or len(a.shape) != len(like.shape) for a in values):
        return None
    found = b.new(like.shape, like.kind)
    b.layouts.follow(found, values)
    for block, a in zip(blocks, values, strict=True):
        with b.within() as more:
            for n, m in zip(a.shape, like.shape, strict=True):
                b.check("eq", n, m)
            source = a
            b.for_all(found.shape, lambda at: b.stored(found, at, source.at(at)))  # noqa: B023
        block += more
    return replace(found, frozen=any(a.frozen for a in values))


def bases_in(values: Iterable[Value]) -> Iterator[str]:
    """Yield the memory that values refer to."""
    for value in values:
        if isinstance(value, Tuple | Dictionary) and value.has_slots:
            continue  # their items are values of slots themselves
        if isinstance(value, Tuple | Dictionary | Partial | Choice):
            yield from bases_in(value.items)
        elif isinstance(value, Function):
            yield from bases_in(value.defaults.values())
        elif isinstance(value, Array | Cells):
            yield value.base
        elif isinstance(value, Stack):
            yield from value.bases
