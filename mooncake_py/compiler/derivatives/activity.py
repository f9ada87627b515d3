"""Activity analysis of a region: names and arrays that depend on active inputs.

Arrays that share memory are active together, so one name represents them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mooncake_py.compiler.regions.flat import is_flat
from mooncake_py.compiler.regions.ir import (
    Apply,
    Assign,
    Block,
    Call,
    Compare,
    Expr,
    Let,
    Load,
    Name,
    Op,
    Reduce,
    Select,
    Target,
    parts_of,
    statements,
)

DISCRETE = frozenset({"argmax", "argmin", "any", "all", "count"})
"""Operations along axes through which no derivative flows."""

__all__ = ["active_parts", "flowing", "is_active", "part_of", "target_of"]


def active_parts(body: Block, active: set[str], groups: Mapping[str, Any]) -> set[str]:
    """Return the names and arrays that are active somewhere in the body of a region.

    Parameters
    ----------
    active : set of str
        Inputs that are.
    groups : dict
        For each array what memory it is part of: what shares it is active together.  Arrays that
        are not there share none.
    """
    found = set(active)
    flows = [
        (part_of(target_of(s)), set(map(part_of, flowing(s.value))))
        for s in statements(body)
        if isinstance(s, Assign | Let)
    ]
    flows += [(s.target, set(s.operands)) for s in statements(body) if isinstance(s, Apply)]
    flows += [
        (part_of(s.target), set(map(part_of, flowing(s.value))))
        for s in statements(body)
        if isinstance(s, Reduce) and s.op not in DISCRETE
    ]
    reached: dict[str, list[str]] = {}
    for target, sources in flows:
        for source in sources:
            reached.setdefault(source, []).append(target)
    sharing: dict[Any, list[str]] = {}
    for array, memory in groups.items():
        sharing.setdefault(memory, []).append(array)
    todo = list(found)
    while todo:
        part = todo.pop()
        # Activity spreads once for all arrays that share memory.
        beside = sharing.pop(groups[part], ()) if part in groups else ()
        more = {*reached.pop(part, ()), *beside} - found
        found |= more
        todo += more
    return found


def target_of(s: Assign | Let) -> Target:
    """Return the target that a statement binds."""
    return s.target if isinstance(s, Assign) else Name(s.name, place=s.place)


def part_of(leaf: Target) -> str:
    """Return the name or the array that a name or an element belongs to."""
    return leaf.name if isinstance(leaf, Name) else leaf.array


def flowing(e: Expr) -> Iterator[Name | Load]:
    """Yield the names and elements through which a derivative may flow: none in roundings."""
    todo = [e]  # a stack, as nested generators pass each item up through all levels
    while todo:
        e = todo.pop()
        if isinstance(e, Name | Load):
            yield e
        elif isinstance(e, Select):
            todo += (e.b, e.a)
        elif not (isinstance(e, Op | Call | Compare) and is_flat(e)):
            todo += reversed(parts_of(e))


def is_active(e: Expr, active: set[str]) -> bool:
    """Return True if a derivative may flow through an expression."""
    if isinstance(e, Name):
        return e.name in active
    for leaf in flowing(e):  # noqa: SIM110 - any() is slower
        if part_of(leaf) in active:
            return True
    return False
