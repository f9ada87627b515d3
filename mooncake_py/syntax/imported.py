"""Functions of modules under names of their own, as attributes.

    from math import sin
    y = sin(x) * exp(-x)        y = _mk_functions.sin(x) * _mk_functions.exp(-x)

Whoever reads a function then meets one way to name what a module has.  The code that runs has the
names again, which a call may rebind before they are read.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from mooncake_py.modules import DISPATCHER
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import FUNCTIONS, Rebuilder, load, located, place_of, replaced

__all__ = [
    "is_of_a_module", "may_import", "with_functions_as_attributes", "with_functions_by_name",
]  # fmt: skip

KINDS = frozenset({np.ufunc, DISPATCHER})


def is_of_a_module(f: Any) -> bool:
    """Return True for a compiled function of a module that is not a builtin."""
    if type(f) is BuiltinFunctionType:
        return isinstance(f.__self__, ModuleType) and f.__self__ is not builtins
    return type(f) in KINDS


def may_import(globals_: dict[str, Any], names: Iterable[str]) -> bool:
    """Return True if one of the names is that of such a function."""
    return any(is_of_a_module(globals_.get(name)) for name in names)


def with_functions_as_attributes(node: Any, names: Names) -> Any:
    """Return a tree in which such functions are called as attributes; the same one without any.

    Functions that are defined in it stay as they are: their own code runs.
    """
    return Calls(names).rebuild(node)


class Calls(Rebuilder):
    """Replaces global names that are called."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replace the name of a function."""
        new = self.rebuild(node)
        f = new.func
        if not isinstance(f, ast.Name) or self.names.is_bound(f.id):
            return new
        value = self.names.globals.get(f.id)
        if not is_of_a_module(value):
            return new
        self.names.assumed[f.id] = self.names.functions.__dict__[f.id] = value
        place = place_of(f)
        function = located(ast.Attribute(load(FUNCTIONS, place), f.id, ast.Load()), place)
        return replaced(new, func=function)

    def visit_FunctionDef(self, node: Any) -> Any:
        """Leave a definition."""
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef


def with_functions_by_name(node: Any) -> Any:
    """Return a tree in which such attributes are global names again."""
    return ByName().visit(node)


class ByName(Rebuilder):
    """Replaces attributes by global names."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Replace an attribute of what has the functions."""
        if isinstance(node.value, ast.Name) and node.value.id == FUNCTIONS:
            return load(node.attr, place_of(node))
        return self.rebuild(node)
