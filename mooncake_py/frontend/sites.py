"""Give each call of rewritten code a site of its own.

    C.call(f, x, y)      _mk_site0.way.call2(_mk_site0, C, f, x, y)

This pass comes last: what is shown to readers is the code before it.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.runtime.sites import MOST, CallSite
from mooncake_py.syntax.nodes import (
    CONTEXT,
    PREFIX,
    Place,
    Rebuilder,
    load,
    located,
    place_of,
    replaced,
)

__all__ = ["with_sites"]

SITE = f"{PREFIX}site"


class Placing(Rebuilder):
    """Replaces operations of the context by those of sites.

    Attributes
    ----------
    sites : dict
        The sites by their names.
    """

    def __init__(self) -> None:
        self.sites: dict[str, Any] = {}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replace an operation of the context, if there is a site for it."""
        node = self.rebuild(node)
        f = node.func
        if not (isinstance(f, ast.Attribute) and is_context(f.value)):
            return node
        place = getattr(self, f"place_{f.attr}", None)
        if place is None or any(isinstance(a, ast.Starred) for a in node.args):
            return node
        return place(node)

    def place_call(self, node: ast.Call) -> ast.expr:
        """Replace ``C.call(f, x)``, but for functions of modules."""
        if isinstance(node.args[0], ast.Attribute):
            return node
        return self.called(node, CallSite(), node.args)

    place_call_one = place_call

    def called(self, node: ast.Call, site: Any, args: list[ast.expr]) -> ast.Call:
        """Return the call of the method of a way for so many arguments."""
        count = len(args) - 1
        method = "star" if node.keywords or count > MOST else f"call{count}"
        place = place_of(node.func)
        own = self.add(site, place)
        run = attribute(attribute(own, "way", place), method, place)
        return replaced(node, func=run, args=[own, context(place), *args])

    def add(self, site: Any, place: Place) -> ast.expr:
        """Return the name of a new site."""
        name = f"{SITE}{len(self.sites)}"
        self.sites[name] = site
        return load(name, place)


def is_context(node: ast.expr) -> bool:
    """Return whether an expression is the context."""
    return isinstance(node, ast.Name) and node.id == CONTEXT


def context(place: Place) -> ast.expr:
    """Return the context."""
    return load(CONTEXT, place)


def attribute(of: ast.expr, name: str, place: Place) -> ast.expr:
    """Return an attribute, to be read."""
    return located(ast.Attribute(of, name, ast.Load()), place)


def with_sites(node: Any) -> tuple[Any, dict[str, Any]]:
    """Return rewritten code with sites, and these by their names."""
    placing = Placing()
    return placing.visit(node), placing.sites
