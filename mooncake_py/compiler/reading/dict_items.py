"""Items of dicts under keys that are written down, as attributes.

    a = -p["k"] * x         a = -p._mk_item_k * x
    s["v"] += h * a         s._mk_item_v += h * a

A region treats both alike: what it reads is passed to it, and what it binds is stored afterwards.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.syntax.nodes import ITEM, Rebuilder, is_dotted, located, place_of

__all__ = ["with_items_as_attributes"]


def with_items_as_attributes(node: Any) -> Any:
    """Return a tree in which such items are attributes; the same one if there are none."""
    return Items().visit(node)


class Items(Rebuilder):
    """Replaces ``o["name"]`` where `o` is a name, or an attribute or item of one."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        new = self.rebuild(node)
        key = new.slice
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return new
        if not is_dotted(new.value) or not key.value.isidentifier():
            return new
        return located(ast.Attribute(new.value, f"{ITEM}{key.value}", new.ctx), place_of(node))
