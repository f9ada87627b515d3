"""The names that the bodies of loops bind, and how the bodies are left."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

__all__ = ["has_jump", "is_read_freely", "names_bound"]


def names_bound(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements bind."""
    return {
        node.id
        for s in body
        for node in ast.walk(s)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def has_jump(body: Sequence[ast.stmt], kinds: Any) -> bool:
    """Return True if statements may leave the loop, or the pass, of which they are the body."""
    for node in body:
        if isinstance(node, kinds):
            return True
        if not isinstance(node, ast.For | ast.While | ast.FunctionDef) and any(
            has_jump(getattr(node, field, ()), kinds) for field in ("body", "orelse")
        ):
            return True
    return False


def is_read_freely(node: ast.expr) -> bool:
    """Return True for an expression that may be read twice."""
    if isinstance(node, ast.Subscript):
        return is_read_freely(node.value) and isinstance(node.slice, ast.Constant | ast.Name)
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute) and is_read_freely(node.value)
    )
