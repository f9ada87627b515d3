"""The source of rewritten functions, as text."""

from __future__ import annotations

import ast
from types import FunctionType

from mooncake_py.frontend.load import Derived
from mooncake_py.syntax.nodes import replaced

__all__ = ["show_source"]


def show_source(derived: Derived) -> str:
    """Return the rewritten function as text, headed by its origin and the injected constants.

    Deterministic: the same function gives the same text.
    """
    lines = [f"# {derived.qualname}, rewritten from {derived.file}:{derived.first_line}"]
    for name, value in derived.injected.items():
        text = value.__name__ if isinstance(value, type | FunctionType) else repr(value)
        lines.append(f"# {name} = {text}")
    node = derived.node
    if isinstance(node, ast.FunctionDef):
        # Decorators were applied to the original function, and are not applied again.
        node = replaced(node, decorator_list=[])
    lines.append(ast.unparse(node))
    return "\n".join(lines) + "\n"
