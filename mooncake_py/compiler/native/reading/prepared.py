"""The bodies of functions in the form that the reader reads: each function is rewritten once."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from inspect import CO_GENERATOR
from types import CodeType, FunctionType
from typing import NamedTuple

from mooncake_py.compiler.native.reading.blocks import simplified
from mooncake_py.compiler.native.reading.loop_names import OWN_SCOPE
from mooncake_py.compiler.native.reading.lowering import ended, lowered
from mooncake_py.compiler.native.reading.yields import opened
from mooncake_py.remembered import Table
from mooncake_py.syntax.private_names import spelled_out
from mooncake_py.syntax.source import locate

__all__ = ["Body", "bound_in", "prepared", "source_of"]


class Body(NamedTuple):
    """The statements of a function, and the names that they bind.

    Attributes
    ----------
    statements : list of stmt
    bound : Counter
        How often each variable is bound in the text.
    nonlocals : frozenset of str
        The names that it declares `nonlocal`.
    shared : tuple of str
        The names that functions within it declare so, once for each time.
    """

    statements: list[ast.stmt]
    bound: Counter[str]
    nonlocals: frozenset[str]
    shared: tuple[str, ...]

    @classmethod
    def of(cls, statements: list[ast.stmt]) -> Body:
        """Return statements as a body."""
        bound = Counter(bound_in(statements))
        return cls(statements, bound, frozenset(declared(statements)), (*names_shared(statements),))


_bodies: Table[Body] = Table()


def prepared(code: CodeType, node: Callable[[], ast.AST]) -> Body | None:
    """Return the body of a function as it is read, None for one that is no plain function.

    Parameters
    ----------
    node : callable
        Returns the function in the source: to find it takes long.
    """
    known = _bodies.found.get(id(code))
    if known is None:
        match node():
            case ast.Lambda(body=value):
                known = Body.of([ast.copy_location(ast.Return(value), value)])
            case ast.FunctionDef(body=body) if code.co_flags & CO_GENERATOR:
                known = Body.of(opened(body))  # it is read where it is consumed
            case ast.FunctionDef(body=body):
                known = Body.of(lowered(ended(simplified(body))))
            case _:
                return None
        _bodies.set(code, known)
    return known


def bound_in(body: list[ast.stmt]) -> list[str]:
    """Return the names that statements bind, once for each time."""
    found: list[str] = []
    todo: list[ast.AST] = [*body]
    while todo:
        node = todo.pop()
        match node:
            case ast.Name(ctx=ast.Load()):
                continue
            case ast.Name(id=name) | ast.FunctionDef(name=name):
                found.append(name)
            case ast.AugAssign(target=ast.Name(id=name)):
                found.append(name)  # read as well: it is no name for one value
        if not isinstance(node, OWN_SCOPE):
            todo += ast.iter_child_nodes(node)
    return found


def declared(body: list[ast.stmt]) -> list[str]:
    """Return the names that a function declares `nonlocal`, not those of functions within it."""
    found: list[str] = []
    todo: list[ast.AST] = [*body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Nonlocal):
            found += node.names
        if not isinstance(node, OWN_SCOPE):
            todo += ast.iter_child_nodes(node)
    return found


def names_shared(body: list[ast.stmt]) -> list[str]:
    """Return the names that functions within one declare `nonlocal`."""
    return [
        name
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Nonlocal)
        for name in node.names
    ]


def source_of(f: FunctionType) -> ast.AST:
    """Return a function in its source."""
    source = locate(f.__code__, f.__globals__)
    return spelled_out(source.node, source.class_name)
