"""Private attributes, as Python's compiler spells them in a class: ``o.__v`` is ``o._Model__v``."""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.syntax.nodes import Rebuilder, mangle, replaced

__all__ = ["spelled_out"]


def spelled_out(node: Any, class_name: str | None) -> Any:
    """Return a part of a function in which private attributes have their whole names.

    Parameters
    ----------
    node : AST
    class_name : str or None
        The class around the function.
    """
    return node if class_name is None else Spelled(class_name).visit(node)


class Spelled(Rebuilder):
    """Spells out private attributes; classes in a function have other names."""

    def __init__(self, class_name: str) -> None:
        self.class_name = class_name

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Spell out a private name."""
        node = self.rebuild(node)
        name = mangle(node.attr, self.class_name)
        return node if name == node.attr else replaced(node, attr=name)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Leave a class as it is."""
        return node
