"""Read a loop, and the functions of the user that it calls, as a region.

    speed = f(u, a * v)         c0_b = a * v
                                (the body of f, its names with c0_ before them)
                                speed = c0_return

What a call computes comes before the statement that it stands in: neither has an effect on what
the other reads.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from mooncake_py.compiler.callees import Inlined, Scope, found_callee, returns
from mooncake_py.compiler.ir import (
    Assign,
    Const,
    Expr,
    Length,
    Load,
    Name,
    Region,
    Statement,
    Target,
)
from mooncake_py.compiler.read_expressions import Unfit, named
from mooncake_py.compiler.read_loops import LoopReader
from mooncake_py.overriding import override
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import place_of
from mooncake_py.syntax.static_integers import StaticInts

__all__ = ["Reading", "read_loop"]

DEPTH = 4  # of functions that call one another


class Reading(NamedTuple):
    """A region, the expressions of its inputs and functions, and functions that are part of it."""

    region: Region
    inputs: list[ast.expr]
    functions: list[ast.expr]
    own: tuple[Inlined, ...] = ()


def read_loop(
    names: Names, statics: StaticInts, steady: frozenset[str], function: Any,
    node: ast.For | ast.While,
) -> Reading | None:
    """Return a loop as a region, or None if something cannot be part of one.

    Parameters
    ----------
    names : Names
    statics : StaticInts
    steady : frozenset of str
        Names of the function that only its own statements bind.
    function : FunctionDef
        The function that the loop is in.
    node : For or While
    """
    try:
        reader = RegionReader(names, statics, steady, function, node)
        region = reader.read()
    except Unfit:
        return None
    return Reading(region, list(reader.inputs.values()), reader.functions, tuple(reader.own))


class RegionReader(LoopReader):
    """Reads a loop with calls of functions of the user.

    Attributes
    ----------
    own : list of Inlined
        The functions that were read.
    scope : Scope or None
        Of the function that is being read within the loop.
    depth : int
        How many such functions are under way.
    """

    def __init__(
        self, names: Names, statics: StaticInts, steady: frozenset[str], function: Any,
        node: ast.For | ast.While,
    ) -> None:
        super().__init__(names, statics, steady, function, node)
        self.outermost = names
        self.own: list[Inlined] = []
        self.scope: Scope | None = None
        self.depth = 0

    @override
    def inlined(self, node: ast.Call) -> Expr:
        assert isinstance(node.func, ast.Name)
        callee = found_callee(node.func, self.names)
        if callee is None or len(node.args) != len(callee.parameters) or self.depth == DEPTH:
            raise Unfit
        place = place_of(node)
        prefix = f"c{len(self.own)}_"
        self.own.append(Inlined(len(self.functions), callee.function, callee.function.__code__))
        self.functions.append(node.func)
        given: dict[str, Expr] = {}
        for name, argument in zip(callee.parameters, map(self.value, node.args), strict=True):
            if isinstance(argument, Name | Const) and name not in callee.rebound:
                given[name] = argument
            else:
                self.before.append(Assign(Name(f"{prefix}{name}"), argument, place=place))
                self.defined.add(f"{prefix}{name}")
        outer = self.names, self.scope
        self.names, self.scope = callee.names, Scope(prefix, callee.own, given)
        self.depth += 1
        body = self.block(callee.body)
        self.depth -= 1
        self.names, self.scope = outer
        result = f"{prefix}return"
        if not returns(body, result):
            raise Unfit
        self.before += body
        return Name(result, place=place)

    @override
    def number(self, node: ast.Name) -> Expr:
        if self.scope is None:
            return super().number(node)
        if node.id in self.scope.given:
            return self.scope.given[node.id]
        if node.id in self.scope.own:
            name = f"{self.scope.prefix}{node.id}"
            if name not in self.defined:
                raise Unfit
            return Name(name, place=place_of(node))
        if self.outermost.is_bound(node.id):
            raise Unfit  # the loop cannot see the global of this name
        return Name(self.global_number(node.id), place=place_of(node))

    def global_number(self, name: str) -> str:
        """Return how a global is called that a function reads."""
        self.numbers.add(named(name))
        return self.given_name(name)

    @override
    def statement(self, node: ast.stmt) -> list[Statement]:
        if self.scope is None:
            return super().statement(node)
        match node:
            case ast.Return(value=ast.expr() as value):
                result = Name(f"{self.scope.prefix}return", place=place_of(node))
                return [Assign(result, self.value(value), place=place_of(node))]
            case ast.For() | ast.While():
                raise Unfit
        return super().statement(node)

    @override
    def target(self, node: ast.expr) -> Target:
        scope = self.scope
        if scope is None:
            return super().target(node)
        if not isinstance(node, ast.Name) or node.id not in scope.own or node.id in scope.given:
            raise Unfit
        name = f"{scope.prefix}{node.id}"
        self.defined.add(name)
        return Name(name, place=place_of(node))

    @override
    def is_count(self, target: ast.expr) -> bool:
        return self.scope is None and super().is_count(target)

    @override
    def given(self, node: ast.expr) -> str:
        if self.scope is not None and not self.is_seen(node):
            raise Unfit
        return super().given(node)

    @override
    def function(self, node: ast.Attribute, count: int) -> int:
        if self.scope is not None and not self.is_seen(node):
            raise Unfit
        return super().function(node, count)

    @override
    def item(self, node: ast.expr) -> Load:
        if self.scope is not None:
            raise Unfit
        return super().item(node)

    @override
    def length(self, node: ast.expr, axis: int) -> Length:
        if self.scope is not None:
            raise Unfit
        return super().length(node, axis)

    def is_seen(self, node: Any) -> bool:
        """Return True if the loop sees the module that a function means."""
        module = self.names.module(node.value)
        return module is not None and self.outermost.module(node.value) is module
