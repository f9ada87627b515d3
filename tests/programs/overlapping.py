"""Programs whose value depends on how NumPy copies between views that overlap.

NumPy 2.4 gets some of these copies wrong: ``x = np.arange(5.0); x[::2] = x[:3]`` leaves 1 in the
last element, not 2; and ``np.concatenate`` and ``np.take`` do not look for overlap with ``out``.
Derivatives of such programs mean nothing.
"""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["with_sources_copied"]

PRELUDE = """
def copy_for(target, value):
    if not isinstance(target, np.ndarray):
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(copy_for(target, v) for v in value)
    return value.copy() if isinstance(value, np.ndarray) else value
"""


def with_sources_copied(source: str) -> str:
    """Return a program that copies what it assigns before it assigns it."""
    tree = _CopySources().visit(ast.parse(source))
    return PRELUDE + ast.unparse(ast.fix_missing_locations(tree))


class _CopySources(ast.NodeTransformer):
    """``x[i] = v``  ->  ``x[i] = copy_for(x, v)``, and likewise where functions copy."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            node.value = _copied(target.value, node.value)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = getattr(node.func, "attr", "")
        out = next((k.value for k in node.keywords if k.arg == "out"), None)
        if name == "copyto" and len(node.args) > 1:
            node.args[1] = _copied(node.args[0], node.args[1])
        elif name in ("concatenate", "take") and out is not None:
            node.args[0] = _copied(out, node.args[0])
        return node


def _copied(target: ast.expr, value: ast.expr) -> ast.expr:
    """Return a call that copies the value; evaluating the target twice has no effect."""
    target = ast.parse(ast.unparse(target), mode="eval").body
    return ast.Call(ast.Name("copy_for", ast.Load()), [target, value], [])
