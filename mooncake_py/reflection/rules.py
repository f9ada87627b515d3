"""The rule of a function, and where it was declared."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.places import definition_of
from mooncake_py.errors import Location, file_and_line
from mooncake_py.jitted import is_jitted
from mooncake_py.language import imported_later
from mooncake_py.language.dispatch import CALL, CONTAINERS, handlers, language_handlers
from mooncake_py.language.intrinsics import HANDLERS as NATIVES
from mooncake_py.modules import DISPATCHER, module_of
from mooncake_py.rules import local, registry
from mooncake_py.rules.kinds import Rule, function_name
from mooncake_py.rules.shortcuts import SHORTCUTS

__all__ = ["RuleUse", "rule_in_use"]

JITTED = "runs compiled on constants, else derived from its source"
COMPILED = "compiled, without a rule: runs on constants, and is refused else"


@dataclass(frozen=True)
class RuleUse:
    """The way in which a function is differentiated.

    Attributes
    ----------
    name : str
        Name of the function.
    kind : str
        Description of the kind of rule.
    where : Location or None
        Where the rule was declared, or where the derived source begins.
    rule : Rule or None
        The declared rule.
    derived : function or None
        The Python function whose source the engine derives.
    """

    name: str
    kind: str
    where: Location | None = None
    rule: Rule | None = None
    derived: Any = None

    def __str__(self) -> str:
        if self.where is None:
            return f"{self.name}: {self.kind}"
        verb = "declared" if self.rule is not None else "defined"
        return f"{self.name}: {self.kind}, {verb} at {place(self.where)}"


def place(where: Location) -> str:
    """Return file and line; the file is relative to the working directory if possible."""
    file = where.file
    if file.startswith(os.getcwd() + os.sep):
        file = os.path.relpath(file)
    return file_and_line(file, where.line)


def rule_in_use(f: Any) -> RuleUse:
    """Return the rule of a function that a call would use."""
    name = function_name(f)
    block = local.current()
    rule = registry.find(f)
    try:
        known = f in handlers().general
        if block is not None and f in block.rules:
            rule = block.rules[f]
    except TypeError:  # it cannot be hashed
        known = False
    if known and f in NATIVES:
        return RuleUse(name, "runs as it is, and passes values on")
    if rule is not None:
        return RuleUse(name, rule.in_words, rule.origin, rule)
    if not known:
        return unregistered(name, f)
    if f in SHORTCUTS and f not in language_handlers(imported_later.imported()):
        found = unregistered(name, f)
        return replace(found, kind=f"{found.kind}; its commonest calls have a rule")
    return RuleUse(name, "run by the engine itself")


def unregistered(name: str, f: Any) -> RuleUse:
    """Return how a function without a rule is differentiated."""
    t = type(f)
    if t is MethodType:
        return renamed(name, rule_in_use(f.__func__))
    if is_jitted(f):
        return RuleUse(name, JITTED, definition_of(f.py_func), derived=f.py_func)
    if t is DISPATCHER and type(getattr(f, "__wrapped__", None)) is FunctionType:
        return derived_from(name, f.__wrapped__)
    if t is FunctionType:
        if is_native_module(module_of(f)):
            return RuleUse(name, "runs as it is on constants, else derived", definition_of(f))
        return derived_from(name, f)
    if issubclass(t, BuiltinFunctionType) and not isinstance(f.__self__, (ModuleType, type(None))):
        return method_of(name, f)
    if isinstance(f, type):
        made: Any
        for made in (getattr(f, "__init__"), f.__new__):  # noqa: B009 - of the class
            if type(made) is FunctionType:
                return derived_from(name, made)
        return RuleUse(name, "a class without code in Python")
    call = getattr(t, CALL, None)
    if type(call) is FunctionType:
        return derived_from(name, call)
    return RuleUse(name, COMPILED)


def method_of(name: str, f: Any) -> RuleUse:
    """Return the rule of a bound compiled method."""
    receiver = f.__self__
    descriptor = getattr(type(receiver), f.__name__, None)
    if descriptor in handlers().general:
        return renamed(name, rule_in_use(descriptor))
    if issubclass(type(receiver), CONTAINERS):
        return RuleUse(name, "run by the engine, which records what changes")
    if isinstance(receiver, (str, bytes)):
        return RuleUse(name, "runs as it is")
    return RuleUse(name, COMPILED)


def derived_from(name: str, f: Any) -> RuleUse:
    """Return the record of a function whose source is derived."""
    return RuleUse(name, "derived from its source", definition_of(f), derived=f)


def renamed(name: str, use: RuleUse) -> RuleUse:
    """Return the same under another name."""
    return RuleUse(name, use.kind, use.where, use.rule, use.derived)
