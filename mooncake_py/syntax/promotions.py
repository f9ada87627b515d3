"""Narrow ints and bools in jitted functions, with which Numba computes in 64 bits.

NumPy's scalars keep their types: ``np.uint8(200) + np.uint8(100)`` wraps around, and the sum of two
``np.bool_`` is one.  So operators whose operands may be such scalars, or arrays of them, become
calls of functions that compute what compiled code does:

    s += b[i] * ((a[i] > 0) + 2)              s += machine_mul(b[i], machine_add(a[i] > 0, 2))
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.syntax.narrow_values import NarrowValues
from mooncake_py.syntax.nodes import (
    BINARY,
    UNARY,
    Place,
    Rebuilder,
    assign,
    load,
    located,
    place_of,
    replaced,
    store,
)

__all__ = ["MODULE", "PREFIX", "promoted"]

MODULE = "mooncake_py.language.promotion"
PREFIX = "machine_"
UNCHANGED = (ast.Div, ast.MatMult)
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)
CONVERSIONS = ("int", "sum")


def promoted(node: ast.FunctionDef, values: NarrowValues) -> ast.FunctionDef:
    """Return a function whose ints are promoted as compiled code does it; itself if none are.

    Parameters
    ----------
    node : FunctionDef
        Not changed.
    values : NarrowValues
        What its expressions may be.
    """
    pass_ = Promotions(values)
    body = pass_.visit_all(node.body)
    if not pass_.used:
        return node
    place = place_of(node.body[0])
    start = Place(place.line, place.column, place.line, place.column)
    names = [located(ast.alias(PREFIX + name), start) for name in sorted(pass_.used)]
    imported = located(ast.ImportFrom(MODULE, names, 0), start)
    return replaced(node, body=[imported, *body])


class Promotions(Rebuilder):
    """Replace operators."""

    def __init__(self, values: NarrowValues) -> None:
        self.values = values
        self.used: set[str] = set()
        self.is_part = False  # of an operation

    def called(self, name: str, args: list[ast.expr], place: Place) -> ast.Call:
        """Return a call of one of the functions that compute as compiled code does."""
        self.used.add(name)
        return located(ast.Call(load(PREFIX + name, place), args, []), place)

    def visit_parts(self, nodes: list[ast.expr]) -> list[ast.expr]:
        """Visit the operands of an operation, which compiled code computes in one loop with it."""
        outer, self.is_part = self.is_part, True
        new = self.visit_all(nodes)
        self.is_part = outer
        return new

    def visit(self, node: Any) -> Any:
        """Visit a node; what stands in another one than an operation is computed for itself."""
        outer = self.is_part
        if not isinstance(node, OPERATIONS):
            self.is_part = False
        new = super().visit(node)
        self.is_part = outer
        return new

    def is_promoted(self, e: ast.BinOp) -> bool:
        """Return True for an operation that NumPy may compute in fewer bits than compiled code."""
        sides = e.left, e.right
        if isinstance(e.op, UNCHANGED) or not any(map(self.values.may_be, sides)):
            return False
        return not any(map(self.values.is_float, sides))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Replace a binary operator."""
        name = BINARY[type(node.op)].rstrip("_")
        left, right = args = self.visit_parts([node.left, node.right])
        if self.is_promoted(node):
            return self.called("inner_" + name if self.is_part else name, args, place_of(node))
        same = left is node.left and right is node.right
        return node if same else replaced(node, left=left, right=right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """Replace an operator on what may be a truth."""
        if isinstance(node.op, ast.Not) or not self.values.may_be_truth(node.operand):
            (operand,) = self.visit_parts([node.operand])
            return node if operand is node.operand else replaced(node, operand=operand)
        name, place = UNARY[type(node.op)], place_of(node)
        (visited,) = self.visit_parts([node.operand])
        operand = self.widened(node.operand, visited)
        if operand is visited and self.values.is_one_of_several(node.operand):
            name = "joined_" + name
        return self.called(name, [operand], place)

    def widened(self, e: ast.expr, visited: ast.expr) -> ast.expr:
        """Return the visited expression, as an int of 64 bits where compiled code makes it one."""
        if not self.values.is_widened(e):
            return visited
        return self.called("wide", [visited], place_of(e))

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Visit what is compared."""
        parts = [node.left, *node.comparators]
        new = self.visit_parts(parts)
        if new is parts:
            return node
        left, *others = new
        return replaced(node, left=left, comparators=others)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Replace an operation on a name; what stands in an array keeps the type that it has."""
        if not isinstance(node.target, ast.Name):
            return self.rebuild(node)
        place = place_of(node)
        whole = located(ast.BinOp(load(node.target.id, place), node.op, node.value), place)
        if not self.is_promoted(whole):
            return self.rebuild(node)
        args = [whole.left, *self.visit_parts([node.value])]
        value = self.called("i" + BINARY[type(node.op)].rstrip("_"), args, place)
        return assign(store(node.target.id, place_of(node.target)), value, place)

    def visit_Call(self, node: ast.Call) -> Any:
        """Replace ``int``, ``sum`` and universal functions of such values."""
        is_ufunc = self.values.ufunc(node.func) is not None
        self.is_part = is_ufunc
        new = self.rebuild(node)
        if node.keywords:
            return new
        if is_ufunc and any(map(self.values.may_be_truth, node.args)):
            args = [self.widened(e, a) for e, a in zip(node.args, new.args, strict=True)]
            return self.called("ufunc", [new.func, *args], place_of(node))
        if not any(map(self.values.may_be, node.args)):
            return new
        name = self.values.names.builtin(node.func)
        if name in CONVERSIONS and len(node.args) == 1:
            return self.called(name, new.args, place_of(node))
        return new
