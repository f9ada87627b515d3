"""Comprehensions, for those who try them as one entry."""

from __future__ import annotations

import ast

from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import PREFIX

__all__ = ["MADE", "is_sum"]

MADE = f"{PREFIX}made"
"""Name of what a comprehension makes."""


def is_sum(node: ast.AST, names: Names) -> bool:
    """Return True for ``sum(e for ...)`` and ``sum([e for ...])``."""
    return (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and not node.keywords
        and isinstance(node.args[0], ast.ListComp | ast.GeneratorExp)
        and names.calls_builtin(node, "sum")
    )
