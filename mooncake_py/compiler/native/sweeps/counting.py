"""The part of a forward sweep that tells how many numbers it will save.

    for i in range(n):              for i in range(n):
        push floats x[i]                push floats 0.0
        x[i] = x[i] ** 2

What is pushed does not matter, only how often.
"""

from __future__ import annotations

from collections.abc import Mapping

from mooncake_py.compiler.derivatives.sweeps import with_body
from mooncake_py.compiler.native.regions.mentions import (
    bound_by,
    expressions_in,
    names_in,
    values_in,
)
from mooncake_py.compiler.regions.ir import (
    FLOATS,
    Alloc,
    Assign,
    Block,
    Break,
    Check,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    If,
    Length,
    Let,
    Push,
    Statement,
    While,
    parts_of,
    rebuilt,
    statements,
    with_value,
)

__all__ = ["counted"]

SOMETHING = Push(FLOATS, Const(0.0))


def counted(forward: Block, shapes: Mapping[str, tuple[Expr, ...]]) -> Block | None:
    """Return the part of a forward sweep that tells how often it pushes; it writes no array.

    None if that depends on what the sweep computes, or if a check may end what a test does not::

        while True:
            check(i < len(a, 0))
            push floats a[i]

    Parameters
    ----------
    shapes : mapping of str to tuple of Expr
        Of arrays that it makes.
    """
    made = {s.name for s in statements(forward) if isinstance(s, Alloc)}
    changed = {n for s in statements(forward) if isinstance(s, Assign | Let) for n in bound_by(s)}
    wanted: set[str] = set()
    while True:
        block = measured(kept(forward, wanted, breaks=False), shapes)
        if any(isinstance(s, Check) for s in statements(block)):
            return None
        read = [e for s in statements(block) for e in expressions_in(s)]
        more = values_in(read)
        if more & changed or names_in(read) & made:
            return None
        if more <= wanted:
            return block
        wanted |= more


def kept(block: Block, wanted: set[str], *, breaks: bool) -> Block:
    """Return the statements that push, bind ints that are wanted, or leave a loop that does."""
    found: list[Statement] = []
    for s in block:
        match s:
            case Push():
                found.append(SOMETHING)
            case ForAll(body=(Push(), *_)):
                found.append(ForAll(s.counters, s.extents, (SOMETHING,)))
            case Count() if s.name in wanted:
                found.append(s)
            case Break() if breaks:
                found.append(s)
            case For() | While():
                body = kept(s.body, wanted, breaks=True)
                if not only_leaves(body):
                    found.append(with_body(s, [*body, *checks_that_end(s)]))
            case If():
                body, orelse = (kept(x, wanted, breaks=breaks) for x in (s.body, s.orelse))
                if body or orelse:
                    found.append(If(s.test, body, orelse))
    return tuple(found)


def checks_that_end(s: For | While) -> list[Check]:
    """Return the checks that may end a loop other than one over a range."""
    return [c for c in statements(s.body) if isinstance(c, Check)] if isinstance(s, While) else []


def only_leaves(block: Block) -> bool:
    """Return whether all that is left of the body of a loop leaves it."""
    return all(
        isinstance(s, Break)
        or (isinstance(s, If) and only_leaves(s.body) and only_leaves(s.orelse))
        for s in block
    )


def measured(block: Block, shapes: Mapping[str, tuple[Expr, ...]]) -> Block:
    """Return a block that reads no length of an array whose shape is known."""

    def known(e: Expr) -> Expr:
        if isinstance(e, Length) and e.array in shapes:
            return known(shapes[e.array][e.axis])
        parts = parts_of(e)
        return rebuilt(e, tuple(map(known, parts))) if parts else e

    def changed(s: Statement) -> Statement:
        match s:
            case For():
                return For(s.name, known(s.range), measured(s.body, shapes))
            case ForAll():
                return ForAll(s.counters, tuple(map(known, s.extents)), s.body)
            case While():
                return While(known(s.test), measured(s.body, shapes))
            case If():
                sides = measured(s.body, shapes), measured(s.orelse, shapes)
                return If(known(s.test), *sides)
        return with_value(s, known)

    return tuple(map(changed, block))
