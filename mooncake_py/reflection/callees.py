"""The rules of the functions that a function calls, as far as known before it runs."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from mooncake_py.jitted import captured
from mooncake_py.reflection.rules import COMPILED, rule_in_use
from mooncake_py.rules.kinds import RefusedRule, ZeroDerivativeRule
from mooncake_py.syntax.source import locate

__all__ = ["CallMark", "Callee", "callees"]

UNKNOWN = object()
NESTED = object()


class CallMark(StrEnum):
    """The kind of a call of a function without a rule."""

    DERIVED = ">"
    CONSTANT = "0"
    REFUSED = "!"
    LATER = "?"


class Callee(NamedTuple):
    """A called function, with its name in the source and its line."""

    line: int
    name: str
    mark: CallMark


def callees(f: Any, derived: FunctionType) -> Iterator[Callee]:
    """Yield the functions without rules that are called by name.

    Parameters
    ----------
    f : callable
        The user's function.
    derived : function
        The function whose source the engine derives for it.
    """
    node = locate(derived.__code__).node
    names = Names(f, derived, node)
    parts = node.body if isinstance(node, ast.FunctionDef) else [node]  # not what decorates it
    for call in (child for part in parts for child in ast.walk(part)):
        if isinstance(call, ast.Call) and (path := dotted(call.func)) is not None:
            mark = mark_of(names.value(path), path)
            if mark is not None:
                yield Callee(call.func.lineno, ".".join(path), mark)


def dotted(node: ast.expr) -> tuple[str, ...] | None:
    """Return the parts of a dotted name, or None for another expression."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return None if owner is None else (*owner, node.attr)
    return None


def mark_of(function: Any, path: tuple[str, ...]) -> CallMark | None:
    """Return the mark for a call of a function."""
    if function is UNKNOWN:
        return CallMark.LATER if len(path) == 1 else None  # methods of values are too many
    if function is NESTED:
        return CallMark.DERIVED
    use = rule_in_use(function)
    if isinstance(use.rule, ZeroDerivativeRule):
        return CallMark.CONSTANT
    if isinstance(use.rule, RefusedRule) or use.kind == COMPILED:
        return CallMark.REFUSED
    return CallMark.DERIVED if use.derived is not None else None


class Names:
    """The values of names in a function, as far as they are known before it runs."""

    def __init__(self, f: Any, derived: FunctionType, node: ast.AST) -> None:
        code = derived.__code__
        self.scope: Mapping[str, Any] = {
            **vars(builtins),
            **derived.__globals__,
            **dict(captured(derived)),
            **dict.fromkeys(nested(node), NESTED),
            **dict.fromkeys(bound(node), UNKNOWN),
        }
        self.owner = owner_of(f, derived)
        self.instance = code.co_varnames[:1] if self.owner is not None else ()

    def value(self, path: tuple[str, ...]) -> Any:
        """Return the value of a dotted name, or `UNKNOWN`."""
        first, *rest = path
        if (first,) == self.instance and len(rest) == 1:
            found = inspect.getattr_static(self.owner, rest[0], UNKNOWN)
            return found if isinstance(found, FunctionType) else UNKNOWN
        value = self.scope.get(first, UNKNOWN)
        for name in rest:
            if not isinstance(value, ModuleType | type):
                return UNKNOWN
            value = getattr(value, name, UNKNOWN)
        return value


def bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a function and those nested in it bind."""
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            yield part.arg
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def nested(node: ast.AST) -> Iterator[str]:
    """Yield the names of the functions and classes that are defined in a function."""
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and part is not node:
            yield part.name


def owner_of(f: Any, derived: FunctionType) -> type | None:
    """Return the class if the first argument is an instance (`self`) or the class itself."""
    if isinstance(f, type):
        return f
    if isinstance(f, MethodType):
        return f.__self__ if isinstance(f.__self__, type) else type(f.__self__)
    return type(f) if getattr(type(f), "__call__", None) is derived else None  # noqa: B004
