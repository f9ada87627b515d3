"""Rewrite comparisons, truth tests and boolean expressions: see `rewrite` for the grammar.

An operand may be an instance of a class with special methods in Python, which must be derived.
Only operands that are certainly numbers or booleans remain native.
"""

from __future__ import annotations

import ast

from mooncake_py.compiler.regions.comparisons import ORDERINGS
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import (
    Place,
    Rebuilder,
    constant,
    context_attribute,
    context_call,
    located,
    place_of,
    replaced,
)
from mooncake_py.syntax.static_integers import StaticInts

__all__ = ["COMPARE", "ConditionRewriter"]

COMPARE = ORDERINGS | {
    ast.In: "contained", ast.NotIn: "not_contained", ast.Is: "identical",
    ast.IsNot: "not_identical",
}  # fmt: skip
_IDENTITY = (ast.Is, ast.IsNot)
ANSWERING = (*_IDENTITY, ast.In, ast.NotIn)
"""Comparisons that answer with True or False, whatever their operands are."""
_BOOLEAN_BUILTINS = ("isinstance", "issubclass", "hasattr", "callable", "any", "all", "bool", "len")


class ConditionRewriter(Rebuilder):
    """Expressions whose truth is asked for."""

    names: Names
    statics: StaticInts

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Rewrite ``a < b`` to ``C.lt(a, b)``, ``a < b < c`` to ``C.lt(a, b) and C.lt(b, c)``.

        In the latter an object that the first comparison returns is asked by ``C.choose``.
        """
        links = self._links(node)
        if links is None:
            return self.rebuild(node)
        last = links[-1][0]
        for link, answers in links[-2::-1]:
            last = self._joined(ast.And(), link, last, answers, place_of(node))
        return last

    def _links(self, node: ast.Compare) -> list[tuple[ast.expr, bool]] | None:
        """Return the comparisons of a chain, and whether each answers; None if Python does it."""
        operands = [node.left, *node.comparators]
        pairs = list(zip(node.ops, operands, operands[1:], strict=False))
        if all(self._is_of_constant(*pair) for pair in pairs) or all(map(self._native, operands)):
            return None
        place = place_of(node)
        links: list[tuple[ast.expr, bool]] = []
        left: ast.expr = self.visit(node.left)
        for op, first, operand in pairs:
            right = self.visit(operand)
            name = COMPARE[type(op)]
            answers = isinstance(op, ANSWERING)
            if operand is node.comparators[-1] or isinstance(operand, ast.Constant | ast.Name):
                if self._is_of_constant(op, first, operand):
                    link: ast.expr = located(ast.Compare(left, [op], [right]), place)
                else:
                    link = context_call(name, [left, right], place)
                left = right
            else:
                link = context_call("link", [constant(name, place), left, right], place)
                left = context_attribute("linked", place)
            links.append((link, answers))
        return links

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Rewrite ``a or b`` to ``C.chosen if C.choose(a) else b``."""
        last = self.visit(node.values[-1])
        for operand in reversed(node.values[:-1]):
            value, answers = self.visit(operand), self._is_boolean(operand)
            last = self._joined(node.op, value, last, answers, place_of(node), place_of(operand))
        return last

    def _joined(
        self,
        op: ast.boolop,
        value: ast.expr,
        rest: ast.expr,
        is_boolean: bool,
        place: Place,
        place_of_value: Place | None = None,
    ) -> ast.expr:
        """Return ``value and rest`` or ``value or rest``, of operands that are rewritten."""
        if is_boolean:
            return located(ast.BoolOp(op, [value, rest]), place)
        where = place_of_value or place
        chosen = context_attribute("chosen", where)
        branches = (rest, chosen) if isinstance(op, ast.And) else (chosen, rest)
        return located(ast.IfExp(context_call("choose", [value], where), *branches), place)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Rewrite ``b if a else c``, whose test asks for a truth."""
        return replaced(
            node,
            test=self.test(node.test),
            body=self.visit(node.body),
            orelse=self.visit(node.orelse),
        )

    def test(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression of which only the truth counts: ``a`` to ``C.truth(a)``."""
        if isinstance(node, ast.BoolOp):
            return replaced(node, values=[self.test(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return replaced(node, operand=self.test(node.operand))
        place = place_of(node)
        links = self._links(node) if isinstance(node, ast.Compare) else None
        if links is not None:
            tests = [x if answers else context_call("truth", [x], place) for x, answers in links]
            return tests[0] if len(tests) == 1 else located(ast.BoolOp(ast.And(), tests), place)
        new = self.visit(node)
        return new if self._is_boolean(node) else context_call("truth", [new], place)

    def key(self, node: ast.expr) -> ast.expr:
        """Rewrite what becomes a key or an element of a set: ``k`` to ``C.key(k)``."""
        new = self.visit(node)
        plain = isinstance(node, ast.JoinedStr) or self._native(node)
        return new if plain else context_call("key", [new], place_of(node))

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        """Rewrite keys and values in the order of their evaluation."""
        keys = [None if key is None else self.key(key) for key in node.keys]
        values = [
            context_call("mapping", [self.visit(value)], place_of(value))
            if key is None
            else self.visit(value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return replaced(node, keys=keys, values=values)

    def visit_Set(self, node: ast.Set) -> ast.expr:
        """Rewrite the elements."""
        elements = [
            self._all_of(item) if isinstance(item, ast.Starred) else self.key(item)
            for item in node.elts
        ]
        return replaced(node, elts=elements)

    def _all_of(self, node: ast.Starred) -> ast.expr:
        """Rewrite ``*x`` in a set, for which Python asks no length."""
        value = context_call("iter", [self.visit(node.value)], place_of(node.value))
        return replaced(node, value=value)

    def _native(self, node: ast.expr) -> bool:
        """Return whether Python's own comparison and truth are right for certain."""
        return isinstance(node, ast.Constant) or self.statics.holds(node)

    def _is_of_constant(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
        """Return whether it is asked if something is None or another constant.

        Other objects may be copies of arguments, which stand for these.
        """
        return isinstance(op, _IDENTITY) and (self._native(left) or self._native(right))

    def _is_boolean(self, node: ast.expr) -> bool:
        """Return whether the truth of an expression can be left to Python."""
        if isinstance(node, ast.Compare):
            return all(isinstance(op, ANSWERING) for op in node.ops) or all(
                map(self._native, (node.left, *node.comparators))
            )
        if self._native(node):
            return True
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not)
        return isinstance(node, ast.Call) and any(
            self.names.calls_builtin(node, name) for name in _BOOLEAN_BUILTINS
        )
