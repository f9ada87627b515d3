"""Printed expressions mean what they are printed from, with few parentheses."""

from __future__ import annotations

import ast
from random import Random

import pytest

from mooncake_py.compiler.printing.emit_scalar import LEVELS, Emitter
from mooncake_py.compiler.regions.ir import Const, Expr, Name, Op
from mooncake_py.compiler.statements.array_text import ArrayText

NODES = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow",
}  # fmt: skip


def expression(random: Random, depth: int) -> Expr:
    if depth == 0 or random.random() < 0.2:
        return random.choice((Name("a"), Name("b"), Const(2.0)))
    if random.random() < 0.2:
        return Op("neg", (expression(random, depth - 1),))
    parts = expression(random, depth - 1), expression(random, depth - 1)
    return Op(random.choice(tuple(LEVELS)), parts)


def parsed(node: ast.expr) -> Expr:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return Op(NODES[type(op)], (parsed(left), parsed(right)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Op("neg", (parsed(operand),))
        case ast.Name(id=name):
            return Name(name)
        case ast.Constant(value=float(value)):
            return Const(value)
    raise TypeError(node)


@pytest.mark.parametrize("emitter", [Emitter(), ArrayText({})])
def test_printed_expressions_are_parsed_as_they_were(emitter):
    for seed in range(300):
        e = expression(Random(seed), 4)
        assert parsed(ast.parse(emitter.text(e), mode="eval").body) == e


def test_parentheses_are_left_out_where_operators_bind_more_closely():
    a, b, c = Name("a"), Name("b"), Name("c")
    text = Emitter().text
    assert text(Op("add", (Op("mul", (a, b)), Op("pow", (c, Const(2)))))) == "a * b + c ** 2"
    assert text(Op("sub", (Op("sub", (a, b)), c))) == "a - b - c"
    assert text(Op("sub", (a, Op("sub", (b, c))))) == "a - (b - c)"
    assert text(Op("truediv", (Op("mul", (a, b)), c))) == "a * b / c"
    assert text(Op("mul", (a, Op("truediv", (b, c))))) == "a * (b / c)"
