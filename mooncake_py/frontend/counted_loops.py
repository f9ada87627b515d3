"""Loops whose steps are counted, in functions that are rewritten for a derivative that is watched.

Grammar, of the outermost loops of rewritten code, ``M`` being the meter of the context::

    for t in e: ...         for t in M.steps_of(e): ...
    while a: ...            try:
                                M.enter_while()
                                while a:
                                    M.turn()
                                    ...
                            finally:
                                M.leave_while()

Everything else stays as it is; nested functions are rewritten by themselves when they are called.
"""

from __future__ import annotations

import ast
from typing import Any

from mooncake_py.syntax.compiled import FunctionNode
from mooncake_py.syntax.nodes import (
    Place,
    Rebuilder,
    context_attribute,
    located,
    place_of,
    replaced,
    statement,
)

__all__ = ["with_counted_loops"]


def with_counted_loops(node: FunctionNode) -> FunctionNode:
    """Return a rewritten function in which the steps of outermost loops are counted."""
    if isinstance(node, ast.Lambda):
        return node
    return replaced(node, body=CountedLoops().visit_all(node.body))


class CountedLoops(Rebuilder):
    """Counts the steps of loops, and leaves what is within them and nested functions alone."""

    def visit_For(self, node: ast.For) -> ast.For:
        return replaced(node, iter=call("steps_of", [node.iter], place_of(node.iter)))

    def visit_While(self, node: ast.While) -> ast.Try:
        place = place_of(node)

        def tell(method: str) -> ast.stmt:
            return statement(call(method, [], place), place)

        loop = replaced(node, body=[tell("turn"), *node.body])
        return located(ast.Try([tell("enter_while"), loop], [], [], [tell("leave_while")]), place)

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef


def call(method: str, args: list[ast.expr], place: Place) -> ast.Call:
    """Return a call of a method of the meter."""
    function = ast.Attribute(context_attribute("meter", place), method, ast.Load())
    return located(ast.Call(located(function, place), args, []), place)
