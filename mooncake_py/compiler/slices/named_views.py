"""Names of slices: what they stand for is read where they are.

    window = x[i : i + k]                   x[i:i + k]      for its errors
    s += np.sum(window * y)                 s += np.sum(x[i:i + k] * y)

A slice of an array is a view of it, or of ints an index.  Its name may be bound in one place of the
function, and read in the same pass of the loop only: the region leaves it unbound.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from typing import Any

from mooncake_py.compiler.reading.expressions import named
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Rebuilder
from mooncake_py.syntax.trees import nodes_of, walk

__all__ = ["Substitution", "local_names", "names_of_views"]

BY_NAME = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Functions that read variables which the text does not name."""


def names_of_views(function: Any, loop: ast.AST) -> set[str]:
    """Return the names in a loop that are bound to slices, and that nothing else reads or binds."""
    found = {
        part.targets[0].id: part.value
        for part in walk(loop)
        if isinstance(part, ast.Assign)
        and len(part.targets) == 1
        and isinstance(part.targets[0], ast.Name)
        and is_slice(part.value)
    }
    within = occurrences_within(function, loop, found)
    return {name for name, ways in within.items() if ways.count("Store") == 1}


def local_names(function: Any, loop: ast.AST) -> frozenset[str]:
    """Return what the names that nothing outside a loop reads or binds are called in IR."""
    names = {part.id for part in walk(loop) if isinstance(part, ast.Name)}
    return frozenset(map(named, occurrences_within(function, loop, names)))


def occurrences_within(
    function: Any, loop: ast.AST, names: Collection[str]
) -> dict[str, list[str]]:
    """Return how names occur in a loop, but for those that occur outside it too."""
    if not names:
        return {}
    everywhere = occurrences(nodes_of(function), {*names, *BY_NAME})
    if any(everywhere[name] for name in BY_NAME):
        return {}
    within = occurrences(walk(loop), names)
    return {name: ways for name, ways in within.items() if ways == everywhere[name]}


def is_slice(node: ast.expr) -> bool:
    """Return True for a part of an array that has a slice in its index."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(part, ast.Slice) for part in parts)


def occurrences(parts: Iterable[Any], names: Collection[str]) -> dict[str, list[str]]:
    """Return how names occur in parts of a tree: loaded, stored, or as arguments."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for part in parts:
        if isinstance(part, ast.Name) and part.id in found:
            found[part.id].append(type(part.ctx).__name__)
        elif isinstance(part, ast.arg) and part.arg in found:
            found[part.arg].append("Store")
    return found


class Substitution(Rebuilder):
    """Replaces names by what they stand for."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    @override
    def visit(self, node: Any) -> Any:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self.values.get(node.id, node)
        return super().visit(node)
