"""IR written as text: regions, and blocks of what sweeps consist of.

    region('''
        w = empty(n)                        an array; or zeros, ints, bools
        with all(i=n): w[i] = x[i] * a      a loop over all elements; for i, j in all(n, m): ...
        for t in range(3): s = s + w[t]
    ''', "x:1 a n:int", "s")

``len(x)`` and ``size(x, 1)`` are lengths.  In blocks there are ``push(e)`` and ``pop()``, and what
is added to a name that begins with ``d_`` is a `Bump`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

import numpy as np

from mooncake_py.compiler.native.regions.kinds import kind_of
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, INT, NativeRegion
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
    Grow,
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

__all__ = ["region", "written"]

OPERATORS: dict[Any, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.USub: "neg", ast.Not: "not", ast.And: "and", ast.Or: "or",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
MAKERS = {"empty": FLOAT, "zeros": FLOAT, "ints": INT, "bools": BOOL}
BUILTINS = ("max", "min", "abs", "int", "float")


def region(text: str, inputs: str, results: str = "") -> NativeRegion:
    """Return a region that is written as text; names bound to ints or bools have their kinds.

    Parameters
    ----------
    inputs : str
        Names, with the number of axes and the kind where it is no float: ``x:2``, ``k:int:1``.
    """
    writer = _Writer({}, None)
    names = [writer.input(part) for part in inputs.split()]
    body = writer.block(ast.parse(dedent(text)).body)
    return NativeRegion(body, tuple(names), writer.kinds, writer.arrays, tuple(results.split()))


def written(
    text: str, kinds: Mapping[str, str] | None = None, functions: Mapping[str, Any] | None = None
) -> Block:
    """Return a block; `kinds` are those of ints and bools, what begins with ``v`` is a `Let`.

    Parameters
    ----------
    functions : mapping, optional
        Those that it calls, besides NumPy's and `math`'s.
    """
    return _Writer(functions or {}, kinds or {}).block(ast.parse(text).body)


class _Writer:
    def __init__(self, functions: Mapping[str, Any], given: Mapping[str, str] | None) -> None:
        self.functions = functions
        self.given = given
        self.kinds: dict[str, str] = dict(given or {})
        self.arrays: dict[str, int] = {}

    def input(self, text: str) -> str:
        name, *rest = text.split(":")
        self.kinds[name] = next((part for part in rest if part.isalpha()), FLOAT)
        for part in rest:
            if part.isdigit():
                self.arrays[name] = int(part)
        return name

    def block(self, body: list[ast.stmt]) -> Block:
        return tuple([self.statement(node) for node in body if not isinstance(node, ast.Pass)])

    def statement(self, node: Any) -> Statement:
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="all"), args=extents)):
                names = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
                return self.for_all(tuple(map(ast.unparse, names)), extents, node.body)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(keywords=keywords))]):
                counters = tuple([str(keyword.arg) for keyword in keywords])
                return self.for_all(counters, [k.value for k in keywords], node.body)
            case ast.For(target=ast.Name(id=name), iter=steps):
                self.kinds[name] = INT
                return For(name, self.of(steps), self.block(node.body))
            case ast.While():
                return While(self.of(node.test), self.block(node.body))
            case ast.If():
                return If(self.of(node.test), self.block(node.body), self.block(node.orelse))
            case ast.Break():
                return Break()
            case ast.Assert(test=test):
                return Check(self.of(test))
            case ast.Expr(ast.Call(func=ast.Name(id="grow"), args=[ast.Name(id=name), least])):
                return Grow(name, self.of(least))
            case ast.Expr(ast.Call(func=ast.Name(id="push"), args=[value])):
                return Push(FLOATS, self.of(value))
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=make), args=args)
            ) if make in MAKERS:
                kind = (self.given or {}).get(name, MAKERS[make])
                self.kinds[name] = kind
                self.arrays[name] = len(args)
                return Alloc(name, tuple(map(self.of, args)), kind, make == "zeros")
            case ast.Assign(targets=[target], value=value):
                return self.assigned(target, self.of(value))
            case ast.AugAssign(target=target, op=op, value=value):
                place, e = self.of(target), self.of(value)
                if ast.unparse(target).startswith("d_"):
                    assert isinstance(place, Name | Load)
                    return Bump(place, e if isinstance(op, ast.Add) else Op("neg", (e,)))
                return self.assigned(target, Op(OPERATORS[type(op)], (place, e)))
        raise TypeError(ast.dump(node))

    def for_all(
        self, counters: tuple[str, ...], extents: list[ast.expr], body: list[ast.stmt]
    ) -> ForAll:
        self.kinds |= dict.fromkeys(counters, INT)
        return ForAll(counters, tuple(map(self.of, extents)), self.block(body))

    def assigned(self, target: Any, value: Expr) -> Statement:
        place = self.of(target)
        assert isinstance(place, Name | Load)
        if isinstance(place, Load):
            return Assign(place, value)
        if self.given is not None:
            if place.name in self.given:
                return Count(place.name, value)
            return Let(place.name, value) if place.name[0] == "v" else Assign(place, value)
        kind = self.kinds.setdefault(place.name, kind_of(value, self.kinds))
        return Assign(place, value) if kind == FLOAT else Count(place.name, value)

    def of(self, node: Any) -> Expr:
        match node:
            case ast.Constant(value=int() | float() | None as value):
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
                ops = tuple([OPERATORS[type(op)] for op in node.ops])
                return Compare(ops, tuple(map(self.of, (node.left, *node.comparators))))
            case ast.IfExp():
                return Select(self.of(node.test), self.of(node.body), self.of(node.orelse))
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                return Length(name, 0)
            case ast.Call(
                func=ast.Name(id="size"), args=[ast.Name(id=name), ast.Constant(value=int(axis))]
            ):
                return Length(name, axis)
            case ast.Call(func=ast.Name(id="pop")):
                return Pop(FLOATS)
            case ast.Call(func=ast.Name(id="range"), args=args):
                bounds = [self.of(a) for a in args]
                first = [Const(0)] if len(bounds) == 1 else []
                return Op("range", tuple([*first, *bounds, Const(1)][:3]))
            case ast.Call(func=ast.Name(id=name), args=args):
                found = tuple(map(self.of, args))
                return Op(name, found) if name in BUILTINS else Call(self.functions[name], found)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), args=args):
                f = getattr({"np": np, "math": math}[module], name)
                return Call(f, tuple(map(self.of, args)))
        raise TypeError(ast.dump(node))
