"""IR from text, for tests.

y = new(n, m)              Alloc; zeros(n) for one of zeros
for i, j in all(n, m):     ForAll
push(e)                    Push;  s = pop() for what takes it back
check(e)                   Check
len(x, 0)                  Length
d_x[i] += e                Bump, for names that begin so
k = e                      Count, for names of ints and bools
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.ir import (
    FLOATS,
    Alloc,
    Assign,
    Block,
    Break,
    Bump,
    Call,
    Check,
    Compare,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    If,
    Length,
    Let,
    Load,
    Name,
    Op,
    Pop,
    Push,
    Select,
    Statement,
    While,
)

OPS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.USub: "neg", ast.Not: "not", ast.And: "and", ast.Or: "or",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
BUILTINS = ("abs", "float", "int", "max", "min", "range")


def written(
    text: str, kinds: Mapping[str, str] | None = None, functions: Mapping[str, Any] | None = None
) -> Block:
    """Return a block; `functions` are those that it calls, besides NumPy's and `math`'s."""
    return Writer(kinds or {}, functions or {}).block(ast.parse(text).body)


class Writer:
    def __init__(self, kinds: Mapping[str, str], functions: Mapping[str, Any]) -> None:
        self.kinds = kinds
        self.functions = functions

    def block(self, nodes: list[ast.stmt]) -> Block:
        return tuple([self.statement(node) for node in nodes if not isinstance(node, ast.Pass)])

    def statement(self, node: ast.stmt) -> Statement:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="new" | "zeros" as how), args=args),
            ):
                shape = tuple(map(self.expr, args))
                return Alloc(name, shape, self.kinds.get(name, "float"), how == "zeros")
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self.kinds:
                return Count(name, self.expr(value))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name[0] == "v":
                return Let(name, self.expr(value))
            case ast.Assign(targets=[target], value=value):
                return Assign(self.target(target), self.expr(value))
            case ast.AugAssign(target=target, op=op, value=value):
                slot, e = self.target(target), self.expr(value)
                if ast.unparse(target).startswith("d_"):
                    return Bump(slot, e if isinstance(op, ast.Add) else Op("neg", (e,)))
                e = Op(OPS[type(op)], (slot, e))
                if isinstance(slot, Name) and slot.name in self.kinds:
                    return Count(slot.name, e)
                return Assign(slot, e)
            case ast.Expr(value=ast.Call(func=ast.Name(id="push"), args=[value])):
                return Push(FLOATS, self.expr(value))
            case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[value])):
                return Check(self.expr(value))
            case ast.For(iter=ast.Call(func=ast.Name(id="all"), args=args)):
                names = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
                counters = tuple([ast.unparse(name) for name in names])
                return ForAll(counters, tuple(map(self.expr, args)), self.block(node.body))
            case ast.For(target=ast.Name(id=name), iter=steps):
                return For(name, self.expr(steps), self.block(node.body))
            case ast.While(test=test):
                return While(self.expr(test), self.block(node.body))
            case ast.If(test=test):
                return If(self.expr(test), self.block(node.body), self.block(node.orelse))
            case ast.Break():
                return Break()
        raise TypeError(ast.unparse(node))

    def target(self, node: ast.expr) -> Name | Load:
        found = self.expr(node)
        assert isinstance(found, Name | Load)
        return found

    def expr(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant(value=float() | int() | None as value):
                return Const(value)
            case ast.Name(id=name):
                return Name(name)
            case ast.Subscript(value=ast.Name(id=array), slice=index):
                parts = index.elts if isinstance(index, ast.Tuple) else [index]
                return Load(array, tuple(map(self.expr, parts)))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float() | int() as value)):
                return Const(-value)
            case ast.UnaryOp(op=op, operand=operand):
                return Op(OPS[type(op)], (self.expr(operand),))
            case ast.BinOp(left=left, op=op, right=right):
                return Op(OPS[type(op)], (self.expr(left), self.expr(right)))
            case ast.BoolOp(op=op, values=values):
                return Op(OPS[type(op)], tuple(map(self.expr, values)))
            case ast.Compare(left=left, ops=ops, comparators=others):
                names = tuple([OPS[type(op)] for op in ops])
                return Compare(names, tuple(map(self.expr, (left, *others))))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Select(self.expr(test), self.expr(body), self.expr(orelse))
            case ast.Call(
                func=ast.Name(id="len"), args=[ast.Name(id=a), ast.Constant(value=int() as k)]
            ):
                return Length(a, k)
            case ast.Call(func=ast.Name(id="pop")):
                return Pop(FLOATS)
            case ast.Call(func=ast.Name(id=name), args=args):
                found = tuple(map(self.expr, args))
                if name in BUILTINS:
                    return Op(name, self.full(found) if name == "range" else found)
                return Call(self.functions[name], found)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), args=args):
                f = getattr({"np": np, "math": math}[module], name)
                return Call(f, tuple(map(self.expr, args)))
        raise TypeError(ast.unparse(node))

    def full(self, bounds: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Return the bounds of a range, all three."""
        return (Const(0), *bounds, Const(1)) if len(bounds) == 1 else (*bounds, Const(1))[:3]
