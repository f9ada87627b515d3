"""Calls that write into an array by ``out=``, as statements: recorded as one entry.

What is written is tried, as in `spanning`::

    np.add(a, b * c, out=y)      if _mk_f0.run(C, (np.add,), (a, b, c, y)) is _mk_else:
                                     C.call(np.add, a, C.mul(b, c), out=y)
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from mooncake_py.forms.fusion import Fused, Parts, collect, is_plain_index, swapped
from mooncake_py.frontend.fusing import elsewhere, expression
from mooncake_py.frontend.spanning import SpanningRewriter
from mooncake_py.syntax.nodes import place_of, replaced

__all__ = ["OutputRewriter"]


class OutputRewriter(SpanningRewriter):
    """Statements that are calls with ``out=``, tried as a whole."""

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Leave what is no such call as it is."""
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
        parts = collect(replaced(call, keywords=[]), self.names, self.spans)
        if parts is None or parts.steps[-1][0] != "call" or not self._calls_ufunc(call):
            return None
        texts = list(map(ast.dump, call.args))
        own = texts.index(ast.dump(target)) if ast.dump(target) in texts else None
        steps = tuple(parts.steps)
        if own is not None:
            _, first = steps[-1][2 + own]
            steps = swapped(steps, first)
            parts.layout[0], parts.layout[first] = parts.layout[first], parts.layout[0]
            place = parts.layout[0]
        else:
            place = self._place(target, parts)
        if place is None:
            return None
        core = Fused(steps, len(parts.layout))
        elements = self._elements(
            core, parts, place, own is not None, elsewhere, expression(parts), into=True
        )
        return self._run_fused(elements, parts, call)

    def _calls_ufunc(self, call: ast.Call) -> bool:
        function: Any = call.func
        module = self.names.module(function.value)
        return module is not None and type(module.__dict__.get(function.attr)) is np.ufunc

    def _place(self, target: Any, parts: Parts) -> Any:
        """Pass what is written; return its position, or those of the array and the index."""
        base: Any = target.value if isinstance(target, ast.Subscript) else target
        if not (isinstance(base, ast.Name) or self.can_peek(base)):
            return None
        if base is target:
            return parts.add_value(base)
        if not is_plain_index(target.slice):
            return None
        return parts.add_base(base), parts.add_index(target.slice)
