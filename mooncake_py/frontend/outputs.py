"""Calls that write into an array by ``out=``, as statements: recorded as one entry.

The rewritten code tries the call, as in `spanning`::

    np.add(a, b * c, out=y)      if _mk_f0.run(C, (np.add,), (a, b, c, y)) is _mk_else:
                                     C.call(np.add, a, C.mul(b, c), out=y)
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.ir import Call, Name, substituted
from mooncake_py.compiler.statements.general import elsewhere
from mooncake_py.compiler.statements.read import StatementReader, plain_index, read_expression
from mooncake_py.compiler.statements.statement import Place, View, operand, position_of
from mooncake_py.frontend.spanning import SpanningRewriter
from mooncake_py.syntax.nodes import place_of, replaced

__all__ = ["OutputRewriter"]


class OutputRewriter(SpanningRewriter):
    """Statements that are calls with ``out=``, tried as a whole."""

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Leave anything other than such a call unchanged."""
        plain = self.rebuild(node)
        match node.value:
            case ast.Call(keywords=[ast.keyword(arg="out", value=target)]) as call:
                pass
            case _:
                return plain
        self.spans = True
        run = self._output(call, target)
        self.spans = False
        return plain if run is None else self.unless_served(run, [plain], [], place_of(node))

    def _output(self, call: ast.Call, target: ast.expr) -> ast.expr | None:
        """Return the call that tries such a statement, or None if it cannot be one entry."""
        found = read_expression(replaced(call, keywords=[]), self.names, self.spans)
        if found is None or not self._calls_ufunc(call):
            return None
        reader, value = found
        if not isinstance(value, Call) or reader.of_numbers:
            return None
        texts = list(map(ast.dump, call.args))
        own = texts.index(ast.dump(target)) if ast.dump(target) in texts else None
        place: Place | None
        if own is not None:
            first = position_of(value.args[own])
            value = substituted(value, {"v0": operand(first), f"v{first}": Name("v0")})
            layout = reader.layout
            layout[0], layout[first] = layout[first], layout[0]
            place = None if isinstance(layout[0], View) else layout[0]
        else:
            place = self._place(target, reader)
        if place is None:
            return None
        statement = self.whole(reader, value, target=place, augments=own is not None, into=True)
        return self.run_statement(statement, elsewhere, reader, call)

    def _calls_ufunc(self, call: ast.Call) -> bool:
        function: Any = call.func
        module = self.names.module(function.value)
        return module is not None and type(module.__dict__.get(function.attr)) is np.ufunc

    def _place(self, target: Any, reader: StatementReader) -> Place | None:
        """Pass what is written; return its position, or those of the array and the index."""
        base: Any = target.value if isinstance(target, ast.Subscript) else target
        if not (isinstance(base, ast.Name) or self.can_peek(base)):
            return None
        if base is target:
            return reader.add_value(base)
        index = plain_index(target.slice, self.names)
        return None if index is None else (reader.add_base(base), reader.add_index(index))
