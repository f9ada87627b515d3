"""Branches that leave a loop, and such as only tell something."""

from __future__ import annotations

import ast

__all__ = ["LEAVING", "is_told", "may_jump"]

LEAVING = ast.Break | ast.Continue | ast.Return | ast.Raise


def is_told(node: ast.If) -> bool:
    """Return True if a branch calls something, and binds nothing."""
    return not node.orelse and all(
        isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) for part in node.body
    )


def may_jump(node: ast.stmt) -> bool:
    """Return True if a branch may leave the pass of its loop, or the function."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Break | ast.Continue | ast.Return) or may_jump(part)
        for part in (*node.body, *node.orelse)
    )
