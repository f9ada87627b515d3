"""Read calls of functions on whole arrays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.compiler.reading.expressions import Unfit
from mooncake_py.compiler.regions.ir import Load, Name, Sliced
from mooncake_py.compiler.slices.calls.arguments import (
    Arguments,
    Hole,
    Literal,
    Part,
    Several,
    called_with,
)
from mooncake_py.compiler.slices.calls.operations import is_served, made, rule_of
from mooncake_py.compiler.statements.contractions import PRODUCTS
from mooncake_py.compiler.statements.reductions import REDUCTIONS
from mooncake_py.compiler.statements.statement import Statement
from mooncake_py.compiler.statements.views import VIEWS
from mooncake_py.overriding import override
from mooncake_py.runtime.values import is_of_math
from mooncake_py.syntax.nodes import Rebuilder, place_of, replaced

if TYPE_CHECKING:
    from mooncake_py.compiler.slices.read import SlicedLoopReader

__all__ = ["NamedCalls", "call_of_arrays", "is_of_arrays", "with_named_calls"]

WITHIN = (*PRODUCTS, *REDUCTIONS, *VIEWS, np.where)
"""Functions that are operations of statements themselves."""


def is_of_arrays(f: Any, count: int) -> bool:
    """Return True if a call of a function with so many arguments is one on whole arrays."""
    if any(f is known for known in WITHIN):
        return count == 1 and (f is np.max or f is np.min)
    return not is_of_math(f) and is_served(f)


class CallOfArrays:
    """Reads one call.

    Attributes
    ----------
    values : list
        What it is given: names, and tuples for indices.
    layout : list of int or (int, int)
        Where each operand is.
    """

    def __init__(self, loop: SlicedLoopReader) -> None:
        self.loop = loop
        self.values: list[Any] = []
        self.layout: list[Any] = []

    def read(self, node: ast.Call) -> Arguments:
        """Return how the operands stand in the call."""
        positional = tuple(map(self.part, node.args))
        named = tuple([(name_of(k), self.part(k.value)) for k in node.keywords])
        return Arguments(positional, named)

    def statement(self, function: Any, arguments: Arguments) -> Statement:
        """Return the statement of the call."""
        indices = frozenset(k for k, v in enumerate(self.values) if type(v) is tuple)
        value = called_with(function, len(self.layout), arguments)
        return Statement(value, tuple(self.layout), len(self.values), certain=indices)

    def part(self, node: ast.expr) -> Part:
        """Read an argument, or a part of one."""
        match node:
            case ast.Constant(value=value) if isinstance(value, bool | int | float | str | None):
                return Literal(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(n) | float(n))):
                return Literal(-n)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return Several(tuple(map(self.part, parts)), isinstance(node, ast.List))
            case ast.Subscript() if self.loop.frame is None and has_slice(node.slice):
                return self.hole((self.loop.base(node.value).name, self.loop.index_of(node.slice)))
            case ast.Starred():
                raise Unfit
        return self.hole(self.loop.operand_of_call(node))

    def hole(self, e: Any) -> Hole:
        """Pass an operand, an equal one once."""
        match e:
            case Name():
                part: Any = self.position(e)
            case Load(array=array, index=index):
                part = self.position(Name(array)), self.position(index)
            case (array, index):
                part = self.position(Name(array)), self.position(index)
            case _:
                raise Unfit
        if part not in self.layout:
            self.layout.append(part)
        return Hole(self.layout.index(part))

    def position(self, value: Any) -> int:
        """Pass a value, once."""
        if value not in self.values:
            self.values.append(value)
        return self.values.index(value)


def has_slice(index: ast.expr) -> bool:
    """Return True for an index of which a part is a slice."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(part, ast.Slice) for part in parts)


def may_view(f: Any) -> bool:
    """Return True if the value of a function may be memory of an operand."""
    found = rule_of(f)
    operation = None if found is None else made(*found)
    return operation is None or not operation.is_new


def name_of(keyword: ast.keyword) -> str:
    """Return the name of an argument; those that change what is computed where are not read."""
    if keyword.arg is None or keyword.arg in ("out", "where", "dtype"):
        raise Unfit
    return keyword.arg


def call_of_arrays(loop: SlicedLoopReader, node: ast.Call, target: ast.Name) -> Sliced:
    """Read ``name = f(x, ...)``."""
    assert isinstance(node.func, ast.Attribute)
    if loop.is_count(target):
        raise Unfit
    reader = CallOfArrays(loop)
    arguments = reader.read(node)
    if loop.frame is None:
        module = loop.names.module(node.func.value)
        f = None if module is None else module.__dict__.get(node.func.attr)
        function: Any = loop.passed(node.func)
    else:
        f = function = loop.of_module(node.func)
    statement = reader.statement(function, arguments._replace(may_view=may_view(f)))
    bound = loop.bound_name(target)
    return Sliced(statement, tuple(reader.values), bound, None, place=place_of(node))


def with_named_calls(loop: SlicedLoopReader, node: Any) -> Any:
    """Return an assignment with names in the place of such calls, bound before it.

    But for what is such a call itself and binds a name.
    """
    if node.value is None:
        return node
    targets = node.targets if isinstance(node, ast.Assign) else [None]
    is_bound = len(targets) == 1 and isinstance(targets[0], ast.Name)
    if is_bound and loop.is_call_of_arrays(node.value):
        return node
    value = NamedCalls(loop).visit(node.value)
    return node if value is node.value else replaced(node, value=value)


class NamedCalls(Rebuilder):
    """Puts names in the place of calls of functions on whole arrays, which are bound first."""

    def __init__(self, loop: SlicedLoopReader) -> None:
        self.loop = loop

    @override
    def visit(self, node: Any) -> Any:
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda):
            return node  # what is computed in some cases only
        if self.loop.is_call_of_arrays(node):
            name = self.loop.own_factor(node)
            self.loop.before.append(call_of_arrays(self.loop, node, name))
            return name
        return super().visit(node)
