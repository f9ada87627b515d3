"""What a function may read before it is bound, and what its statements are made of."""

from __future__ import annotations

from collections.abc import Iterable

from mooncake_py.compiler.regions.ir import (
    Alloc,
    Apply,
    Assign,
    Block,
    Break,
    Bump,
    Count,
    Expr,
    For,
    ForAll,
    Grow,
    If,
    Let,
    Load,
    Name,
    Statement,
    While,
    walk,
)
from mooncake_py.compiler.regions.simplify import expressions_of

__all__ = ["expressions_in", "unbound"]


def expressions_in(s: Statement) -> tuple[Expr, ...]:
    """Return the expressions of a statement, but for those of its blocks."""
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


def unbound(body: Block, given: Iterable[str], results: Iterable[str]) -> list[str]:
    """Return the names of numbers that may be read before the body binds them.

    Parameters
    ----------
    given : iterable of str
        What is bound before.
    results : iterable of str
        Names that are read after it.
    """
    found: dict[str, None] = {}
    bound = _after(body, set(given), found)
    if bound is not None:
        found |= dict.fromkeys(name for name in results if name not in bound)
    return list(found)


def _after(block: Block, bound: set[str] | None, found: dict[str, None]) -> set[str] | None:
    """Return what is bound after a block, None if it does not come to its end.

    What is bound before it is changed.
    """
    for s in block:
        if bound is None:
            return None
        for e in expressions_in(s):
            names = [part.name for part in walk(e) if isinstance(part, Name)]
            found |= dict.fromkeys(name for name in names if name not in bound)
        match s:
            case Bump(target=Name(name=name)):
                pass  # read above
            case Assign(target=Name(name=name)) | Let(name=name) | Count(name=name):
                bound.add(name)
            case Alloc(name=name):
                bound.add(name)
            case For(name=name):
                _after(s.body, bound | {name}, found)
            case ForAll():
                _after(s.body, bound.union(s.counters), found)
            case While():
                _after(s.body, {*bound}, found)
            case If():
                sides = [_after(side, {*bound}, found) for side in (s.body, s.orelse)]
                known = [side for side in sides if side is not None]
                bound = set.intersection(*known) if known else None
            case Break():
                return None
    return bound
