"""Give each call, method and attribute of rewritten code a site of its own.

    C.call(f, x, y)                       _mk_site0.way.call2(_mk_site0, C, f, x, y)
    C.method(o, "m", x)                   _mk_site0.way.call1(_mk_site0, C, o, x)
    C.method(C.looked_up(o, "m"), "m", x) _mk_site0.way.call1(_mk_site0, C, _mk_site0.look(C, o), x)
    C.getattr(o, "a")                     o.a if type(o) is _mk_site0.t and C.gate is _mk_site0.gate
                                          else _mk_site0.get(C, o)
    C.peek(o, "a")                        _mk_site0.peek(C, o)
    C.setattr(o, "a", v)                  _mk_site0.set(C, o, v)

This pass comes last: what is shown to readers is the code before it.
"""

from __future__ import annotations

import ast
from typing import Any, TypeGuard

from mooncake_py.containers.attribute_sites import AttributeSite
from mooncake_py.runtime.sites import MOST, CallSite, LookedUpSite, MethodSite
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

SITE, TYPE = f"{PREFIX}site", f"{PREFIX}type"


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
        return node if place is None else place(node)

    def place_call(self, node: ast.Call) -> ast.expr:
        """Replace ``C.call(f, x)``."""
        return self.called(node, CallSite(), node.args)

    place_call_one = place_call

    def place_method(self, node: ast.Call) -> ast.expr:
        """Replace ``C.method(o, "m", x)``."""
        receiver, name, *args = node.args
        if not is_operation(receiver, "looked_up"):
            return self.called(node, MethodSite(text_of(name)), [receiver, *args])
        new = self.called(node, LookedUpSite(text_of(name)), [receiver, *args])
        own, of, _, *rest = new.args
        look = attribute(own, "look", place_of(receiver.func))
        return replaced(
            new, args=[own, of, replaced(receiver, func=look, args=[of, receiver.args[0]]), *rest]
        )

    def place_getattr(self, node: ast.Call) -> ast.expr:
        """Replace ``C.getattr(o, "a")``."""
        o, name = node.args
        place, point = place_of(node), place_of(node.func)
        own = self.add(AttributeSite(text_of(name)), point)
        general = replaced(node, func=attribute(own, "get", point), args=[context(point), o])
        if not isinstance(o, ast.Name) or text_of(name).startswith("__"):
            return general
        self.sites[TYPE] = type
        test = located(ast.BoolOp(ast.And(), [
            same(located(ast.Call(load(TYPE, point), [o], []), point), attribute(own, "t", point)),
            same(attribute(context(point), "gate", point), attribute(own, "gate", point)),
        ]), point)  # fmt: skip
        return located(ast.IfExp(test, attribute(o, text_of(name), place), general), place)

    def place_peek(self, node: ast.Call) -> ast.expr:
        """Replace ``C.peek(o, "a")``."""
        o, name = node.args
        point = place_of(node.func)
        own = self.add(AttributeSite(text_of(name)), point)
        return replaced(node, func=attribute(own, "peek", point), args=[context(point), o])

    def place_setattr(self, node: ast.Call) -> ast.expr:
        """Replace ``C.setattr(o, "a", v)``."""
        o, name, v = node.args
        point = place_of(node.func)
        own = self.add(AttributeSite(text_of(name)), point)
        return replaced(node, func=attribute(own, "set", point), args=[context(point), o, v])

    def place_augattr(self, node: ast.Call) -> ast.expr:
        """Replace ``C.augattr("iadd", o, "a", v)``."""
        op, o, name, v = node.args
        point = place_of(node.func)
        own = self.add(AttributeSite(text_of(name)), point)
        return replaced(node, func=attribute(own, "change", point), args=[context(point), op, o, v])

    def called(self, node: ast.Call, site: Any, args: list[ast.expr]) -> ast.Call:
        """Return the call of the method of a way for so many arguments."""
        count = len(args) - 1
        packed = node.keywords or any(isinstance(a, ast.Starred) for a in args)
        method = "star" if packed or count > MOST else f"call{count}"
        place = place_of(node.func)
        own = self.add(site, place)
        run = attribute(attribute(own, "way", place), method, place)
        return replaced(node, func=run, args=[own, context(place), *args])

    def add(self, site: Any, place: Place) -> ast.expr:
        """Return the name of a new site."""
        name = f"{SITE}{len(self.sites)}"
        self.sites[name] = site
        return load(name, place)


def is_operation(node: ast.expr, name: str) -> TypeGuard[ast.Call]:
    """Return whether an expression is some operation of the context."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return is_context(node.func.value) and node.func.attr == name


def is_context(node: ast.expr) -> bool:
    """Return whether an expression is the context."""
    return isinstance(node, ast.Name) and node.id == CONTEXT


def context(place: Place) -> ast.expr:
    """Return the context."""
    return load(CONTEXT, place)


def text_of(name: ast.expr) -> str:
    """Return the name of an attribute, which is written as a constant."""
    assert isinstance(name, ast.Constant)
    assert isinstance(name.value, str)
    return name.value


def same(a: ast.expr, b: ast.expr) -> ast.expr:
    """Return the comparison ``a is b``."""
    return located(ast.Compare(a, [ast.Is()], [b]), place_of(a))


def attribute(of: ast.expr, name: str, place: Place) -> ast.expr:
    """Return an attribute, to be read."""
    return located(ast.Attribute(of, name, ast.Load()), place)


def with_sites(node: Any) -> tuple[Any, dict[str, Any]]:
    """Return rewritten code with sites, and these by their names."""
    placing = Placing()
    return placing.visit(node), placing.sites
