"""Which names and arrays expressions and statements mention, and which they bind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mooncake_py.compiler.derivatives.activity import part_of
from mooncake_py.compiler.native.regions.unbound import expressions_in
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
    Length,
    Let,
    Load,
    Name,
    Statement,
    statements,
    walk,
)
from mooncake_py.compiler.regions.steps import Names

__all__ = [
    "bound_by", "mentions", "names_in", "own_mentions", "unused", "values_in",
    "written_arrays",
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
    return ()


def mentions(block: Block) -> Iterator[str]:
    """Yield the names and arrays that statements mention, once for each statement of each."""
    for s in statements(block):
        yield from own_mentions(s)


def own_mentions(s: Statement) -> set[str]:
    """Return the names and arrays that a statement itself mentions."""
    return {*names_in(expressions_in(s)), *bound_by(s)}


def written_arrays(block: Block) -> set[str]:
    """Return the arrays that are made in a block, or of which elements are written."""
    return {
        name
        for s in statements(block)
        if isinstance(s, Alloc) or (isinstance(s, Assign) and isinstance(s.target, Load))
        for name in bound_by(s)
    }


def unused(prefix: str, names: Iterable[str]) -> Names:
    """Return names of ours that are none of those given."""
    taken = set(names)
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in taken):
        prefix += "_"
    return Names(prefix)
