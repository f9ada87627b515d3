"""Names that are certainly bound when a loop begins, or where an expression is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mooncake_py.syntax.trees import nodes_of, walk

__all__ = ["bound_before"]

BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})


def bound_before(function: Any, part: ast.For | ast.While | ast.expr) -> set[str]:
    """Return the names that are bound for certain before a loop or an expression of a function."""
    arguments = function.args
    given = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    if isinstance(function, ast.Lambda):
        return given
    is_it = begins(part) if isinstance(part, ast.For | ast.While) else holds(part)
    found = _bound_on_the_way(function.body, is_it)
    return set() if found is None else found.union(given) - deleted_in(function)


def deleted_in(function: Any) -> frozenset[str]:
    """Return the names that a function deletes."""
    return frozenset(
        part.id
        for part in nodes_of(function)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del)
    )


def begins(loop: ast.For | ast.While) -> Callable[[Any], bool]:
    """Return a predicate that is true of the loop alone."""
    return lambda node: getattr(node, "body", None) is loop.body


def holds(e: ast.expr) -> Callable[[Any], bool]:
    """Return a predicate: whether a statement itself evaluates `e`."""

    def is_it(node: Any) -> bool:
        if not node.lineno <= e.lineno <= (node.end_lineno or e.lineno):
            return False
        heads = [getattr(node, field, None) for field in node._fields if field not in BLOCKS]
        parts = [part for head in heads for part in (head if isinstance(head, list) else [head])]
        return any(e is found for p in parts if isinstance(p, ast.AST) for found in walk(p))

    return is_it


def _bound_on_the_way(body: list[Any], is_it: Callable[[Any], bool]) -> set[str] | None:
    """Return the names bound in a block, and in those within it, before a statement is reached."""
    found: set[str] = set()
    for node in body:
        if is_it(node):
            return found
        for field in ("body", "orelse", "finalbody"):
            within = _bound_on_the_way(getattr(node, field, []), is_it)
            if within is not None:
                return found | within
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
            continue
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value):
            targets = [node.target]
        else:
            continue
        found.update(
            part.id
            for target in targets
            for part in walk(target)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        )
    return None
