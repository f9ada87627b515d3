"""Methods that a region calls: of an object, ``model.force(x[i])``, or passed with it.

The class of the object, or of which the method with the loop is one, determines the function.  Each
run first checks that the object is of exactly that class, and that the class still has it.
"""

from __future__ import annotations

import ast
import weakref
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from mooncake_py.compiler.reading.callees import Callee
from mooncake_py.runtime.attribute_lookup import PLAIN_READS, in_class, is_one_of
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import dotted, is_dotted
from mooncake_py.syntax.static_integers import Bindings
from mooncake_py.tangents.fields import instance_dict

__all__ = ["BoundMethod", "Method", "Owner", "made_class", "owner_of"]


class Owner(NamedTuple):
    """The class of an object, and the name, or the attribute of a name, that it has."""

    cls: type
    name: str

    def function(self, node: ast.expr) -> FunctionType | None:
        """Return the function that an attribute of the object is bound to, or None."""
        if not isinstance(node, ast.Attribute) or not is_dotted(node.value):
            return None
        if dotted(node.value) != self.name or node.attr.startswith("__"):
            return None
        found: Any = in_class(self.cls, node.attr)
        return found if type(found) is FunctionType else None


def owner_of(names: Names, class_name: str | None, function: Any) -> Owner | None:
    """Return the class that a function is a method of, or None if nothing tells.

    Parameters
    ----------
    names : Names
        Of the function.
    class_name : str or None
        Of the class around it.
    function : FunctionDef or Lambda
    """
    first = [*function.args.posonlyargs, *function.args.args][:1]
    if class_name is None or not first or names.is_bound(class_name):
        return None
    found = names.globals.get(class_name)
    return Owner(found, first[0].arg) if isinstance(found, type) else None


def made_class(names: Names, found: Bindings, node: ast.expr) -> type | None:
    """Return the class of which a local name's only value is made, ``o = Model(...)``, or None.

    It is a guess: the name of a class may stand for something else, and a class may return another.
    """
    if not isinstance(node, ast.Name) or not names.is_bound(node.id):
        return None
    values = found.own.get(node.id, [])
    call = values[0] if len(values) == 1 else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    if names.is_bound(call.func.id):
        return None
    cls = names.globals.get(call.func.id)
    return cls if isinstance(cls, type) else None


class Method:
    """A region's assumptions about an object of which it calls a method."""

    def __init__(self, cls: type, name: str, callee: Callee) -> None:
        self.cls = weakref.ref(cls)
        self.name = name
        self.callee = callee

    def is_given(self, o: Any) -> bool:
        """Return True if the object's attribute is the function that was read."""
        t = type(o)
        return (
            t is self.cls()
            and in_class(t, self.name) is self.callee.function()
            and is_one_of(t.__getattribute__, PLAIN_READS)
            and self.name not in (instance_dict(o) or ())
        )


class BoundMethod:
    """A region's assumptions about a method that is passed to it with its object."""

    def __init__(self, callee: Callee) -> None:
        self.callee = callee

    def is_given(self, m: Any) -> bool:
        """Return True for a method of the function that was read, of whatever object."""
        return type(m) is MethodType and m.__func__ is self.callee.function()
