"""The meaning of a function's names at the time of derivation.

Of global names three facts are used: that one is an unshadowed builtin, that one is a function of a
module, and that a dotted one leads to a module.  Each use is recorded in ``assumed``, so that a
rewritten function is reused only while the facts hold.  Which functions parameters and captured
variables are bound to is only a guess at what they will be bound to later: loops that call them
look again.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

from mooncake_py.jitted import is_prange
from mooncake_py.syntax.nodes import FUNCTIONS

__all__ = ["BUILTINS", "MISSING", "Names", "global_value"]

MISSING: Any = object()

BUILTINS = dict(vars(builtins))
"""The builtins as they were before a program could have replaced one for a while."""

_NOW = vars(builtins)


def global_value(globals_: Mapping[str, Any], name: str) -> Any:
    """Return the present value of a global name or a builtin, `MISSING` if it is neither."""
    value = globals_.get(name, MISSING)
    return _NOW.get(name, MISSING) if value is MISSING else value


class Names:
    """Resolve names.

    Parameters
    ----------
    globals_ : dict of str to object
    bound : collection of str
        The names that are, or in some scope may be, anything but global.
    functions : ModuleType, optional
        That of the function around a nested one.
    modules : mapping of str to ModuleType, optional
        The modules that some of the bound names stand for where they are bound at all: what only
        an import in the function binds.

    Attributes
    ----------
    functions : ModuleType
        Has the functions of modules that are called by global names: see `imported`.
    """

    def __init__(
        self,
        globals_: dict[str, Any],
        bound: Collection[str],
        functions: ModuleType | None = None,
        modules: Mapping[str, ModuleType] | None = None,
    ) -> None:
        self.globals = globals_
        self._bound = bound
        self.assumed: dict[str, object] = {}
        self._modules = modules or {}
        self.functions = ModuleType(FUNCTIONS) if functions is None else functions

    def within(self, bound: Collection[str]) -> Names:
        """Return the meanings of global names in a nested function that binds some names."""
        modules = {n: m for n, m in self._modules.items() if n not in bound}
        return Names(self.globals, {*bound, *self._bound}, self.functions, modules)

    def is_bound(self, name: str) -> bool:
        """Return True if a name is, or may be, anything but global."""
        return name in self._bound

    def builtin(self, node: ast.AST) -> str | None:
        """Return the name of the builtin that an expression surely refers to, or None.

        ``numba.prange`` is ``range`` in Python.
        """
        if isinstance(node, ast.Attribute):
            return "range" if self.is_prange(node) else None
        if not isinstance(node, ast.Name) or node.id in self._bound:
            return None
        if node.id in self.globals:
            return "range" if self.is_prange(node) else None
        value = _NOW.get(node.id, MISSING)
        if value is MISSING or value is not BUILTINS.get(node.id):
            return None
        self.assumed[node.id] = value
        return node.id

    def is_prange(self, node: ast.Name | ast.Attribute) -> bool:
        """Return True if a name that is not bound here surely refers to ``numba.prange``."""
        if isinstance(node, ast.Name):
            value = self.globals.get(node.id)
            if is_prange(value):
                self.assumed[node.id] = value
                return True
            return False
        parent = self.module(node.value)
        return parent is not None and is_prange(parent.__dict__.get(node.attr))

    def calls_builtin(self, node: ast.AST, name: str) -> bool:
        """Return whether an expression is a call of the builtin `name`."""
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        if isinstance(function, ast.Name) and function.id != name and name != "range":
            return False
        return self.builtin(function) == name

    def module(self, node: ast.AST) -> ModuleType | None:
        """Return the module that a name or a dotted name leads to, or None."""
        if isinstance(node, ast.Name):
            if node.id == FUNCTIONS:
                return self.functions
            if node.id in self._modules:
                return self._modules[node.id]
            value = None if node.id in self._bound else self.globals.get(node.id)
            if issubclass(type(value), ModuleType):
                self.assumed[node.id] = value
        elif isinstance(node, ast.Attribute):
            parent = self.module(node.value)
            # Through __dict__: a lazy module must not be loaded by looking.
            value = None if parent is None else parent.__dict__.get(node.attr)
        else:
            value = None
        return value if issubclass(type(value), ModuleType) else None

    def is_in_module(self, node: ast.Attribute) -> bool:
        """Return whether a module has an attribute; for others it may run code of the program."""
        module = self.module(node.value)
        if module is None or module is self.functions:
            return module is not None
        return type(module) is ModuleType and node.attr in module.__dict__

    def refers_to(self, node: ast.AST, value: object) -> bool:
        """Return whether a name or a dotted name surely refers to an object."""
        if isinstance(node, ast.Name):
            found = node.id not in self._bound and self.globals.get(node.id) is value
            if found:
                self.assumed[node.id] = value
            return found
        if isinstance(node, ast.Attribute):
            parent = self.module(node.value)
            return parent is not None and parent.__dict__.get(node.attr) is value
        return False
