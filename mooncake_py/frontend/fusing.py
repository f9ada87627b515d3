"""Rewrite expressions and statements of several operations so that each may be one entry.

``a * b + c`` becomes ``_mk_f0.run(C, (), (a, b, c))``, ``x[i] = a * x[i - 1]`` becomes
``_mk_f0.run(C, (), (a, x, i - 1, i))``.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from mooncake_py.compiler.regions.ir import Op
from mooncake_py.compiler.statements.general import Way, comparing, elsewhere, one_by_one, writing
from mooncake_py.compiler.statements.read import (
    ARITHMETIC,
    StatementReader,
    plain_index,
    read_expression,
)
from mooncake_py.compiler.statements.site import StatementSite
from mooncake_py.compiler.statements.statement import Statement, is_operand
from mooncake_py.frontend.conditions import ConditionRewriter
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import (
    CONTEXT,
    INPLACE,
    PREFIX,
    dotted,
    load,
    located,
    place_of,
)

__all__ = ["FusingRewriter"]


class FusingRewriter(ConditionRewriter):
    """Finds code that can be one entry, and writes the calls that run it.

    Attributes
    ----------
    injected : dict
        Constants that the rewritten code refers to by name.
    fused_count : int
        How many of them run expressions as a whole.
    spans : bool
        Whether what is made is only tried, and may span lines: see `spanning`.
    """

    injected: dict[str, Any]
    fused_count = 0
    spans = False
    peeks = False  # within an index of what is only tried

    def index(self, node: ast.expr) -> ast.expr:
        """Rewrite what stands between brackets."""
        raise NotImplementedError

    def peek(self, node: ast.expr) -> ast.expr:
        """Rewrite an attribute that is read before its turn."""
        raise NotImplementedError

    def operand(self, node: ast.expr) -> ast.expr:
        """Rewrite what is passed to the call that runs a whole statement."""
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Attribute) and not self.names.is_in_module(node):
            return self.peek(node)
        self.peeks = self.spans
        index = self.index(node)
        self.peeks = False
        return index

    @override
    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Fuse ``np.abs(z) < 2.0``, whose operands need no derivative then."""
        calls = [part for part in (node.left, *node.comparators) if isinstance(part, ast.Call)]
        fused = self.fused_comparison(node) if calls and not self.peeks else None
        return super().visit_Compare(node) if fused is None else fused

    def fused_comparison(self, node: ast.Compare) -> ast.expr | None:
        """Fuse a comparison; of numbers, its operands are fused."""
        found = read_expression(node, self.names, self.spans, compares=True)
        if found is None or not found[0].values:
            return None
        reader, value = found
        statement = self.whole(reader, value)
        assert isinstance(value, Op)
        left, right = [self.way_of(statement._replace(value=part)) for part in value.args]
        return self.run_statement(statement, comparing(value.op, left, right), reader, node)

    def fused(self, node: ast.expr) -> ast.expr | None:
        """Fuse an expression of several operations: ``a * b + c``, ``math.sin(x[i])``."""
        found = read_expression(node, self.names, self.spans)
        if found is None or not found[0].values:
            return None
        reader, value = found
        statement = self.whole(reader, value)
        if not is_entry(statement):
            return None
        return self.run_statement(statement, one_by_one(statement), reader, node)

    def can_peek(self, node: ast.expr) -> bool:
        """Return whether an expression is an attribute that a trial may read out of order."""
        return self.spans and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)

    def fused_augmented(
        self, node: ast.AugAssign, old: ast.Name | ast.Attribute
    ) -> ast.expr | None:
        """Fuse ``s += a * b`` with operand s, in place if s is an array."""
        found = read_expression(node.value, self.names, self.spans, is_first=False)
        if found is None or type(node.op) not in ARITHMETIC:
            return None
        reader, value = found
        if not reader.values or not self.whole(reader, value).size:
            return None
        way = self.way_of(self.whole(reader, value))
        position = reader.add_value(old)
        changed = reader.changed(ARITHMETIC[type(node.op)], position, value)
        statement = self.whole(reader, changed, target=position, augments=True)
        general = writing(position, INPLACE[type(node.op)], way)
        return self.run_statement(statement, general, reader, node)

    def fused_store(
        self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, target: Any, value: ast.expr
    ) -> ast.expr | None:
        """Fuse ``x[i] = e`` and ``x[i] op= e`` for elements and slices of the value of a name."""
        augments = isinstance(node, ast.AugAssign)
        if (
            (isinstance(node, ast.AugAssign) and type(node.op) not in ARITHMETIC)
            or not isinstance(target, ast.Subscript)
            or not isinstance(target.value, ast.Name | ast.Attribute)
            or not (isinstance(target.value, ast.Name) or self.can_peek(target.value))
            or (node.lineno != node.end_lineno and not self.spans)
        ):
            return None
        found = read_expression(value, self.names, self.spans, is_first=not augments)
        index = plain_index(target.slice, self.names)
        if found is None or index is None:
            return None
        reader, read = found
        expression = self.whole(reader, read)
        if not augments and not expression.size:
            return None  # nothing to compute: a store like any other
        way = self.way_of(expression)
        place = reader.add_base(target.value), reader.add_index(index)
        method = None
        if isinstance(node, ast.AugAssign):
            read = reader.changed(ARITHMETIC[type(node.op)], place, read)
            method = INPLACE[type(node.op)]
        statement = self.whole(reader, read, target=place, augments=augments)
        return self.run_statement(statement, writing(place, method, way), reader, node)

    def whole(self, reader: StatementReader, value: Any, **rest: Any) -> Statement:
        """Return the statement that was read."""
        certain = frozenset(
            position
            for position in reader.index_positions
            if self._is_certain(reader.values[position])
        )
        return reader.statement(value, certain, **rest)

    def way_of(self, expression: Statement) -> Way:
        """Return the function that computes an expression, whatever the operands are."""
        way = one_by_one(expression)
        return way if not is_entry(expression) else StatementSite(expression, way).start

    def _is_certain(self, index: ast.expr) -> bool:
        """Return whether an index is made of ints, slices, None and the ellipsis for certain.

        A tuple within a tuple is an array of positions to NumPy.
        """
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        return all(map(self._is_certain_part, parts))

    def _is_certain_part(self, part: ast.expr) -> bool:
        """Return whether a part of an index picks elements at most once, for certain."""
        match part:
            case ast.Tuple():
                return False
            case ast.Slice() | ast.Constant(value=None) | ast.Constant(value=builtins.Ellipsis):
                return True
        return self.statics.holds(part)

    def run_statement(
        self, statement: Statement, otherwise: Way, reader: StatementReader, node: ast.AST
    ) -> ast.expr:
        """Inject the compiled statement, and return the call that runs it on its values."""
        place = place_of(node)
        name = f"{PREFIX}f{self.fused_count}"
        self.fused_count += 1
        texts = tuple(map(text_of_value, reader.values))
        way = elsewhere if self.spans else otherwise
        self.injected[name] = StatementSite(statement, way, texts)
        run = located(ast.Attribute(load(name, place), "run", ast.Load()), place)
        values = list(map(self.operand, reader.values))
        args: list[ast.expr] = [
            load(CONTEXT, place),
            located(ast.Tuple(reader.functions, ast.Load()), place),
            located(ast.Tuple(values, ast.Load()), place),
        ]
        return located(ast.Call(run, args, []), place)


def is_entry(expression: Statement) -> bool:
    """Return True if it pays to run an expression as a whole; what is only read is a view."""
    return expression.size > 1 and not is_operand(expression.value)


def text_of_value(node: ast.expr) -> str:
    """Return how a value is called in messages: no more of an index than that it is one."""
    return dotted(node) if isinstance(node, ast.Name | ast.Attribute) else "an index"
