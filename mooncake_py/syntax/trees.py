"""Walks over syntax trees, like those of :mod:`ast`, in a third of the time.

The walks leave out operators and the contexts of names.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

__all__ = ["add_children", "children", "nodes_of", "walk"]

_WITHOUT_NODES = frozenset({
    "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "op",
    "ops", "simple", "type_comment",
})  # fmt: skip
_fields: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}


def add_children(node: Any, found: list[Any]) -> None:
    """Append the nodes directly below a node to a list, operators and contexts left out."""
    kind = node.__class__
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = tuple(f for f in kind._fields if f not in _WITHOUT_NODES)
    for field in fields:
        value: Any = getattr(node, field, None)
        if value.__class__ is list:
            for item in value:
                if isinstance(item, ast.AST):
                    found.append(item)
        elif isinstance(value, ast.AST):
            found.append(value)


def children(node: Any) -> list[Any]:
    """Return the nodes directly below a node, operators and contexts left out."""
    found: list[Any] = []
    add_children(node, found)
    return found


def walk(node: Any) -> list[Any]:
    """Return a node and all nodes below it, from the outside inwards."""
    found = [node]
    for item in found:
        add_children(item, found)
    return found


@lru_cache(maxsize=4)
def nodes_of(function: Any) -> tuple[Any, ...]:
    """Return a function and all nodes below it: its parts ask for them one after the other."""
    return tuple(walk(function))
