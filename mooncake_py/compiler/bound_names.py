"""Names that are certainly bound when a loop begins."""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.syntax.trees import walk

__all__ = ["bound_before"]


def bound_before(function: Any, loop: ast.For | ast.While) -> set[str]:
    """Return the names that are bound for certain when a loop of a function begins.

    The loop may have another head than there: see `named_iterables`.
    """
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found = _bound_on_the_way(function.body, loop)
    deleted = {
        part.id
        for part in walk(function)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del)
    }
    return set() if found is None else found.union(arg.arg for arg in given) - deleted


def _bound_on_the_way(body: list[Any], loop: ast.For | ast.While) -> set[str] | None:
    """Return the names bound in a block, and in those within it, before a loop is reached."""
    found: set[str] = set()
    for node in body:
        if getattr(node, "body", None) is loop.body:
            return found
        for field in ("body", "orelse", "finalbody"):
            within = _bound_on_the_way(getattr(node, field, []), loop)
            if within is not None:
                return found | within
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
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
