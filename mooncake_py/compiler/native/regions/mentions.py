"""Which names and arrays expressions and statements mention, and which they bind."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Bump,
    Count,
    Expr,
    For,
    ForAll,
    Grow,
    If,
    Length,
    Let,
    Load,
    Name,
    Places,
    Reduce,
    Statement,
    While,
    blocks_of,
    statements,
    walk,
)
from mooncake_py.compiler.regions.simplify import expressions_of
from mooncake_py.compiler.regions.steps import Names

__all__ = [
    "Bindings", "all_bound", "all_mentioned", "bound_by", "expressions_in", "mentions", "names_in",
    "own_mentions", "unread", "unused", "values_in", "written_arrays",
]  # fmt: skip


def names_in(expressions: Iterable[Expr]) -> set[str]:
    """Return the names, and the arrays, that are in expressions."""
    found: set[str] = set()
    for e in expressions:
        for part in walk(e):
            if isinstance(part, Name):
                found.add(part.name)
            elif isinstance(part, Load | Length):
                found.add(part.array)
    return found


def values_in(expressions: Iterable[Expr]) -> set[str]:
    """Return the names, and the arrays, whose values expressions ask: not of which the lengths."""
    return {
        part.array if isinstance(part, Load) else part.name
        for e in expressions
        for part in walk(e)
        if isinstance(part, Name | Load)
    }


def expressions_in(s: Statement) -> tuple[Expr, ...]:
    """Return the expressions of a statement, except those of its blocks."""
    match s:
        case For():
            return (s.range,)
        case ForAll():
            return s.extents
        case While() | If():
            return (s.test,)
        case Alloc():
            return s.shape
        case Grow(name=name, least=least):
            return Load(name, ()), least
        case Apply(operands=operands):
            return tuple([Load(array, ()) for array in operands])
    return expressions_of(s)


def bound_by(s: Statement) -> tuple[str, ...]:
    """Return the names that a statement itself binds, or the array that it writes or makes."""
    match s:
        case Assign() | Bump():
            return (part_of(s.target),)
        case Let() | Count() | For() | Alloc() | Grow():
            return (s.name,)
        case ForAll():
            return s.counters
        case Apply():
            return (s.target,)
        case Reduce():
            return (part_of(s.target), *s.counters)
        case Places():
            return (s.count, *s.arrays, *s.counters)
    return ()


def all_bound(block: Block) -> frozenset[str]:
    """Return the names that statements and those within them bind, and the arrays they write."""
    return frozenset(n for s in statements(block) for n in bound_by(s))


def mentions(block: Block) -> Iterator[str]:
    """Yield the names and arrays that statements mention, once for each statement of each."""
    for s in statements(block):
        yield from own_mentions(s)


def own_mentions(s: Statement) -> set[str]:
    """Return the names and arrays that a statement itself mentions."""
    return {*names_in(expressions_in(s)), *bound_by(s)}


def all_mentioned(s: Statement) -> frozenset[str]:
    """Return the names and arrays that a statement and those within it mention.

    A statement with blocks remembers them: who goes through nested blocks asks at each level.
    """
    blocks = blocks_of(s)
    if not blocks:
        return frozenset(own_mentions(s))
    found = s.__dict__.get("mentioned")
    if found is None:
        inner = [all_mentioned(part) for block in blocks for part in block]
        found = s.__dict__["mentioned"] = frozenset(own_mentions(s)).union(*inner)
    return found


class Bindings:
    """Where names are bound in a body, by how many statements come before in its text.

    It answers for each of many blocks, one in another, without going through all of them.
    """

    def __init__(self, body: Block) -> None:
        self._ends: dict[int, tuple[int, int]] = {}
        self._places: dict[str, list[int]] = {}
        self._count = 0
        self._number(body)

    def _number(self, block: Block) -> None:
        for s in block:
            first = self._count
            self._count += 1
            for name in bound_by(s):
                self._places.setdefault(name, []).append(first)
            for inner in blocks_of(s):
                self._number(inner)
            self._ends[id(s)] = first, self._count

    def is_bound_in(self, name: str, s: Statement) -> bool:
        """Return whether a statement, or one within it, binds a name or writes an array."""
        first, end = self._ends[id(s)]
        places = self._places.get(name, ())
        k = bisect_left(places, first)
        return k < len(places) and places[k] < end


def written_arrays(block: Block) -> set[str]:
    """Return the arrays that are made in a block, or of which elements are written."""
    return {
        name
        for s in statements(block)
        if isinstance(s, Alloc) or (isinstance(s, Assign) and isinstance(s.target, Load))
        for name in bound_by(s)
    }


def unread(region: NativeRegion) -> frozenset[str]:
    """Return the inputs that are arrays whose numbers a region neither asks nor gives back."""
    arrays = {name for name in region.inputs if name in region.arrays} - region.lists
    for s in statements(region.body):
        arrays -= values_in(expressions_in(s)).union(bound_by(s))
    return frozenset(arrays - region.private).difference(region.results)


def unused(prefix: str, names: Iterable[str]) -> Names:
    """Return names of ours that are none of those given."""
    taken = set(names)
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in taken):
        prefix += "_"
    return Names(prefix)
