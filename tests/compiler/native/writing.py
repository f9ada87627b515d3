"""Regions written as text.

    region('''
        w = empty(n)                        an array; or zeros, ints, bools
        with all(i=n): w[i] = x[i] * a      a loop over all elements
        for t in range(3): s = s + w[t]
    ''', "x:1 a n:int", "s")

What is bound to an int or a bool is one; ``len(x)`` and ``size(x, 1)`` are lengths.
"""

from __future__ import annotations

import ast
import math
from textwrap import dedent
from typing import Any

import numpy as np

from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT, NativeRegion
from mooncake_py.compiler.regions.ir import (
    Alloc,
    Assign,
    Block,
    Break,
    Call,
    Check,
    Compare,
    Const,
    Count,
    Expr,
    For,
    ForAll,
    Grow,
    If,
    Length,
    Load,
    Name,
    Op,
    Select,
    Statement,
    While,
)

__all__ = ["region"]

OPERATORS: dict[Any, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.USub: "neg", ast.Not: "not", ast.And: "and", ast.Or: "or",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
MAKERS = {"empty": FLOAT, "zeros": FLOAT, "ints": INT, "bools": BOOL}
BUILTINS = ("max", "min", "abs", "int", "float")


def region(text: str, inputs: str, results: str = "") -> NativeRegion:
    """Return a region that is written as text.

    Parameters
    ----------
    inputs : str
        Names, with the number of axes and the kind where it is no float: ``x:2``, ``k:int:1``.
    """
    writer = _Writer()
    names = [writer.input(part) for part in inputs.split()]
    body = writer.block(ast.parse(dedent(text)).body)
    return NativeRegion(body, tuple(names), writer.kinds, writer.arrays, tuple(results.split()))


class _Writer:
    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self.arrays: dict[str, int] = {}

    def input(self, text: str) -> str:
        name, *rest = text.split(":")
        self.kinds[name] = next((part for part in rest if part.isalpha()), FLOAT)
        for part in rest:
            if part.isdigit():
                self.arrays[name] = int(part)
        return name

    def block(self, body: list[ast.stmt]) -> Block:
        return tuple(self.statement(node) for node in body)

    def statement(self, node: Any) -> Statement:
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args)):
                bounds = [self.of(a) for a in args]
                full = {
                    1: [Const(0), *bounds, Const(1)], 2: [*bounds, Const(1)], 3: bounds,
                }[len(bounds)]  # fmt: skip
                self.kinds[name] = INT
                return For(name, Op("range", tuple(full)), self.block(node.body))
            case ast.With(items=[ast.withitem(context_expr=ast.Call(keywords=keywords))]):
                counters = tuple(str(keyword.arg) for keyword in keywords)
                self.kinds |= dict.fromkeys(counters, INT)
                extents = tuple(self.of(keyword.value) for keyword in keywords)
                return ForAll(counters, extents, self.block(node.body))
            case ast.While():
                return While(self.of(node.test), self.block(node.body))
            case ast.If():
                return If(self.of(node.test), self.block(node.body), self.block(node.orelse))
            case ast.Break():
                return Break()
            case ast.Assert():
                return Check(self.of(node.test))
            case ast.Expr(ast.Call(func=ast.Name(id="grow"), args=[ast.Name(id=name), least])):
                return Grow(name, self.of(least))
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=make), args=args)
            ) if make in MAKERS:
                self.kinds[name] = MAKERS[make]
                self.arrays[name] = len(args)
                return Alloc(name, tuple(map(self.of, args)), MAKERS[make], make == "zeros")
            case ast.Assign(targets=[target], value=value):
                return self.assigned(target, self.of(value))
            case ast.AugAssign(target=target, op=op, value=value):
                old = self.of(target)
                return self.assigned(target, Op(OPERATORS[type(op)], (old, self.of(value))))
            case ast.Pass():
                return Check(Const(True))
        raise TypeError(ast.dump(node))

    def assigned(self, target: Any, value: Expr) -> Statement:
        place = self.of(target)
        assert isinstance(place, Name | Load)
        if isinstance(place, Load):
            return Assign(place, value)
        kind = self.kinds.setdefault(place.name, kind_of(value, self.kinds))
        return Assign(place, value) if kind == FLOAT else Count(place.name, value)

    def of(self, node: Any) -> Expr:
        match node:
            case ast.Constant(value=int() | float() as value):
                return Const(value)
            case ast.Name(id="inf" | "nan" as name):
                return Const(float(name))
            case ast.Name(id=name):
                return Name(name)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=parts)):
                return Load(name, tuple(map(self.of, parts)))
            case ast.Subscript(value=ast.Name(id=name), slice=part):
                return Load(name, (self.of(part),))
            case ast.BinOp():
                return Op(OPERATORS[type(node.op)], (self.of(node.left), self.of(node.right)))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return Const(-value)  # type: ignore[operator]
            case ast.UnaryOp():
                return Op(OPERATORS[type(node.op)], (self.of(node.operand),))
            case ast.BoolOp():
                return Op(OPERATORS[type(node.op)], tuple(map(self.of, node.values)))
            case ast.Compare():
                ops = tuple(OPERATORS[type(op)] for op in node.ops)
                return Compare(ops, tuple(map(self.of, (node.left, *node.comparators))))
            case ast.IfExp():
                return Select(self.of(node.test), self.of(node.body), self.of(node.orelse))
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                return Length(name, 0)
            case ast.Call(
                func=ast.Name(id="size"), args=[ast.Name(id=name), ast.Constant(value=int(axis))]
            ):
                return Length(name, axis)
            case ast.Call(func=ast.Name(id=name), args=args) if name in BUILTINS:
                return Op(name, tuple(map(self.of, args)))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), args=args):
                f = getattr({"np": np, "math": math}[module], name)
                return Call(f, tuple(map(self.of, args)))
        raise TypeError(ast.dump(node))
