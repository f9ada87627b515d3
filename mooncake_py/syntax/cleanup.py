"""Generators with code that runs when an unfinished one is closed."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from mooncake_py.syntax.trees import children, walk

__all__ = ["cleans_up"]

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)


def cleans_up(function: ast.FunctionDef) -> bool:
    """Return whether a generator function has a ``yield`` in a block that has code for its end."""
    return any(in_block(statement) for statement in function.body)


def in_block(node: Any) -> bool:
    """Return whether there is such a block in a part of a function."""
    if isinstance(node, SCOPES):
        return False
    if isinstance(node, ast.With):
        guarded = node.body
    elif isinstance(node, ast.Try | ast.TryStar) and (
        node.finalbody or any(map(catches_exit, node.handlers))
    ):
        guarded = node.body + node.handlers + node.orelse
    else:
        guarded = []
    return any(map(yields, guarded)) or any(map(in_block, children(node)))


def yields(node: Any) -> bool:
    """Return whether a part of a function yields."""
    if isinstance(node, SCOPES):
        return False
    return isinstance(node, ast.Yield | ast.YieldFrom) or any(map(yields, children(node)))


def catches_exit(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler may catch `GeneratorExit`."""
    if handler.type is None:
        return True
    names = [node for node in walk(handler.type) if isinstance(node, ast.Name | ast.Attribute)]
    return not all(is_exception(node) for node in names)


def is_exception(node: Any) -> bool:
    """Return whether a name is that of a builtin exception which is none of the interpreter."""
    found = getattr(builtins, node.id, None) if isinstance(node, ast.Name) else None
    return isinstance(found, type) and issubclass(found, Exception)
