"""Names bound to ints from data: ``j = columns[k]``, ``for j in columns``.

Only their use in an index or a range shows that they are ints.  The region assumes it, and each run
checks that they come from arrays or lists of ints.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mooncake_py.compiler.reading.heads import head_of
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.trees import walk

__all__ = ["index_names"]

BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")

BINDING = frozenset({ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For})


def index_names(names: Names, body: list[Any]) -> set[str]:
    """Return the names that are bound to elements only, and read in an index or a range."""
    values: dict[str, list[Any]] = {}
    for s in statements(body):
        if s.__class__ in BINDING:
            for target, value in bound(names, s):
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(value)
    elements = {name for name, found in values.items() if all(map(may_be_int, found))}
    if not elements:
        return elements  # so that mostly no expression is looked into
    places: list[Any] = []
    for part in [part for s in body for part in walk(s)]:
        if isinstance(part, ast.Subscript):
            places.append(part.slice)
        elif isinstance(part, ast.NamedExpr):
            elements.discard(part.target.id)
        elif names.calls_builtin(part, "range"):
            places += part.args
    return elements & {
        part.id for place in places for part in walk(place) if isinstance(part, ast.Name)
    }


def statements(body: list[Any]) -> list[Any]:
    """Return statements, and those within them."""
    found = [*body]
    for s in found:
        for field in BLOCKS:
            found += getattr(s, field, ())
    return found


def may_be_int(value: Any) -> bool:
    """Return True for an element: no slice, nor what a dict has under a text."""
    if not isinstance(value, ast.Subscript):
        return False
    index = value.slice
    if isinstance(index, ast.Constant):
        return type(index.value) is not str
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return not any(isinstance(part, ast.Slice) for part in parts)


def bound(names: Names, node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the targets of a statement, each with the element that it is bound to, if it is one."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if not isinstance(target, ast.Tuple):
                    yield target, value
                elif isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                    yield from zip(target.elts, value.elts, strict=True)
                else:
                    yield from ((part, None) for part in target.elts)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            yield target, None
        case ast.For():
            head = head_of(names, node)
            for target, array in zip(head.targets, head.arrays, strict=True):
                yield target, ast.Subscript(array, ast.Constant(0), ast.Load())
            if head.counter is not None:
                yield ast.Name(head.counter, ast.Store()), None
